"""What a demonstration returns, where all of them are, and how they become pages."""

from __future__ import annotations

import importlib
import inspect
import itertools
import pathlib
import re
import textwrap
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NamedTuple

from maxmargin.core.files import whole_file
from maxmargin.report.plots import save_figure

LECTURES = (
    "note_000", "note_001", "note_002", "note_003", "note_004", "convergence", "regression", "shares", "novelty",
    "errata",
)  # fmt: skip


class Table(NamedTuple):
    """Numbers that belong to a demonstration."""

    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Shown(NamedTuple):
    """What one demonstration found.

    ``claims`` are sentences with the result of their check; a page is not written while one of them fails. ``draw``
    makes the figure: it alone needs matplotlib, and is called only where a picture is wanted.
    """

    draw: Callable[[], Any] | None = None
    tables: tuple[Table, ...] = ()
    claims: tuple[tuple[str, bool], ...] = ()


class Demonstration(NamedTuple):
    """A function that computes; its docstring is the text of the page: a title, then Markdown with TeX."""

    name: str
    page: str
    title: str
    text: str
    run: Callable[[], Shown]

    @property
    def draws(self) -> bool:
        """Whether there is a picture, known before anything is computed: errata are words, the named ones tables."""
        return self.page != "errata" and self.name not in ("counting", "exponential_family")


class Page(NamedTuple):
    """All demonstrations of one lecture; ``name`` is 000 to 004, convergence or errata."""

    name: str
    title: str
    text: str
    demonstrations: list[Demonstration]


def pages() -> list[Page]:
    """Every page, with its demonstrations in the order in which its lecture lists them."""
    return [_page(importlib.import_module(f"maxmargin.lectures.{name}")) for name in LECTURES]


def demonstrations() -> dict[str, Demonstration]:
    """Every demonstration by its name."""
    return {shown.name: shown for page in pages() for shown in page.demonstrations}


def _page(lecture: ModuleType) -> Page:
    name = lecture.__name__.rpartition(".")[2].removeprefix("note_")
    listed = [Demonstration(f.__name__, name, *_title_and_text(f), f) for f in lecture.DEMONSTRATIONS]
    return Page(name, *_title_and_text(lecture), listed)


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
    if shown.draw is not None:
        save_figure(shown.draw(), folder / "images" / f"{demonstration.name}.png")
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


def in_words(demonstration: Demonstration, shown: Shown, width: int = 100) -> str:
    """A demonstration for a terminal of that width: its text, its numbers, its claims."""
    where = f"note {demonstration.page}" if demonstration.page.isdigit() else demonstration.page
    parts = [_filled(f"{demonstration.title} ({where})", width)]
    parts += [_block(block, width) for block in demonstration.text.split("\n\n")]
    parts += [_columns(table, width) for table in shown.tables]
    marked = [(f"[{'holds' if holds else 'FAILS'}] ", sentence) for sentence, holds in shown.claims]
    parts += ["\n".join(_filled(mark + _plain(sentence), width, len(mark)) for mark, sentence in marked)]
    words = "\n\n".join(part for part in parts if part)
    reference = re.search(r"\b(00[0-4]):(\d+)", words)
    return f"{words}\n\n{_filled(_meaning(*reference.groups()), width)}" if reference else words


def _meaning(note: str, line: str) -> str:
    return f"({note}:{line} means line {line} of note {note}; titles of the notes: docs/conventions.md)"


def _block(markdown: str, width: int) -> str:
    """A displayed formula, which keeps its lines, or a paragraph or a list, filled."""
    if markdown.startswith("$$"):
        return _plain(markdown)
    items = re.split(r"\n(?=- )", markdown)
    return "\n".join(_filled(_plain(item), width, 2 if item.startswith("- ") else 0) for item in items)


def _filled(text: str, width: int, indent: int = 0) -> str:
    """Lines of at most that width, all but the first one indented."""
    return "\n".join(_lines(text, width, " " * indent))


def _lines(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(" ".join(text.split()), width, subsequent_indent=indent, break_on_hyphens=False)


_STAR = "\2"  # an asterisk of a formula or of code, which is no mark


def _plain(text: str) -> str:
    """Without the marks of Markdown and TeX: links as their text, formulas in words, no emphasis."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`([^`]*)`|\$\$?([^$]+)\$\$?", _code_or_formula, text)
    return re.sub(r"(?<!\w)(\*\*?)(?=\S)([^*]+)(?<=\S)\1(?!\w)", r"\2", text).replace(_STAR, "*")


def _code_or_formula(found: re.Match[str]) -> str:
    return (found[1] or formula_in_words(found[2] or "")).replace("*", _STAR)


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


def _columns(table: Table, width: int) -> str:
    """The table with its columns aligned, numbers to the right; cells that are too long take several lines."""
    cells = [[_plain(cell(value).replace("\\|", "|")) for value in row] for row in [table.header, *table.rows]]
    columns = list(zip(*cells, strict=True))
    widths = _widths(columns, width)
    numbers = [all(re.fullmatch(_NUMBER, entry) for entry in column[1:]) for column in columns]
    head, *body = (_row(row, widths, numbers) for row in cells)
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([*head, rule, *itertools.chain(*body)])


_NUMBER = r"([-+]?\d[\d.,]*(e[-+]?\d+)?%?|[-+]?(inf|nan))?"  # or nothing


def _widths(columns: list[tuple[str, ...]], width: int) -> list[int]:
    """What the columns need; where that is too much, the widest give way, down to their longest words if possible."""
    widths = [max(map(len, column)) for column in columns]
    room = width - 2 * (len(columns) - 1)
    least = [min(max(map(len, " ".join(column).split()), default=0), room // len(columns)) for column in columns]
    while sum(widths) > room:
        widest = max((k for k in range(len(widths)) if widths[k] > least[k]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _row(row: list[str], widths: list[int], numbers: list[bool]) -> list[str]:
    wrapped = [_lines(entry, width) for entry, width in zip(row, widths, strict=True)]
    lines = itertools.zip_longest(*wrapped, fillvalue="")
    return ["  ".join(map(_aligned, line, widths, numbers)).rstrip() for line in lines]


def _aligned(entry: str, width: int, number: bool) -> str:
    return entry.rjust(width) if number else entry.ljust(width)


def save_text(path: pathlib.Path, text: str) -> None:
    """Write the text, never half of it."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
