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


def remove_unused_pictures(folder: pathlib.Path) -> list[str]:
    """Delete the pictures in ``images`` that no page of the folder shows any more; returns their names."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    unused = [path for path in sorted((folder / "images").glob("*")) if f"(images/{path.name})" not in text]
    for path in unused:
        path.unlink()
    return [path.name for path in unused]


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
    where = f"note {demonstration.page}" if demonstration.page.isdigit() else demonstration.page
    parts = [f"{demonstration.title} ({where})\n", _plain(demonstration.text)]
    parts += [_columns(table) for table in shown.tables]
    parts += ["\n".join(f"[{'holds' if holds else 'FAILS'}] {_plain(sentence)}" for sentence, holds in shown.claims)]
    return "\n\n".join(part for part in parts if part)


def _plain(text: str) -> str:
    """Without the marks of Markdown and TeX: links as their text, formulas in words."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`([^`]*)`|\$\$?([^$]+)\$\$?", lambda found: found[1] or formula_in_words(found[2] or ""), text)


# Marks that pieces of a formula carry until all are in place: a space if letters or digits meet, a space if anything
# but an operator or a closing mark follows.
_APART, _GAP = "\0", "\1"
_TOKEN = re.compile(r"\\[a-zA-Z]+ *|\\.|\s+|.", re.DOTALL)
_SYMBOLS = {
    "le": " <= ", "ge": " >= ", "ne": " != ", "leftarrow": " <- ", "pm": "+-", "cdot": ".", "dots": "...",
    "ell": f"{_APART}l{_APART}", "varepsilon": f"{_APART}epsilon{_APART}",
    "left": "", "right": "", "!": "", "|": "||", "\\": " ",
} | dict.fromkeys(("quad", "qquad", ",", ";", ":", " "), " ")  # fmt: skip


def _fraction(above: str, below: str) -> str:
    return f"{_APART}{_factor(above)}/{_factor(below)}{_GAP}"


def _factor(text: str) -> str:
    """In parentheses unless it is a number, a name or a norm."""
    return text if re.fullmatch(r"\d+|[^\W\d_]+(_[^\W_]+)?|\|\|\w+\|\|", text) else f"({text})"


def _script(text: str) -> str:
    """An index or a power, in parentheses unless it is a number or a name with at most a sign."""
    return (text if re.fullmatch(r"[-+*]?[^\W_]*", text) else f"({text})") + _APART


def _word(text: str) -> str:
    return f"{_APART}{text}{_APART}"


# Commands with arguments: how many, and what they make of them.
_STRUCTURES: dict[str, tuple[int, Callable[..., str]]] = {
    "frac": (2, _fraction),
    "binom": (2, lambda above, below: _word(f"binom({above}, {below})")),
    "sqrt": (1, lambda text: _word(f"sqrt({text})")),
    **dict.fromkeys(("text", "mathbf", "mathbb", "mathrm", "operatorname"), (1, _word)),
}


def formula_in_words(tex: str) -> str:
    """A TeX formula for a terminal: commands as symbols or by their names, only the braces that are to be seen."""
    text = _read(_TOKEN.findall(tex)[::-1])
    return re.sub(r" *\n *", "\n", re.sub(r" {2,}", " ", text)).strip()


def _read(tokens: list[str]) -> str:
    """The formula up to its end or the end of its group. Writes: tokens, those to come, the next one last."""
    pieces = []
    while tokens and tokens[-1] != "}":
        pieces.append(_piece(tokens))
    text = re.sub(rf"{_GAP}{_APART}*(?=[\w(\[|])", " ", "".join(pieces))
    text = re.sub(rf"(?<=[\w)\]'])[{_APART}{_GAP}]+(?=[^\W_])", " ", text)
    return re.sub(f"[{_APART}{_GAP}]", "", text)


def _piece(tokens: list[str]) -> str:
    """The next token with its arguments. Writes: tokens."""
    token = tokens.pop()
    if token == "{":
        text = _read(tokens)
        del tokens[-1:]
        return text
    if token in "_^":
        return token + _script(_argument(tokens))
    if not token.startswith("\\"):
        return token
    name = token[1:].rstrip() or " "
    if name in _STRUCTURES:
        count, made = _STRUCTURES[name]
        return made(*(_argument(tokens) for _ in range(count)))
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    return _word(token[1:]) if name.isalpha() else name


def _argument(tokens: list[str]) -> str:
    """The next group or token that is no space. Writes: tokens."""
    while tokens and tokens[-1].isspace():
        tokens.pop()
    return re.sub(f"[{_APART}{_GAP}]", "", _piece(tokens)).strip() if tokens else ""


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
