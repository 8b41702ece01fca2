import sys
from pathlib import Path

import burnpy

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import generate  # noqa: E402

generate.write(here / "_generated")

project = "burnpy"
author = "the burnpy contributors"
version = release = burnpy.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "matplotlib.sphinxext.plot_directive",
]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_generated"]
html_theme = "furo"
napoleon_google_docstring = True
napoleon_use_ivar = True
autodoc_typehints = "description"
plot_html_show_formats = False
plot_html_show_source_link = False
plot_basedir = str(here)
plot_formats = [("png", 120)]
