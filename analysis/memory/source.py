"""What does a snapshot's source say about tiles? Functions, tiles, mentions, loops and rings, by ``ast`` alone."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import product

from analysis.errors import InputError
from analysis.formats.text.reading import paused_collector
from analysis.memory.pieces import FunctionSource, Unparsed
from analysis.memory.pieces import functions as pieces

MAX_BYTES = 1 << 40
"""Offsets and sizes beyond this are no on-chip addresses; the tile is left out with a note."""
MAX_SLOTS = 64
_CARRIERS = ("Out", "InOut", "In")


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile as its annotation says; ``offsets`` are the addresses it may have (one, or one per slot)."""

    name: str
    space: str
    base: str
    offsets: tuple[int, ...]
    size: int
    shape: tuple[str, ...]
    dtype: str
    op: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its lines, the first line of its body, the names it carries, and what they are at first."""

    start_line: int
    body_line: int
    end_line: int
    carried: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Ring:
    """A reserved buffer between AIC and AIV: its bytes, slots and line."""

    name: str
    offset: int
    size: int
    slots: int
    line: int


@dataclass(slots=True)
class Function:
    """What one function of the snapshot says, by lines of the file: tree lines + ``shift``. ``mentions``: name → [first,
    last] line."""

    name: str
    type: str
    start_line: int
    end_line: int
    shift: int
    tiles: dict[str, Tile] = field(default_factory=dict)
    unplaced: dict[str, Tile] = field(default_factory=dict)
    mentions: dict[str, list[int]] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    rings: dict[str, Ring] = field(default_factory=dict)
    yields: list[tuple[str, str, int]] = field(default_factory=list)
    popped: list[tuple[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def functions_of(text: str, source: str) -> tuple[list[Function], list[Unparsed]]:
    """Every function of ``text`` that owns a map, in source order, and the parts that are no Python.

    Raises:
        InputError: nothing can be parsed, or an expression is nested too deeply; names the place.
    """
    read: list[Function] = []
    broken: list[Unparsed] = []
    with paused_collector():
        for found in pieces(text, source):
            if isinstance(found, Unparsed):
                broken.append(found)
            else:
                read.append(_checked(found, source))
    return read, broken


def _checked(found: FunctionSource, source: str) -> Function:
    """:func:`_read`, whose only errors come from expressions too deep or numbers too long to be written out."""
    try:
        return _read(found)
    except (RecursionError, ValueError) as error:
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else "a number too long to be written out"
        place = f"line {found.node.lineno + found.line_shift}, function {found.name[:80]}"
        raise InputError(source, place, f"not a readable snapshot: {reason}", "Dump the pass again") from error


def _read(found: FunctionSource) -> Function:
    node, shift = found.node, found.line_shift
    start = min([node.lineno, *(mark.lineno for mark in node.decorator_list)]) + shift
    out = Function(node.name, found.function_type, start, (node.end_lineno or node.lineno) + shift, shift)
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        line = argument.lineno
        _mention(out, argument.arg, line, line)
        if argument.annotation is not None:
            _bind(out, argument.arg, argument.annotation, "param", line, argument.end_lineno or line)
    _Reader(out).body(node.body)
    for seen in out.mentions.values():
        seen[0] += shift
        seen[1] += shift
    return out


class _Reader:
    """Walks the statements of one function, filling its record."""

    def __init__(self, out: Function) -> None:
        self._out = out

    def body(self, statements: list[ast.stmt]) -> None:
        pending = list(reversed(statements))
        while pending:
            statement = pending.pop()
            for part in reversed(self._parts(statement)):
                if part:
                    pending += reversed(part)

    def _parts(self, node: ast.stmt) -> tuple[list[ast.stmt], ...]:
        """Note what the statement itself says; the statements inside it come back."""
        if isinstance(node, ast.AnnAssign):
            self._annotated(node)
        elif isinstance(node, ast.Assign):
            self._assigned(node)
        elif isinstance(node, ast.For):
            self._loop(node, node.target, node.iter)
            return (node.body, node.orelse)
        elif isinstance(node, ast.While):
            self._expression(node.test)
            self._out.loops.append(self._lines(node, ()))
            return (node.body, node.orelse)
        elif isinstance(node, ast.If):
            self._expression(node.test)
            return (node.body, node.orelse)
        elif isinstance(node, ast.With):
            for item in node.items:
                self._expression(item.context_expr)
                if item.optional_vars is not None:
                    self._expression(item.optional_vars)
            return (node.body,)
        else:
            inner = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
            for part in ast.iter_child_nodes(node):
                if not isinstance(part, ast.stmt):
                    self._expression(part)
            return (inner,)
        return ()

    def _annotated(self, node: ast.AnnAssign) -> None:
        self._expression(node.target)
        if node.value is not None:
            self._expression(node.value)
        if isinstance(node.target, ast.Name):
            end = node.end_lineno or node.lineno
            made = node.value
            _bind(self._out, node.target.id, node.annotation, _op(made), node.lineno, end)
            self._special(node.target.id, made, node.lineno)

    def _assigned(self, node: ast.Assign) -> None:
        self._expression(node.value)
        for target in node.targets:
            self._expression(target)
            names = _names(target)
            values = _yielded(node.value)
            if len(names) == len(values) and isinstance(target, ast.Tuple):
                self._out.yields += [
                    (n, v, node.lineno + self._out.shift) for n, v in zip(names, values, strict=True) if n and v
                ]
            if isinstance(target, ast.Name):
                self._special(target.id, node.value, node.lineno)

    def _special(self, name: str, value: ast.expr | None, line: int) -> None:
        """Rings that are reserved, and tiles that come out of one."""
        line += self._out.shift
        op = _op(value)
        if op == "system.reserve_buffer" and isinstance(value, ast.Call):
            words = {word.arg: _number(word.value) for word in value.keywords if word.arg}
            size, base = words.get("size"), words.get("base")
            if size is not None and base is not None and 0 < size <= MAX_BYTES and 0 <= base <= MAX_BYTES:
                self._out.rings[name] = Ring(name, base, size, 1, line)
            else:
                self._out.notes.append(f"line {line}: ring {name} has no constant base and size, so it is not drawn")
        elif op.startswith("tile.tpop_from_"):
            self._out.popped.append((name, line))

    def _loop(self, node: ast.For, target: ast.expr, iterated: ast.expr) -> None:
        self._expression(target)
        self._expression(iterated)
        names = _names(target)
        if isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[1], ast.Tuple):
            names = _names(target.elts[1])
        initial: list[str] = []
        for word in iterated.keywords if isinstance(iterated, ast.Call) else ():
            if word.arg == "init_values":
                initial = _names(word.value)
        carried = tuple(pair for pair in zip(names, initial, strict=False) if all(pair)) if initial else ()
        self._out.loops.append(self._lines(node, carried))

    def _lines(self, node: ast.For | ast.While, carried: tuple[tuple[str, str], ...]) -> Loop:
        shift, end = self._out.shift, node.end_lineno or node.lineno
        return Loop(node.lineno + shift, node.body[0].lineno + shift, end + shift, carried)

    def _expression(self, node: ast.AST) -> None:
        """Note every name mentioned in an expression."""
        mentions = self._out.mentions
        pending: list[ast.AST] = [node]
        while pending:
            part = pending.pop()
            kind = type(part)
            if kind is ast.Name:
                line = part.lineno  # type: ignore[attr-defined]
                seen = mentions.get(part.id)  # type: ignore[attr-defined]
                if seen is None:
                    mentions[part.id] = [line, line]  # type: ignore[attr-defined]
                elif line > seen[1]:
                    seen[1] = line
                elif line < seen[0]:
                    seen[0] = line
            elif kind is ast.Call:
                pending += part.args  # type: ignore[attr-defined]
                pending += [word.value for word in part.keywords]  # type: ignore[attr-defined]
                pending.append(part.func)  # type: ignore[attr-defined]
                self._pipe(part)  # type: ignore[arg-type]
            elif kind is ast.Attribute:
                pending.append(part.value)  # type: ignore[attr-defined]
            elif kind is ast.List or kind is ast.Tuple:
                pending += part.elts  # type: ignore[attr-defined]
            elif kind is not ast.Constant:
                pending += ast.iter_child_nodes(part)

    def _pipe(self, call: ast.Call) -> None:
        """``aiv_initialize_pipe(ring, …, slot_size=, slot_num=)`` says into how many slots a ring is divided."""
        if not (isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_initialize_pipe")):
            return
        slots = next((_number(word.value) for word in call.keywords if word.arg == "slot_num"), None)
        for argument in call.args:
            ring = self._out.rings.get(argument.id) if isinstance(argument, ast.Name) else None
            if ring is not None and slots and 0 < slots <= MAX_SLOTS and ring.size % slots == 0:
                self._out.rings[ring.name] = Ring(ring.name, ring.offset, ring.size, slots, ring.line)


def _mention(out: Function, name: str, first: int, last: int) -> None:
    seen = out.mentions.setdefault(name, [first, last])
    seen[0], seen[1] = min(seen[0], first), max(seen[1], last)


def _bind(out: Function, name: str, annotation: ast.expr, op: str, line: int, end_line: int) -> None:
    """Note the tile that ``annotation`` describes; the first definition of a name counts."""
    inner = _tile(annotation)
    if inner is None or name in out.tiles or name in out.unplaced:
        return
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    shape = tuple(_written(item) for item in parts[0].elts) if parts and isinstance(parts[0], ast.List) else ()
    dtype = parts[1].attr if len(parts) > 1 and isinstance(parts[1], ast.Attribute) else ""
    space, memory, slot = "", None, False
    lines = (line + out.shift, end_line + out.shift)
    for part in parts[2:]:
        bare = part.value if isinstance(part, ast.Subscript) else part
        if isinstance(bare, ast.Call) and _last(bare.func) == "MemRef":
            memory, slot = bare, isinstance(part, ast.Subscript)
        elif isinstance(bare, ast.Attribute) and _last(bare.value) == "Mem":
            space = bare.attr
    if not space or space == "DDR" or memory is None or len(memory.args) < 3:
        if space and space != "DDR":
            out.unplaced[name] = Tile(name, space, "", (), 0, shape, dtype, op, *lines)
        return
    base, size = memory.args[0], _number(memory.args[2])
    if not isinstance(base, ast.Name) or size is None:
        return
    offsets = _offsets(memory, slot, size)
    if not 0 < size <= MAX_BYTES or not offsets or not all(0 <= at <= MAX_BYTES for at in offsets):
        out.notes.append(f"line {line + out.shift}: {name[:80]} has no address that can be drawn")
        return
    out.tiles[name] = Tile(name, space, base.id, offsets, size, shape, dtype, op, *lines)


def _offsets(memory: ast.Call, slot: bool, size: int) -> tuple[int, ...]:
    """The addresses of a MemRef: its constant, or every value its expression can take."""
    constant = _number(memory.args[1])
    if constant is not None and not slot:
        return (constant,)
    return _values(memory.args[1])


def _values(node: ast.expr) -> tuple[int, ...]:
    """Every value of an integer expression whose only variables stand under ``% N``; empty when it is another one."""
    cycles: dict[str, int] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
            by = _number(part.right)
            if by is not None and 0 < by <= MAX_SLOTS:
                cycles[ast.dump(part)] = by
    total = 1
    for by in cycles.values():
        total *= by
    if total > MAX_SLOTS:
        return ()
    found: set[int] = set()
    for choice in product(*(range(by) for by in cycles.values())):
        value = _evaluate(node, dict(zip(cycles, choice, strict=True)))
        if value is None:
            return ()
        found.add(value)
    return tuple(sorted(found))


def _evaluate(node: ast.expr, known: dict[str, int]) -> int | None:
    constant = _number(node)
    if constant is not None:
        return constant
    if not isinstance(node, ast.BinOp):
        return None
    if isinstance(node.op, ast.Mod):
        return known.get(ast.dump(node))
    left, right = _evaluate(node.left, known), _evaluate(node.right, known)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    return left * right if isinstance(node.op, ast.Mult) else None


def _tile(annotation: ast.expr) -> ast.expr | None:
    """What stands in the brackets of ``pl.Tile[…]``, also inside ``pl.Out[…]``."""
    for _ in range(3):
        if not isinstance(annotation, ast.Subscript):
            return None
        word = _last(annotation.value)
        if word == "Tile":
            return annotation.slice
        if word not in _CARRIERS:
            return None
        annotation = annotation.slice
    return None


def _number(node: ast.expr) -> int | None:
    """The integer of a literal or of ``pl.const(n, …)``."""
    if isinstance(node, ast.Call) and _last(node.func) == "const" and node.args:
        node = node.args[0]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    return None


def _op(value: ast.expr | None) -> str:
    """The callee without ``pl.``; empty when the value is no call."""
    if not isinstance(value, ast.Call):
        return ""
    return _written(value.func).removeprefix("pl.")


def _written(node: ast.expr) -> str:
    """The text of an expression; numbers and dotted names, which nearly all are, without the slow general way."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return str(node.value)
    parts: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    return ".".join([inner.id, *reversed(parts)]) if isinstance(inner, ast.Name) else ast.unparse(node)


def _names(node: ast.expr) -> list[str]:
    """Names of a name or a tuple of names, "" for what is no name."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return [part.id if isinstance(part, ast.Name) else "" for part in parts]


def _yielded(value: ast.expr) -> list[str]:
    if _op(value) != "yield_" or not isinstance(value, ast.Call):
        return []
    return [part.id if isinstance(part, ast.Name) else "" for part in value.args]


def _last(node: ast.expr) -> str:
    """The last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
