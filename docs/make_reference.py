"""Writes the reference: a page per module, with signatures and docstrings as they are in the code.

Docstrings are shown as plain text: their formulas (||w||^2, x_i, coef_) would be markup to reStructuredText and to
Markdown, and in one typeface the formula on the page is the formula in the file.
"""

import importlib
import inspect
import pathlib
from collections.abc import Iterator
from types import ModuleType

from maxmargin.lectures.page import save_text

FOLDER = pathlib.Path(__file__).parent / "reference"
MODULES = {
    "maxmargin": "estimators and functions",
    "maxmargin.kernels": "kernels",
    "maxmargin.losses": "losses",
    "maxmargin.certificates": "proofs of optimality",
    "maxmargin.solvers": "solvers",
    "maxmargin.multiclass": "many classes by binary machines",
    "maxmargin.textbook": "the algorithms of the lecture notes",
}


def page(name: str) -> str:
    """The page of one module: its docstring, then its public names."""
    module = importlib.import_module(name)
    parts = [f"# {name}", _text(module), *(part for member in _members(module) for part in _entry(*member))]
    return "\n\n".join(parts) + "\n"


def _members(module: ModuleType) -> Iterator[tuple[str, object]]:
    """What ``__all__`` names; of the textbook, whose files are the units, the functions of each file."""
    if module.__name__ == "maxmargin.textbook":
        for path in sorted(pathlib.Path(module.__path__[0]).glob("[a-z]*.py")):
            part = importlib.import_module(f"{module.__name__}.{path.stem}")
            yield path.stem, part
            for name, value in vars(part).items():
                if inspect.isfunction(value) and value.__module__ == part.__name__:
                    yield f"{path.stem}.{name}", value
    else:
        yield from ((name, getattr(module, name)) for name in module.__all__)


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
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _text(value: object) -> str:
    return f"```text\n{inspect.getdoc(value) or ''}\n```"


if __name__ == "__main__":
    for name in MODULES:
        save_text(FOLDER / f"{name}.md", page(name))
    listed = "\n".join(f"- [{name}]({name}.md): {about}" for name, about in MODULES.items())
    contents = "\n".join(MODULES)
    save_text(FOLDER / "index.md", f"# Reference\n\n{listed}\n\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n")
