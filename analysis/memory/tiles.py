"""What does one function bind to on-chip memory, and on which lines is each name mentioned?

One walk over the function's syntax tree collects tiles (annotated parameters and assignments), loop-carried and yielded
names, reserved rings, allocations, loops and the mentions of every name. Grammar: docs/ALGORITHMS.md, "Dump grammar".
All lines are lines of the file.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from analysis.errors import InputError
from analysis.memory.offsets import Ranges, possible_offsets

LARGEST_BYTES = 1 << 48
"""No address or size may be larger: sums stay exact in every door (JSON, browser, numpy)."""
DDR = "DDR"
_OFF_CHIP = (DDR, "")
_MOST_DIGITS = 80


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a tile is: offsets (several for a buffer of slots), ``exact`` if the dump states one constant."""

    space: str
    base: str
    offsets: tuple[int, ...]
    size_bytes: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Tile:
    """One ``pl.Tile`` binding: the first definition of ``name``. ``memory`` is ``None`` without a MemRef."""

    name: str
    space: str
    shape: tuple[int | str, ...]
    dtype: str
    op: str
    start_line: int
    def_end_line: int
    memory: Memory | None


@dataclass(frozen=True, slots=True)
class Carried:
    """A name without annotation that holds another name's tile: a loop-carried value or a result of ``pl.yield_``."""

    name: str
    carries: str
    start_line: int
    end_line: int  # of the loop, or of the statement
    is_loop: bool


