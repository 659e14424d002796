"""A site without faults, built once: most tests read it, none changes it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sites import Build, Site

INDEX = """
# Home

```{toctree}
:numbered: 1
tabs
figures
sub/script
quotes
```

```{toctree}
exercises/ex01-fold
reference
gallery/section/plot_line
```
"""

TABS = """
# Tabs

Only code, with a cell of numbers between the frameworks:

```{code-cell} python
:tags: [torch]
x = 0.25
```

```{code-cell} python
:tags: [numbers]
record({"tabs/n": 12345, "tabs/yes": True}, shared=True)
```

```{code-cell} python
:tags: [jax]
x = -0.5
```

```{code-cell} python
:tags: [numbers]
record({"tabs/x": x, "tabs/tiny": -1.5e-9})
```

Two of each, one framework after the other:

```{code-cell} python
:tags: [torch]
"torch 1"
```

```{code-cell} python
:tags: [torch]
"torch 2"
```

```{code-cell} python
:tags: [jax]
"jax 1"
```

```{code-cell} python
:tags: [jax]
"jax 2"
```

The same in both:

```{code-cell} python
"agreed"
```

Different:

```{code-cell} python
abs(x)
```

Not shown:

```{code-cell} python
:tags: [remove-cell]
hidden = x
```

```{code-cell} python
:tags: [raises-exception]
1 / 0
```

As numbers: {num}`tabs/x .2f`; {num-torch}`tabs/x`; {num-jax}`tabs/x`; {num}`tabs/tiny .1e`;
{num}`tabs/n`; {num}`tabs/yes`.

| Table | {num}`tabs/x` |
|-------|---------------|
| a     | b             |
"""

FIGURES = """
# Figures

$$ a = b $$ (eq-a)

By Equation {eq}`eq-a`: {numref}`fig-same`, {numref}`fig-differs`, {numref}`fig-tagged`.

```{code-cell} python
import os
import matplotlib.pyplot as plt
slope = {"torch": 1, "jax": 2}[os.environ["ATTNLIB_FRAMEWORK"]]
```

```{code-cell} python
---
mystnb:
  figure: {name: fig-same, caption: "The same."}
  image: {alt: "A line."}
---
plt.plot([0, 1], [0, 1 + slope * 1e-9]);
```

```{code-cell} python
---
mystnb:
  figure: {name: fig-differs, caption: "Slope {num}`figures/slope`."}
  image: {alt: "A line of its slope."}
---
plt.plot([0, slope], [0, 1]);
```

```{code-cell} python
:tags: [numbers]
record({"figures/slope": slope})
```

```{code-cell} python
---
tags: [torch]
mystnb:
  figure: {name: fig-tagged, caption: "Tagged."}
  image: {alt: "A falling line."}
---
plt.plot([0, 1], [1, 0]);
```

```{code-cell} python
---
tags: [jax]
mystnb:
  figure: {name: fig-tagged, caption: "Tagged."}
  image: {alt: "A rising line."}
---
plt.plot([0, 1], [0, 1]);
```
"""

SCRIPT_PAGE = """
# Script

```{code-cell} python
---
load: /gallery/section/plot_line.py
tags: [hide-input]
mystnb:
  figure: {name: fig-script, caption: "From the gallery."}
---
```

```{code-cell} python
from attnlib import pooling
pooling.pool
```
"""

SCRIPT = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
A line
======

What one sees.
"""

# %%
# The drawing.
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.plot([1, 3])
fig.set_label("The label of the figure.")
print("not shown")
plt.show()
'''

EXERCISE = """
(ex1)=
# Exercise 1: Fold

What is it? See {ref}`ex1-a`.

## Hint

Look.

(ex1-a)=
## Solution (a): so

**Result.** {num}`ex1/a`.

```{code-cell} python
2 + 2
```

```{code-cell} python
:tags: [numbers]
record({"ex1/a": 4}, shared=True)
```

### In detail

More.

## What goes wrong

Much.

## Afterwards

Open.
"""

REFERENCE = """
# Reference

```{eval-rst}
.. py:module:: attnlib.pooling

.. py:function:: pool(weights, values)

   A weighted sum.

.. py:function:: unused()

   Nobody needs it.
```
"""


def write_good_site(root: Path) -> Site:
    site = Site(root)
    site.write("attnlib/pooling.py", "pool = 'pool'\n")
    site.write("docs/index.md", INDEX)
    site.page("tabs", TABS)
    site.page("figures", FIGURES)
    site.page("sub/script", SCRIPT_PAGE)
    site.write("gallery/section/plot_line.py", SCRIPT)
    site.write("docs/gallery/section/plot_line.md", "# A line\n")
    site.write("docs/gallery/section/plot_line.py", "from attnlib.pooling import pool\n")
    site.page("exercises/ex01-fold", EXERCISE)
    site.write("docs/reference.md", REFERENCE)
    site.write("docs/quotes.md", "# Quotes\n\nFrom another page: {num}`tabs/x .3f`.\n")
    return site


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, Build]:
    site = write_good_site(tmp_path_factory.mktemp("good"))
    return site, site.build("-W", "--keep-going", "-j", "2")


@pytest.fixture(scope="session")
def good(built: tuple[Site, Build]) -> Site:
    site, build = built
    assert build.code == 0, build.warnings
    return site
