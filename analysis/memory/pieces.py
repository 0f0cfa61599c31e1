"""The functions of a snapshot that may own a map, each as its own syntax tree.

Kernels are parsed one at a time and dropped after use, orchestration is not parsed at all, so time and memory follow the
kernels. The text is cut where a statement of the class body begins with a decorator. A cut inside a string, a bracket or a
continued line leaves the piece before it unfinished, which is a syntax error: then the whole file is parsed instead, so a
cut can cost time but never change an answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.errors import InputError
from analysis.formats.text.reading import paused_collector

OWNERS = ("AIC", "AIV", "InCore")
"""Function types that own a map."""
_INDENT = "    "
_SHELL = "if 1:\n"


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """One parsed function: ``node`` counts lines from ``line_shift`` (file line = ``node.lineno + line_shift``)."""

    name: str
    function_type: str
    node: ast.FunctionDef
    line_shift: int


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A piece that is no valid Python: file lines and the reason."""

    start_line: int
    end_line: int
    reason: str


def functions(text: str, source: str) -> Iterator[FunctionSource | Unparsed]:
    """Functions of type AIC, AIV and InCore in source order, and the pieces that cannot be parsed.

    Args:
        text: the snapshot, line ends as ``\\n``.
        source: the file's name for messages.

    Raises:
        InputError: nothing of the file can be parsed.
    """
    lines = text.split("\n")
    cuts = _cuts(lines)
    if cuts is not None and all(_closed(lines, a, b) for a, b in cuts):
        yield from _by_piece(lines, cuts, text, source)
    else:
        yield from _whole(text, source)


def _by_piece(
    lines: list[str], cuts: list[tuple[int, int]], text: str, source: str
) -> Iterator[FunctionSource | Unparsed]:
    """Each piece parsed alone. A first failure asks whether the whole file parses (then a cut was wrong)."""
    checked = False
    for position, (first, last) in enumerate(cuts):
        try:
            function = _piece(lines, first, last, source)
        except InputError as error:
            if not checked and (whole := _try_whole(text, source)) is not None:
                done = cuts[position][0]
                yield from (f for f in whole if f.node.lineno > done)
                return
            checked = True
            yield Unparsed(first + 1, last, error.reason)
            continue
        if function is not None:
            yield function


def _try_whole(text: str, source: str) -> list[FunctionSource] | None:
    try:
        return list(_whole(text, source))
    except InputError:
        return None


def _cuts(lines: list[str]) -> list[tuple[int, int]] | None:
    """(first, past the last) line index of each decorated statement of the class body; ``None``: not that layout."""
    at = [i for i, line in enumerate(lines) if line.startswith("    @")]
    starts = [i for n, i in enumerate(at) if n == 0 or not _stacked(lines, at[n - 1], i)]
    if not starts:
        return None
    head = [line for line in lines[: starts[0]] if line and not line[0].isspace()]
    if not head or not head[-1].startswith("class "):
        return None
    return list(zip(starts, [*starts[1:], len(lines)], strict=True))


def _stacked(lines: list[str], before: int, here: int) -> bool:
    """Are two decorators those of one function: no ``def`` between them?"""
    return not any(lines[i].startswith(("    def ", "    async def ", "    class ")) for i in range(before, here))


def _closed(lines: list[str], first: int, last: int) -> bool:
    """Does the piece stay in the class body: no text at the left margin in it?"""
    return all(not line or line[0].isspace() or line[0] == "#" for line in lines[first:last])


def _piece(lines: list[str], first: int, last: int, source: str) -> FunctionSource | None:
    """The function of one piece, or ``None`` if its type owns no map; only its decorators are parsed to know that."""
    begin = next((i for i in range(first, last) if lines[i].startswith(("    def ", "    async def "))), None)
    if begin is not None:
        head = parse(_SHELL + "\n".join([*lines[first:begin], f"{_INDENT}def f(): pass"]), source, first - 1)
        body = head.body[0]
        own = isinstance(body, ast.If) and isinstance(body.body[0], ast.FunctionDef) and function_type(body.body[0])
        if not own and not _may_hide_a_cut("\n".join(lines[first:last])):
            return None
    tree = parse(_SHELL + "\n".join(lines[first:last]), source, first - 1)
    body = tree.body[0]
    if len(tree.body) != 1 or not isinstance(body, ast.If) or body.orelse:
        raise InputError(source, f"line {first + 1}", "unexpected text")
    found = [_function(node, first - 1) for node in body.body]
    owners = [function for function in found if function is not None]
    if len(owners) > 1:
        raise InputError(source, f"line {first + 1}", "unexpected text")
    return owners[0] if owners else None


def _may_hide_a_cut(piece: str) -> bool:
    """Can the piece end inside a string or a continued line? Then it is parsed even if it owns no map."""
    return '"""' in piece or "'''" in piece or "\\\n" in piece


def _whole(text: str, source: str) -> Iterator[FunctionSource]:
    tree = parse(text, source, 0)
    for top in tree.body:
        for node in top.body if isinstance(top, ast.ClassDef) else [top]:
            function = _function(node, 0)
            if function is not None:
                yield function


def _function(node: ast.stmt, line_shift: int) -> FunctionSource | None:
    if not isinstance(node, ast.FunctionDef):
        return None
    kind = function_type(node)
    return FunctionSource(node.name, kind, node, line_shift) if kind else None


def function_type(node: ast.FunctionDef) -> str:
    """The type in ``@pl.function(type=pl.FunctionType.X)`` if it owns a map, else ``""``."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            for keyword in decorator.keywords:
                value = keyword.value
                if keyword.arg == "type" and isinstance(value, ast.Attribute) and value.attr in OWNERS:
                    return value.attr
    return ""


def parse(text: str, source: str, line_shift: int = 0) -> ast.Module:
    """The syntax tree of a text whose first line is line ``line_shift + 1`` of the file.

    Raises:
        InputError: the text is not Python, or nested too deeply; names the place.
    """
    try:
        with paused_collector():
            return ast.parse(text)
    except SyntaxError as error:
        place = f"line {error.lineno + line_shift}" if error.lineno else ""
        raise InputError(source, place, f"not a readable snapshot: {error.msg[:200]}", "Dump the pass again") from error
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        reason = str(error)[:200] if isinstance(error, ValueError) else "nested too deeply to be read"
        raise InputError(source, "", f"not a readable snapshot: {reason}", "Dump the pass again") from error
