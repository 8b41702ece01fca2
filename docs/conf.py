from importlib.metadata import version as installed_version

project = "burnpy"
author = "the burnpy contributors"
version = release = installed_version("burnpy")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["_build"]
html_theme = "furo"
napoleon_google_docstring = True
autodoc_typehints = "description"
