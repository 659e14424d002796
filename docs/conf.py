"""Settings of the site. What needs logic stands in ``_ext``, one job a file."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

# The two addresses of the project. A fork sets the environment variables instead.
SITE_URL = os.environ.get("SITE_URL", "https://attnlib.github.io/queries-keys-values/")
REPOSITORY_URL = os.environ.get("REPOSITORY_URL", "https://github.com/attnlib/queries-keys-values")

project = "Queries, Keys, and Values"
author = "The authors of Queries, Keys, and Values"
copyright = "The authors; text CC BY-SA 4.0, code MIT"
release = installed_version("attnlib")
version = release
language = "en"
html_baseurl = SITE_URL

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "sphinx_sitemap",
    "sphinxext.opengraph",
    "notfound.extension",
]

exclude_patterns = ["_*", "gallery/**.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True

# MyST
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
nb_execution_mode = "off"

# Numbers: sections from the home page's numbered table of contents.
numfig = True
math_numfig = True
numfig_secnum_depth = 1
math_eqref_format = "({number})"
numfig_format = {"figure": "Fig. %s", "table": "Table %s", "code-block": "Listing %s"}

# Citations
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"

# Theme
html_theme = "pydata_sphinx_theme"
html_title = project
