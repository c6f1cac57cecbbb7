"""What a demonstration returns, where all of them are, and how they become pages."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NamedTuple

from maxmargin.report.plots import save_figure

MODULES = ("note_000", "note_001", "note_002", "note_003", "note_004", "convergence", "errata")


class Table(NamedTuple):
    """Numbers that belong to a demonstration."""

    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Shown(NamedTuple):
    """What one demonstration found.

    ``claims`` are sentences with the result of their check; a page is not written while one of them fails.
    """

    figure: Any = None
    tables: tuple[Table, ...] = ()
    claims: tuple[tuple[str, bool], ...] = ()


class Demonstration(NamedTuple):
    """A function that computes and draws; its docstring is the text of the page: a title, then Markdown with TeX."""

    name: str
    page: str
    title: str
    text: str
    run: Callable[[], Shown]


class Page(NamedTuple):
    """All demonstrations of one module; ``name`` is 000 to 004, convergence or errata."""

    name: str
    title: str
    text: str
    demonstrations: list[Demonstration]


def pages() -> list[Page]:
    """Every page, with its demonstrations in the order in which their module defines them."""
    return [_page(importlib.import_module(f"maxmargin.lectures.{name}")) for name in MODULES]


def demonstrations() -> dict[str, Demonstration]:
    """Every demonstration by its name."""
    return {shown.name: shown for page in pages() for shown in page.demonstrations}


def _page(module: ModuleType) -> Page:
    name = module.__name__.rpartition(".")[2].removeprefix("note_")
    title, text = _title_and_text(module)
    own = [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]
    shown = [f for f in own if not f.__name__.startswith("_")]
    return Page(name, title, text, [Demonstration(f.__name__, name, *_title_and_text(f), f) for f in shown])


def _title_and_text(documented: Any) -> tuple[str, str]:
    title, _, text = (inspect.getdoc(documented) or "").partition("\n")
    return title.rstrip("."), text.strip()


def check(demonstration: Demonstration, shown: Shown) -> None:
    """Every claim holds, or an error says which does not."""
    failed = [sentence for sentence, holds in shown.claims if not holds]
    if failed:
        raise AssertionError(f"{demonstration.page}, {demonstration.name}: not so: " + " | ".join(failed))


def write_page(page: Page, folder: pathlib.Path) -> None:
    """Run the page's demonstrations; write its Markdown and its pictures (in ``images``)."""
    parts = [f"# {page.title}", page.text]
    for demonstration in page.demonstrations:
        shown = demonstration.run()
        check(demonstration, shown)
        parts += _section(demonstration, shown, folder)
    save_text(folder / f"{page.name}.md", "\n\n".join(part for part in parts if part) + "\n")


def _section(demonstration: Demonstration, shown: Shown, folder: pathlib.Path) -> Iterable[str]:
    yield f"({demonstration.name.replace('_', '-')})="
    yield f"## {demonstration.title}"
    yield demonstration.text
    if shown.figure is not None:
        save_figure(shown.figure, folder / "images" / f"{demonstration.name}.png")
        yield f"![{demonstration.title}](images/{demonstration.name}.png)"
    yield from (_markdown(table) for table in shown.tables)
    if shown.claims:
        yield "Checked when this page was made:"
        yield "\n".join(f"- {sentence}" for sentence, _ in shown.claims)
    yield f"On the command line: `maxmargin demo {demonstration.name}`."


def _markdown(table: Table) -> str:
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    return "\n".join("| " + " | ".join(cell(value) for value in line) + " |" for line in lines)


def cell(value: Any) -> str:
    """A number with four digits, anything else as it is; a bar would end the cell."""
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def in_words(demonstration: Demonstration, shown: Shown) -> str:
    """A demonstration for a terminal: its text, its numbers, its claims."""
    parts = [f"{demonstration.title} (note {demonstration.page})\n", _plain(demonstration.text)]
    parts += [_columns(table) for table in shown.tables]
    parts += ["\n".join(f"[{'holds' if holds else 'FAILS'}] {sentence}" for sentence, holds in shown.claims)]
    return "\n\n".join(part for part in parts if part)


def _plain(text: str) -> str:
    """Without the marks of Markdown and TeX: links as their text, Greek letters by name."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\$\$?|`", "", text).replace("\\|", "||")
    return re.sub(r"\\(?:[,;!]|left|right|(?:math|operator)\w+)|\\", "", text)


def _columns(table: Table) -> str:
    """The table with its columns aligned."""
    lines = [table.header, *((cell(value).replace("\\|", "|") for value in row) for row in table.rows)]
    cells = [[_plain(entry) for entry in line] for line in lines]
    widths = [max(len(line[k]) for line in cells) for k in range(len(table.header))]
    return "\n".join("  ".join(entry.ljust(width) for entry, width in zip(line, widths, strict=True)) for line in cells)


def save_text(path: pathlib.Path, text: str) -> None:
    """Write the text under another name first, so that a file is never half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
