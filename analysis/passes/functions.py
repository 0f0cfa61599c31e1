"""Which functions does a snapshot hold, and where?

Functions are top-level ``def`` and ``async def`` statements and the methods of top-level classes, by qualified name
(``Program.kernel``), decorators included, inner functions not, as ``ast`` sees them (ALGORITHMS.md, "IR trace").

Parsing dominates the cost of a pass list, and passes leave most functions alone, so a snapshot is cut where its class
body starts a method and each distinct piece is parsed once per :class:`FunctionReader`. A cut inside a string or a
bracket leaves an unterminated piece; whenever any piece does not parse by itself, the whole snapshot is parsed.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass

from analysis.passes.text import split_lines

_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
_INDENT = "    "
_HEADS = ("    @", "    def ", "    async def ")


@dataclass(frozen=True, slots=True)
class Function:
    """One function: qualified name, first (decorator) and last line from 1, ``pl.FunctionType`` or "" when not given."""

    name: str
    start_line: int
    end_line: int
    type: str = ""


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """Functions in source order; ``error`` says why there are none (a syntax error), ``repeated`` names used twice."""

    functions: tuple[Function, ...] = ()
    error: str = ""
    repeated: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """May the text be cut by function? Not with a syntax error or a repeated name."""
        return not self.error and not self.repeated

    def find(self, name: str) -> Function | None:
        """The function called ``name``, qualified or (when only one is meant) without its class."""
        exact = [f for f in self.functions if f.name == name]
        found = exact or [f for f in self.functions if f.name.rpartition(".")[2] == name]
        return found[0] if len(found) == 1 else None


class FunctionReader:
    """Reads function tables, each distinct piece of source once. Not shared between threads."""

    def __init__(self) -> None:
        self._pieces: dict[bytes, tuple[Function, ...] | None] = {}

    def read(self, text: str) -> FunctionTable:
        """The functions of one snapshot with LF line ends."""
        found = self._in_pieces(text)
        return _table(found) if found is not None else parse_whole(text)

    def _in_pieces(self, text: str) -> list[Function] | None:
        lines = split_lines(text)
        heads = [
            at
            for at, line in enumerate(lines)
            if line.startswith(_HEADS) and not (at and lines[at - 1].startswith("    @"))
        ]
        if not heads or any(line[:1] not in ("", " ", "#") for line in lines[heads[0] :]):
            return None
        owner = _owner("\n".join(lines[: heads[0]]))
        if owner is None:
            return None
        name, found = owner
        for start, end in zip(heads, [*heads[1:], len(lines)], strict=True):
            functions = self._piece("\n".join(lines[start:end]))
            if functions is None:
                return None
            found += [Function(f"{name}.{f.name}", f.start_line + start, f.end_line + start, f.type) for f in functions]
        return found

    def _piece(self, text: str) -> tuple[Function, ...] | None:
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key not in self._pieces:
            tree = _parse(f"class _:\n{text}\n")
            body = tree.body if isinstance(tree, ast.Module) else []
            whole = len(body) == 1 and isinstance(body[0], ast.ClassDef)
            self._pieces[key] = tuple(_functions(body[0].body, "", 1)) if whole else None  # type: ignore[attr-defined]
        return self._pieces[key]


def parse_whole(text: str) -> FunctionTable:
    """The functions of a snapshot from one ``ast.parse`` of all of it."""
    tree = _parse(text)
    if isinstance(tree, str):
        return FunctionTable(error=tree)
    found: list[Function] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found += _functions(node.body, f"{node.name}.", 0)
        else:
            found += _functions([node], "", 0)
    return _table(found)


def _owner(head: str) -> tuple[str, list[Function]] | None:
    """Name of the class whose body continues after ``head``, and the functions before; ``None`` if there is none."""
    tree = _parse(f"{head}\n{_INDENT}pass\n")
    if isinstance(tree, str) or not tree.body:
        return None
    *before, last = tree.body
    if not isinstance(last, ast.ClassDef) or not isinstance(last.body[-1], ast.Pass) or last.col_offset:
        return None
    found: list[Function] = []
    for node in before:
        found += (
            _functions(node.body, f"{node.name}.", 0) if isinstance(node, ast.ClassDef) else _functions([node], "", 0)
        )
    return last.name, found


def _parse(text: str) -> ast.Module | str:
    """The tree, or in words why there is none."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno or 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"cannot be parsed ({type(error).__name__}: {error})"


def _functions(body: list[ast.stmt], prefix: str, offset: int) -> list[Function]:
    return [
        Function(
            prefix + node.name,
            min([node.lineno, *(d.lineno for d in node.decorator_list)]) - offset,
            (node.end_lineno or node.lineno) - offset,
            _type(node),
        )
        for node in body
        if isinstance(node, _NODES)
    ]


def _type(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """``InCore`` of ``@pl.function(type=pl.FunctionType.InCore)``."""
    for decorator in node.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "type" and isinstance(keyword.value, ast.Attribute):
                return keyword.value.attr
    return ""


def _table(found: list[Function]) -> FunctionTable:
    seen: set[str] = set()
    repeated: dict[str, None] = {}
    for function in found:
        if function.name in seen:
            repeated[function.name] = None
        seen.add(function.name)
    return FunctionTable(tuple(found), "", tuple(repeated))
