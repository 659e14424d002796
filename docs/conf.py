"""Settings of the site. What needs logic stands in ``_ext``, one job a file."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from fingerprint import cache_path, gallery_is_stale  # noqa: E402  (found through the line above)

# The two addresses of the project. A fork sets the environment variables instead.
SITE_URL = os.environ.get("SITE_URL", "https://attnlib.github.io/queries-keys-values/")
REPOSITORY_URL = os.environ.get("REPOSITORY_URL", "https://github.com/attnlib/queries-keys-values")

project = "Queries, Keys, and Values"
author = "The authors of Queries, Keys, and Values"
release = version = installed_version("attnlib")
language = "en"
wheel_address = f"{SITE_URL}wheels/attnlib-{release}-py3-none-any.whl"
rst_prolog = f".. |wheel| replace:: {wheel_address}"

extensions = [
    "myst_nb",
    "sphinx_gallery.gen_gallery",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "sphinx_last_updated_by_git",
    "sphinx_sitemap",
    "sphinxext.opengraph",
    "notfound.extension",
    # Ours
    "backlinks",
    "check_answer",
    "citations",
    "dark_figures",
    "descriptions",
    "fingerprint",
    "folds",
    "fonts",
    "framework_tabs",
    "gallery_cards",
    "katex",
    "live_figures",
    "numbering",
    "offline",
    "previews",
    "twins",
    "wheel",
]

exclude_patterns = ["_*", "gallery/**.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]

# Warnings are errors in a strict build; these two are not about the sources.
nitpicky = True
suppress_warnings = [
    "git.subprocess_error",  # sources without a history (an archive) build too, and show no dates
    "git.too_shallow",  # a clone of the last commit alone does not know when a page changed
]

# Pages: MyST notebooks
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
framework_tabs_attnlib = f"attnlib @ {wheel_address}"  # what a downloaded notebook installs
nb_execution_mode = "cache"
nb_execution_cache_path = cache_path()
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = False  # framework_tabs reports a failing cell at its line
nb_merge_streams = True
nb_output_stderr = "warn"

# Numbers: the sections count from the numbered table of contents of the home page.
numfig = True
math_numfig = True
numfig_secnum_depth = 1
numfig_format = {"figure": "Fig. %s", "table": "Table %s", "code-block": "Listing %s"}

# Mathematics and citations
html_math_renderer = "katex"
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "by_author"
bibtex_reference_style = "author_year_round"
bibtex_cite_id = "cite-{key}"

# API reference. Signatures show names and defaults, numpydoc says what they are.
autosummary_generate = False  # numpydoc loads autosummary; the pages of docs/api are written
add_module_names = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Links to other projects, from inventories that hold just the names we use (see _inv/make.py).
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", "_inv/python.inv"),
    "numpy": ("https://numpy.org/doc/stable", "_inv/numpy.inv"),
    "torch": ("https://docs.pytorch.org/docs/stable", "_inv/torch.inv"),
    "jax": ("https://docs.jax.dev/en/latest", "_inv/jax.inv"),
    "matplotlib": ("https://matplotlib.org/stable", "_inv/matplotlib.inv"),
}

# Gallery: the scripts of gallery/ run in two workers, once, and again when attnlib changes.
sphinx_gallery_conf = {
    "examples_dirs": "../gallery",
    "gallery_dirs": "gallery",
    "subsection_order": ["../gallery/section", "*"],
    "filename_pattern": r"/plot_",
    "image_scrapers": ("gallery_scraper.scrape",),
    "capture_repr": (),
    "run_stale_examples": gallery_is_stale(),
    "parallel": 2,
    "doc_module": ("attnlib",),
    "backreferences_dir": None,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_memory": False,
    "remove_config_comments": True,
}

# HTML
html_theme = "pydata_sphinx_theme"
html_title = project
html_baseurl = SITE_URL
html_favicon = "_static/favicon.svg"
html_logo = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = True
html_show_sourcelink = True
html_last_updated_fmt = "%d %B %Y"
html_scaled_image_link = False
html_permalinks_icon = "#"
html_context = {
    "default_mode": "light",  # what shows without JavaScript; with it, _templates/layout.html
    "github_repo_url": REPOSITORY_URL,
    "edit_page_url_template": "{{ github_repo_url }}/edit/main/docs/{{ file_name }}",
    "edit_page_provider_name": "GitHub",
}
html_theme_options = {
    "github_url": REPOSITORY_URL,
    "use_edit_page_button": True,
    "show_toc_level": 3,  # all, so that nothing moves while one scrolls
    "navigation_with_keys": False,
    "logo": {"text": project},
    "navbar_center": [],
    "search_bar_text": "Search",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["licence.html"],
    "footer_end": ["last-updated.html"],
    "secondary_sidebar_items": {
        "gallery/**": ["page-toc"],  # made from the scripts: there is no page to edit
        "[!g]**": ["page-toc", "edit-this-page", "sourcelink"],
    },
}
html_sidebars = {"**": ["site-nav.html"]}

# Search engines, cards, and the page that a host shows for a wrong address
sitemap_url_scheme = "{link}"
sitemap_show_lastmod = True
ogp_site_url = SITE_URL
ogp_site_name = project
ogp_description_length = 160
ogp_social_cards = {"enable": False}  # would draw a picture for each page, with matplotlib
notfound_urls_prefix = urlsplit(SITE_URL).path

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


def without_aliases(app, what, name, obj, skip, options):
    """Leave out what Python says of the fields of a named tuple: "Alias for field number 0"."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def setup(app):
    """Choose what the reference shows."""
    app.connect("autodoc-skip-member", without_aliases)
