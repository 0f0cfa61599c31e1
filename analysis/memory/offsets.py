"""Which addresses can an offset that is an expression take?

A double buffer prints ``0 + i % 2 * 16384``: the remainder by a constant takes few values, whatever ``i`` is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

MOST_VALUES = 64
"""An expression with more possible values is not drawn slot by slot."""

Ranges: TypeAlias = dict[str, tuple[int, int, int] | None]
"""(first, limit, step) of each loop index, ``None`` if its bounds are no constants."""

_MOST_DEPTH = 50
_LARGEST = 1 << 62
_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = MappingProxyType(
    {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.FloorDiv: lambda a, b: a // b,
        ast.Mod: lambda a, b: a % b,
    }
)


def possible_offsets(node: ast.expr, ranges: Mapping[str, tuple[int, int, int] | None]) -> set[int] | None:
    """Every value the expression can take, or ``None`` if that is not known or more than :data:`MOST_VALUES`.

    Operands are taken as independent, so a value that never occurs may be among them; none is missing.
    """
    return _values(node, ranges, 0)


def _values(node: ast.expr, ranges: Mapping[str, tuple[int, int, int] | None], depth: int) -> set[int] | None:
    if depth > _MOST_DEPTH:
        return None
    if isinstance(node, ast.Constant):
        return {node.value} if type(node.value) is int and abs(node.value) < _LARGEST else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "const" and node.args:
        return _values(node.args[0], ranges, depth + 1)
    if isinstance(node, ast.Name):
        bounds = ranges.get(node.id)
        if bounds is None:
            return None
        counted = range(*bounds)
        return set(counted) if counted[:MOST_VALUES] == counted else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATIONS:
        return None
    left, right = _values(node.left, ranges, depth + 1), _values(node.right, ranges, depth + 1)
    if left is None and isinstance(node.op, ast.Mod) and right is not None and len(right) == 1:
        divisor = next(iter(right))
        return set(range(divisor)) if 0 < divisor <= MOST_VALUES else None
    if left is None or right is None or (0 in right and isinstance(node.op, ast.FloorDiv | ast.Mod)):
        return None
    operation = _OPERATIONS[type(node.op)]
    values = {operation(a, b) for a in left for b in right}
    return values if len(values) <= MOST_VALUES and all(abs(v) < _LARGEST for v in values) else None
