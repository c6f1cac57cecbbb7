"""TeX formulas as MathML, made when the pages are built: readers need neither a network nor a script."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def render_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def render_display(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer to Sphinx."""
    app.add_html_math_renderer("mathml", (render_inline, None), (render_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
