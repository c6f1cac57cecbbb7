"""Sphinx: the pages of this folder; those of ``lectures`` and ``reference`` are written by code (see the Makefile)."""

import sys
from pathlib import Path

import maxmargin

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "maxmargin"
release = version = maxmargin.__version__
extensions = ["myst_parser", "mathml"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
smartquotes = False  # w'x is a product
html_theme = "furo"
html_title = f"maxmargin {release}"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"light_css_variables": {"color-brand-primary": "#2b6cb0", "color-brand-content": "#2b6cb0"}}
html_static_path = ["static"]
html_css_files = ["pages.css"]