@dataclass(frozen=True, slots=True)
class Ring:
    """``pl.system.reserve_buffer``: bytes that another core writes into."""

    name: str
    size_bytes: int
    offset: int
    line: int


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its first line, the first line of its body, its last line."""

    start_line: int
    body_line: int
    end_line: int


@dataclass(slots=True)
class FunctionFacts:
    """Everything one walk found in a function."""

    tiles: dict[str, Tile] = field(default_factory=dict)
    carried: list[Carried] = field(default_factory=list)
    rings: list[Ring] = field(default_factory=list)
    alloc_bytes: dict[str, tuple[str, int]] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    mentions: dict[str, list[int]] = field(default_factory=dict)


def scan(node: ast.FunctionDef, line_shift: int, source: str) -> FunctionFacts:
    """Walk one function.

    Raises:
        InputError: a number is out of bounds or an expression is nested too deeply; the message names the line.
    """
    return _Scan(line_shift, source).run(node)


class _Scan:
    def __init__(self, line_shift: int, source: str) -> None:
        self.shift = line_shift
        self.source = source
        self.facts = FunctionFacts()
        self.ranges: Ranges = {}

    def run(self, node: ast.FunctionDef) -> FunctionFacts:
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            line = argument.lineno + self.shift
            self.facts.mentions.setdefault(argument.arg, []).append(line)
            if argument.annotation is not None:
                end = (argument.end_lineno or argument.lineno) + self.shift
                self.bind(argument.arg, argument.annotation, None, line, end)
                self.mention(argument.annotation)
        for expression in [*node.decorator_list, *arguments.defaults, node.returns]:
            if expression is not None:
                self.mention(expression)
        self.block(node.body)
        return self.facts

    def block(self, body: list[ast.stmt]) -> None:
        """Statements in source order; nesting is at most the 100 indents that Python's parser admits."""
        for statement in body:
            if isinstance(statement, ast.AnnAssign):
                self.annotated(statement)
            elif isinstance(statement, ast.Assign):
                self.assigned(statement)
            elif isinstance(statement, ast.For | ast.While):
                self.loop(statement)
            elif isinstance(statement, ast.If):
                self.branches(statement)
            elif isinstance(statement, ast.With):
                for item in statement.items:
                    self.mention(item)
                self.block(statement.body)
            else:
                self.mention(statement)

    def branches(self, statement: ast.If) -> None:
        """``if``/``elif``/``else``; a chain of ``elif`` nests in the tree without an indent, hence the loop."""
        while True:
            self.mention(statement.test)
            self.block(statement.body)
            if len(statement.orelse) != 1 or not isinstance(statement.orelse[0], ast.If):
                self.block(statement.orelse)
                return
            statement = statement.orelse[0]

    def annotated(self, statement: ast.AnnAssign) -> None:
        target = statement.target
        if isinstance(target, ast.Name):
            start = statement.lineno + self.shift
            end = (statement.end_lineno or statement.lineno) + self.shift
            self.bind(target.id, statement.annotation, statement.value, start, end)
            if isinstance(statement.value, ast.Call):
                self.system_call(target.id, statement.value, start)
        self.mention(target)
        self.mention(statement.annotation)
        if statement.value is not None:
            self.mention(statement.value)

    def assigned(self, statement: ast.Assign) -> None:
        value = statement.value
        if isinstance(value, ast.Call) and _callee(value.func) == "yield_":
            start, end = statement.lineno + self.shift, (statement.end_lineno or statement.lineno) + self.shift
            targets = [name for target in statement.targets for name in _names(target)]
            for name, given in zip(targets, value.args, strict=False):
                if isinstance(given, ast.Name) and name:
                    self.facts.carried.append(Carried(name, given.id, start, end, False))
        self.mention(statement)

    def loop(self, statement: ast.For | ast.While) -> None:
        start, end = statement.lineno + self.shift, (statement.end_lineno or statement.lineno) + self.shift
        self.facts.loops.append(Loop(start, statement.body[0].lineno + self.shift, end))
        if isinstance(statement, ast.For):
            self.loop_values(statement, start, end)
            self.mention(statement.target)
            self.mention(statement.iter)
        else:
            self.mention(statement.test)
        self.block(statement.body)
        self.block(statement.orelse)

    def loop_values(self, statement: ast.For, start: int, end: int) -> None:
        call, target = statement.iter, statement.target
        if not isinstance(call, ast.Call):
            return
        init = next((k.value for k in call.keywords if k.arg == "init_values"), None)
        first = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if isinstance(target, ast.Name):
            index: ast.expr | None = target
            carried: ast.expr | None = None
        elif isinstance(target, ast.Tuple) and first != "while_" and len(target.elts) == 2 and init is not None:
            index, carried = target.elts
        else:
            index, carried = None, target
        if isinstance(index, ast.Name):
            self.ranges[index.id] = _counts(call)
        if carried is None or not isinstance(init, ast.Tuple | ast.List):
            return
        for name, given in zip(_names(carried), init.elts, strict=False):
            if isinstance(given, ast.Name) and name:
                self.facts.carried.append(Carried(name, given.id, start, end, True))

    def bind(self, name: str, annotation: ast.expr, value: ast.expr | None, start: int, end: int) -> None:
        """Record ``name`` if the annotation is a ``pl.Tile`` and it is the name's first definition."""
        parts = _type_parts(annotation, "Tile")
        if parts is None or name in self.facts.tiles:
            return
        shape = tuple(_dimension(d) for d in parts[0].elts) if isinstance(parts[0], ast.List | ast.Tuple) else ()
        dtype = _callee(parts[1]) if len(parts) > 1 else ""
        space, reference = "", None
        for part in parts[2:]:
            if isinstance(part, ast.Attribute) and not space:
                space = part.attr
            elif _is_memref(part):
                reference = part
        op = "param" if value is None else _callee(value.func, full=True) if isinstance(value, ast.Call) else ""
        memory = self.memory(reference, space, start) if reference is not None and space not in _OFF_CHIP else None
        self.facts.tiles[name] = Tile(name, space, shape, dtype, op, start, end, memory)

    def memory(self, reference: ast.expr, space: str, line: int) -> Memory | None:
        """A ``pl.MemRef(base, offset, size[, slots=N])[index]``; ``None`` for off-chip memory or an unknown size."""
        indexed = isinstance(reference, ast.Subscript)
        call = reference.value if isinstance(reference, ast.Subscript) else reference
        if not isinstance(call, ast.Call) or len(call.args) < 3 or not isinstance(call.args[0], ast.Name):
            return None
        base, size = call.args[0].id, self.number(call.args[2], line)
        if size is None:
            return None
        offset = self.number(call.args[1], line)
        slots = next((self.number(k.value, line) for k in call.keywords if k.arg == "slots"), None)
        if offset is not None and not indexed and not slots:
            return Memory(space, base, (offset,), size, True)
        if offset is not None and slots:
            offsets, size = _slots(offset, size, slots)
        else:
            found = possible_offsets(call.args[1], self.ranges)
            offsets = tuple(sorted(o for o in found if 0 <= o <= LARGEST_BYTES)) if found is not None else ()
        return Memory(space, base, offsets, self.bounded(size, line), False)

    def system_call(self, name: str, call: ast.Call, line: int) -> None:
        callee = _callee(call.func)
        if callee == "alloc" and len(call.args) >= 2 and isinstance(call.args[0], ast.Attribute):
            size = self.number(call.args[1], line)
            if size is not None:
                self.facts.alloc_bytes[name] = (call.args[0].attr, size)
        elif callee == "reserve_buffer":
            given = {k.arg: self.number(k.value, line) for k in call.keywords if k.arg in ("size", "base")}
            size, base = given.get("size"), given.get("base")
            if size is not None and base is not None:
                self.facts.rings.append(Ring(name, size, base, line))

    def number(self, node: ast.expr, line: int) -> int | None:
        """A constant ``5`` or ``pl.const(5, pl.INT64)``; ``None`` for anything else, negative numbers included."""
        if isinstance(node, ast.Call) and node.args and _callee(node.func) == "const":
            node = node.args[0]
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self.bounded(node.value, line)
        return None

    def bounded(self, value: int, line: int) -> int:
        if value > LARGEST_BYTES:
            stated = str(value) if value < 10**_MOST_DIGITS else "a number of more than 80 digits"
            reason = f"{stated} is no address or size of on-chip memory"
            raise InputError(self.source, f"line {line}", reason, "Compile again; the dump is damaged.")
        return value

    def mention(self, root: ast.AST) -> None:
        """Note the line of every name below ``root``, without recursion; ``pl`` in a dotted name is not one of them."""
        mentions, shift = self.facts.mentions, self.shift
        stack: list[ast.AST] = [root]
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            kind = node.__class__
            if kind is ast.Name:
                name, line = node.id, node.lineno + shift  # type: ignore[attr-defined]
                if name in mentions:
                    mentions[name].append(line)
                else:
                    mentions[name] = [line]
            elif kind is ast.Attribute:
                value = node.value  # type: ignore[attr-defined]
                while value.__class__ is ast.Attribute:
                    value = value.value
                if value.__class__ is not ast.Name or value.id != "pl":
                    push(value)
            elif kind is ast.Call:
                push(node.func)  # type: ignore[attr-defined]
                stack += node.args  # type: ignore[attr-defined]
                for keyword in node.keywords:  # type: ignore[attr-defined]
                    push(keyword.value)
            elif kind is ast.List or kind is ast.Tuple:
                stack += node.elts  # type: ignore[attr-defined]
            elif kind is not ast.Constant:
                stack += ast.iter_child_nodes(node)


