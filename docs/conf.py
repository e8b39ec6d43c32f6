"""Sphinx settings. tools/warp/site/build.py starts Sphinx; it stages the pages and says where the XML lies."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from warp.base import palette  # noqa: E402

project = "Warp by Warp"
author = "The Warp by Warp authors"
html_title = "Warp by Warp"
release = (Path(__file__).parents[1] / "VERSION").read_text(encoding="utf-8").strip()

extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton", "breathe", "warp.site.extension"]
templates_path = ["_templates"]
html_baseurl = os.environ.get("WARP_SITE_URL", "")  # for canonical addresses and the sitemap; the pages need none
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "smartquotes"]
myst_heading_anchors = 3
suppress_warnings = ["epub.unknown_project_files"]
exclude_patterns = ["_data", "_files"]

# Breathe. CUDA's qualifiers and attributes are no C++; the Doxyfile removes most of them.
breathe_default_project = "lab"  # breathe_projects comes from build.py
breathe_domain_by_extension = {"cu": "cpp", "cuh": "cpp", "h": "cpp"}
breathe_show_include = False
cpp_id_attributes = [
    "__global__",
    "__device__",
    "__host__",
    "__shared__",
    "__constant__",
    "__managed__",
    "__restrict__",
    "__forceinline__",
    "__noinline__",
    "__grid_constant__",
]
cpp_paren_attributes = ["__launch_bounds__", "__align__", "__cluster_dims__", "__maxnreg__"]
cpp_maximum_signature_line_length = 88

# Names that C++, CUDA and third parties own: no page here can define them.
nitpick_ignore_regex = [
    ("cpp:identifier", r".*"),  # each word of a signature: linked where it has a page, plain where not
    ("cpp:.*", r"std(::.*)?"),
    ("cpp:.*", r"u?int(8|16|32|64|ptr)?_t|size_t|ptrdiff_t"),
    ("cpp:.*", r"(cuda[A-Z]\w*|dim3|uint3|int[234]|float[234]|double2|__half|__nv_bfloat16)"),
    ("cpp:.*", r"[A-Z]\w?|[A-Z][a-z]+\.\.\.|Any\w*|Args|Got|Want"),  # template parameters
]

language = "en"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["warp.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("site.js", "learned.js", "progress.js")]
html_favicon = "_static/warp.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
smartquotes_action = "qe"  # quotes and ellipses; `--` is an option of a command
html_codeblock_linenos_style = "inline"
html_theme_options = {
    "sidebar_hide_name": False,
    "light_logo": "warp.svg",
    "dark_logo": "warp.svg",
    "top_of_page_buttons": [],
    "light_css_variables": palette.LIGHT,
    "dark_css_variables": palette.DARK,
}
pygments_style = "warp.site.colours.WarpLight"
pygments_dark_style = "warp.site.colours.WarpDark"
highlight_language = "cuda"

copybutton_exclude = ".linenos, .cost, .gap, .gp, .go"
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div.highlight:not(.output div) pre"
