"""Writes the reference: a page per module, with signatures and docstrings.

Of a docstring, numpydoc's sections become lists and examples, indented or aligned lines stay as they are, and in prose
every mark of Markdown is escaped: the formula on the page (||w||^2, x_i, coef_) is the formula in the file.
"""

import importlib
import inspect
import pathlib
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType

from maxmargin.estimators.available import Available
from maxmargin.lectures.page import save_text

FOLDER = pathlib.Path(__file__).parent / "reference"
MODULES = {
    "maxmargin": "estimators and functions",
    "maxmargin.kernels": "kernels",
    "maxmargin.losses": "losses",
    "maxmargin.gram": "kernel matrices within a memory budget",
    "maxmargin.models": "support vector models, stated as problems",
    "maxmargin.certificates": "proofs of optimality",
    "maxmargin.solvers": "solvers",
    "maxmargin.calibration": "probabilities, sets and intervals from scores",
    "maxmargin.onnx": "models for programs without Python",
    "maxmargin.multiclass": "many classes by binary machines",
    "maxmargin.textbook": "the algorithms of the lecture notes",
}


def page(name: str) -> str:
    """The page of one module: its docstring, then its public names."""
    module = importlib.import_module(name)
    parts = [f"# {name}", _text(module), *(part for member in _members(module) for part in _entry(*member))]
    return "\n\n".join(parts) + "\n"


def _members(module: ModuleType) -> Iterator[tuple[str, object]]:
    """What ``__all__`` names, estimators first; of the textbook, whose files are the units, each file's functions."""
    if module.__name__ == "maxmargin.textbook":
        for file in module.__all__:
            part = getattr(module, file)
            yield file, part
            for name, value in vars(part).items():
                if inspect.isfunction(value) and value.__module__ == part.__name__:
                    yield f"{file}.{name}", value
    else:
        found = {name: getattr(module, name) for name in module.__all__}
        yield from sorted(found.items(), key=lambda member: (not hasattr(member[1], "fit"), member[0].lower()))


def _entry(name: str, value: object) -> Iterator[str]:
    if not (inspect.isclass(value) or callable(value) or inspect.ismodule(value)):
        return
    yield f"## {name}"
    if callable(value):
        yield f"```text\n{name}{_signature(value)}\n```"
    yield _text(value)
    if inspect.isclass(value):
        for method, function in _methods(value).items():
            yield f"### {name}.{method}"
            yield f"```text\n{method}{_signature(function)}\n```"
            yield _text(function)


def _methods(value: type) -> dict[str, object]:
    """The documented public methods, also those of its bases in this package; each as the class itself finds it."""
    own = [base for base in value.__mro__ if base.__module__.partition(".")[0] == "maxmargin"]
    found = {name: inspect.getattr_static(value, name) for base in own for name in vars(base)}
    found = {
        name: inspect.unwrap(method) if isinstance(method, Available) else method for name, method in found.items()
    }
    return {
        name: function
        for name, function in found.items()
        if inspect.isfunction(function) and not name.startswith("_") and function.__doc__
    }


def _signature(value: object) -> str:
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except ValueError:  # an enumeration's or a C function's
        return "(...)"
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _text(value: object) -> str:
    """The docstring as Markdown."""
    text, *sections = re.split(r"^([A-Z]\w+)\n-{3,}\n", inspect.getdoc(value) or "", flags=re.MULTILINE)
    parts = [_prose(text)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        parts += [f"**{title}**", _prose(body) if title in ("Notes", "Examples") else _items(body)]
    return "\n\n".join(parts)


def _items(body: str) -> str:
    """Lines ``name : type``, each with indented text below."""
    return "\n".join(_item(*item.partition("\n")[::2]) for item in re.split(r"\n+(?=\S)", body.strip()))


def _item(head: str, text: str) -> str:
    code = " ".join(head.replace("``", "").split())
    return textwrap.indent(f"`{code}`\\\n{_prose(textwrap.dedent(text))}", "  ").replace("  ", "- ", 1)


def _prose(text: str) -> str:
    return "\n\n".join(map(_block, re.split(r"\n{2,}", text.strip("\n"))))


def _block(block: str) -> str:
    """An example, lines whose blanks mean something, a list, or a paragraph."""
    if block.startswith(">>>"):
        return f"```python\n{block}\n```"
    if re.search(r"^ {4}|\S {3,}\S", block, re.MULTILINE):
        return f"```text\n{textwrap.dedent(block)}\n```"
    lines = re.split(r"\n(?=- )", block)
    return "\n".join(_escaped(" ".join(line.split())) for line in lines)


def _escaped(line: str) -> str:
    """Code between double backticks as code between single ones, anything else without a meaning in Markdown."""
    pieces = re.split(r"``(.+?)``", line)
    pieces[::2] = (re.sub(r"([\\`*_\[\]<>$#|{}~+])", r"\\\1", piece) for piece in pieces[::2])
    pieces[1::2] = (f"`{code}`" for code in pieces[1::2])
    return "".join(pieces)


if __name__ == "__main__":
    for name in MODULES:
        save_text(FOLDER / f"{name}.md", page(name))
    listed = "\n".join(f"- [{name}]({name}.md): {about}" for name, about in MODULES.items())
    contents = "\n".join(MODULES)
    save_text(FOLDER / "index.md", f"# Reference\n\n{listed}\n\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n")