def _slots(offset: int, size: int, slots: int) -> tuple[tuple[int, ...], int]:
    """Offsets and size per slot; more than 64 slots are drawn as the one range they fill."""
    if slots > 64:
        return (offset,), size * slots
    return tuple(offset + slot * size for slot in range(slots)), size


def _counts(call: ast.Call) -> tuple[int, int, int] | None:
    """(first, limit, step) of a loop whose bounds are constants."""
    bounds = [a.value for a in call.args if isinstance(a, ast.Constant) and type(a.value) is int]
    if len(bounds) != len(call.args) or not 1 <= len(bounds) <= 3:
        return None
    first, limit, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: tuple(bounds)}[len(bounds)]
    return (first, limit, step) if step > 0 else None


def _type_parts(annotation: ast.expr, wanted: str) -> list[ast.expr] | None:
    """Arguments of ``pl.Tile[…]``, also inside a wrapper such as ``pl.Out[…]``."""
    for _ in range(3):
        if not isinstance(annotation, ast.Subscript):
            return None
        inside = annotation.slice
        if isinstance(annotation.value, ast.Attribute) and annotation.value.attr == wanted:
            return inside.elts if isinstance(inside, ast.Tuple) and inside.elts else [inside]
        annotation = inside
    return None


def _is_memref(node: ast.expr) -> bool:
    call = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(call, ast.Call) and _callee(call.func) == "MemRef"


def _callee(node: ast.expr, full: bool = False) -> str:
    """``load`` of ``pl.tile.load``; with ``full`` ``tile.load``, as the reference writes an operation."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        if not full:
            return parts[0]
        node = node.value
    if isinstance(node, ast.Name) and (node.id != "pl" or not parts):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _names(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Tuple | ast.List):
        return [element.id if isinstance(element, ast.Name) else "" for element in target.elts]
    return [target.id] if isinstance(target, ast.Name) else []


def _dimension(node: ast.expr) -> int | str:
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value <= LARGEST_BYTES:
        return node.value
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"
