"""How the documentation is built: `python -m sphinx -W --keep-going -n docs site`."""

import sys
from pathlib import Path

from detlint import __version__

sys.path[:0] = [str(Path(__file__).parent / "_ext")]

project = "detlint"
author = "the detlint developers"
version = release = __version__
extensions = ["myst_parser", "generated", "sphinx_copybutton"]
exclude_patterns = ["_ext"]

myst_heading_anchors = 3
smartquotes = False  # an option begins with two hyphens, and a string has straight quotes
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = "detlint"
html_static_path = ["_static"]
html_css_files = ["detlint.css"]
html_copy_source = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
