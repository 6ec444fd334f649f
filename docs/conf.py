"""How Sphinx builds these pages: `make docs`, into docs/_build/html."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

from sphinx.ext.napoleon import GoogleDocstring

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Sensorium"
author = "the Sensorium engineers"
version = release = installed("sensorium")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "api_pages",
    "example_pages",
    "offline_math",
    "repository_links",
]
exclude_patterns = ["_build", "_extensions"]
root_doc = "index"

# Headings are targets of links, as on the pages that a forge shows of the same files
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "colon_fence"]

# Docstrings are plain sentences: `code` in single ticks, sections of arguments and results
default_role = "code"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Fields", "params_style")]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"

# Words such as "worlds" in the types of attributes are no links
suppress_warnings = ["ref.python"]

html_math_renderer = "mathml"  # equations without a network
html_theme = "pydata_sphinx_theme"
html_title = "Sensorium"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_depth": 2,
    "show_nav_level": 1,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "getting-started": [], "concepts": []}  # pages with none below them
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
copyright = "the Sensorium engineers, Apache 2.0"

# What is before a colon in an attribute's docstring napoleon takes for a type; ours are sentences
GoogleDocstring._parse_attribute_docstring = GoogleDocstring._consume_to_end
