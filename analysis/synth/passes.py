"""Write a synthetic pass dump: a small seeded program that evolves over a dozen passes, of any size.

The text follows the dump grammar (ALGORITHMS.md, "IR trace") and every snapshot is valid Python. The passes do what the
real ones of that name do to a text: rename values, outline functions, move loads up, drop statements, add annotations.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.errors import ParameterError

_OPS = ("add", "mul", "exp", "sub", "maximum", "row_expand_div")
_TYPE = "[[64, 64], pl.FP32"
_TILE_BYTES = 16_384
_VEC_TILES = 11
_SCOPE = "with pl.at(level=pl.Level.CORE_GROUP):"


@dataclass(frozen=True, slots=True)
class _Value:
    """One statement: ``name = op(*args)``; ``slot`` is its buffer, ``base`` the allocation it uses."""

    name: str
    op: str
    args: tuple[str, ...]
    base: int = 0
    slot: int = 0


@dataclass(frozen=True, slots=True)
class _Program:
    """Kernels by name, and how far the compiler has come with them."""

    kernels: tuple[tuple[str, tuple[_Value, ...]], ...]
    ssa: bool = False
    outlined: bool = False
    room: str = "tensor"
    memory: str = ""


@dataclass(frozen=True, slots=True)
class SyntheticDump:
    """What was written: the directory and its files, in order."""

    path: Path
    files: tuple[Path, ...]


def write_passes(directory: str | Path, lines: int = 5_000, seed: int = 0) -> SyntheticDump:
    """Writes ``passes_dump`` below ``directory`` with about ``lines`` lines over all snapshots.

    The same arguments give the same bytes.

    Raises:
        ParameterError: fewer than 500 or more than 5,000,000 lines.
    """
    if not 500 <= lines <= 5_000_000:
        raise ParameterError(f"lines is {lines}, it must be 500 to 5,000,000")
    root = Path(directory) / "passes_dump"
    root.mkdir(parents=True, exist_ok=True)
    program = _frontend(lines // (len(_PASSES) + 1), random.Random(seed))
    files = [root / "00_frontend.py"]
    files[0].write_text(_text(program), encoding="utf-8")
    for index, (name, change) in enumerate(_PASSES, 1):
        program = change(program)
        text = _text(program)
        files.append(root / f"{index:02}_after_{name}.py")
        files[-1].write_text(text, encoding="utf-8")
        log = _log(files[-1].name, text) if name in _WARNS else ""
        if log:
            files.append(files[-1].with_suffix(".log"))
            files[-1].write_text(log, encoding="utf-8")
    return SyntheticDump(root, tuple(files))


def _frontend(lines: int, rng: random.Random) -> _Program:
    kernels = []
    for number in range(max(2, lines // 14)):
        values = [_Value("x", "load", ("a",)), _Value("y", "load", ("b",))]
        for at in range(rng.randint(5, 8)):
            if at == 3:
                values.append(_Value("late", "load", ("c",)))
            args = tuple(rng.choice(values).name for _ in range(2))
            values.append(_Value(f"v{at}", rng.choice(_OPS), args))
        values.insert(-1, _Value("unused", "exp", ("x",)))
        kernels.append((f"stage_{number}", tuple(values)))
    return _Program(tuple(kernels))


def _each(program: _Program, change: Callable[[tuple[_Value, ...]], tuple[_Value, ...]]) -> _Program:
    return replace(program, kernels=tuple((name, change(values)) for name, values in program.kernels))


def _simplify(values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    used = {arg for value in values for arg in value.args}
    return tuple(v for v in values if v.name in used or v is values[-1])


def _drop_dead(values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    return tuple(v for v in values if v.name != "unused")


def _loads_first(values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    return tuple(sorted(values, key=lambda v: v.op != "load"))


def _own_buffers(values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    return tuple(replace(v, base=at) for at, v in enumerate(values))


def _reuse(values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    return tuple(replace(v, base=at % 4, slot=at % 4) for at, v in enumerate(values))


def _same(program: _Program) -> _Program:
    return program


_PASSES: tuple[tuple[str, Callable[[_Program], _Program]], ...] = (
    ("InlineFunctions", _same),
    ("ConvertToSSA", lambda p: replace(p, ssa=True)),
    ("Simplify", _same),
    ("OutlineIncoreScopes", lambda p: replace(p, outlined=True)),
    ("ConvertTensorToTileOps", lambda p: replace(p, room="tile")),
    ("LowerCompositeOps", lambda p: _each(p, _drop_dead)),
    ("CanonicalizeIOOrder", lambda p: _each(p, _loads_first)),
    ("InitMemRef", lambda p: replace(_each(p, _own_buffers), memory="bases")),
    ("MemoryReuse", lambda p: _each(p, _reuse)),
    ("AllocateMemoryAddr", lambda p: replace(p, memory="addresses")),
    ("Simplify", lambda p: _each(p, _simplify)),
    ("MaterializeRuntimeScopes", _same),
)
_WARNS = ("ConvertToSSA", "OutlineIncoreScopes", "ConvertTensorToTileOps")


def _text(program: _Program) -> str:
    out = ["# pypto.program: synthetic", "import pypto.language as pl", "", "", "@pl.program", "class synthetic:"]
    main: list[str] = []
    for name, values in program.kernels:
        body = _body(program, values)
        if program.outlined:
            last = _name(program, values[-1].name)
            out.append("    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)")
            out.append(f"    def {name}_incore_0(a, b, c, out):")
            out += [f"        {line}" for line in body]
            out += [f"        {last}__out = pl.{program.room}.store({last}, [0, 0], out)", "        return out", ""]
            main.append(f"        self.{name}_incore_0(a, b, c, out)")
        else:
            last = _name(program, values[-1].name)
            main.append(f"        {_SCOPE}")
            main += [f"            {line}" for line in body]
            main.append(f"            {last}__out = pl.{program.room}.store({last}, [0, 0], out)")
    out.append("    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)")
    out += ["    def main(self, a, b, c, out):", *main, "        return out"]
    return "\n".join(out) + "\n"


def _body(program: _Program, values: tuple[_Value, ...]) -> list[str]:
    out: list[str] = []
    if program.memory:
        bases = sorted({v.base for v in values})
        out += [f"mem_vec_{base}: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, {_TILE_BYTES})" for base in bases]
    tiles = program.room == "tile"
    for value in values:
        memory = ""
        if program.memory:
            offset = value.slot % _VEC_TILES * _TILE_BYTES if program.memory == "addresses" else 0
            memory = f", pl.MemRef(mem_vec_{value.base}, pl.const({offset}, pl.INT64), {_TILE_BYTES})"
        kind = f"pl.Tile{_TYPE}{memory}, pl.Mem.Vec]" if tiles else f"pl.Tensor{_TYPE}]"
        args = ", ".join(arg if value.op == "load" else _name(program, arg) for arg in value.args)
        out.append(f"{_name(program, value.name)}: {kind} = pl.{program.room}.{value.op}({args})")
    return out


def _name(program: _Program, name: str) -> str:
    return f"{name}__{'tile' if program.room == 'tile' else 'ssa_v0'}" if program.ssa else name


def _log(file: str, text: str) -> str:
    """A warning, with its quoted line, for each of the first few values that nothing uses."""
    out: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        name = line.strip().partition(":")[0]
        if name.startswith("unused"):
            column = len(line) - len(line.lstrip()) + 1
            words = f"warning: Unused variable '{name}' in function 'main' [UnusedVariableCheck]"
            out += [f"build/passes_dump/{file}:{number}:{column}: {words}", f" {number} | {line}"]
            out += [f"   | {' ' * (column - 1)}^{'~' * (len(name) - 1)}", ""]
            if len(out) >= 20:
                break
    return "\n".join(out)
