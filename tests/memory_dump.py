"""A hand-made pass dump in which every look of the memory map occurs."""

from __future__ import annotations

from pathlib import Path

HOSTILE = "<img src=x onerror=window.hacked=1>&amp;"


def tile(name: str, base: str, offset: int, size: int, space: str = "Vec", shape: str = "[64, 16]") -> str:
    """One assignment of a tile."""
    memory = f"pl.MemRef({base}, pl.const({offset}, pl.INT64), {size})"
    return f"        {name}: pl.Tile[{shape}, pl.FP32, {memory}, pl.Mem.{space}] = pl.tile.load(a, [0, 0], [64, 16])"


def snapshot(shift: int = 0) -> str:
    """Two functions: ``looks`` has a view, a touch, a conflict, a loop-carried value and an unknown space; ``full`` fills Left.

    ``shift`` moves one tile up, which raises the high-water mark of ``looks``.
    """
    lines = [
        "import pypto.language as pl",
        "@pl.program",
        "class P:",
        "    @pl.function(type=pl.FunctionType.AIV)",
        "    def looks(self, a: pl.Tensor[[1], pl.FP32]):",
        tile("wide", "mem_0", 0, 4096),  # 6
        tile("narrow", "mem_0", 0, 1024),  # 7
        "        pl.use(wide, narrow)",  # 8
        tile("first", "mem_1", 8192, 4096),  # 9
        tile("second", "mem_2", 8192 + 2048, 4096),  # 10
        "        pl.use(first, second)",  # 11
        tile("third", "mem_3", 8192 + 2048, 4096),  # 12
        "        pl.use(third)",  # 13
        tile("touched", "mem_4", 8192 + 2048, 4096).replace("load(a", "load(third"),  # 14
        f"        # {HOSTILE} \u202eabc",  # 15
        tile("odd", "mem_5", 0, 512, "Strange", f'["{HOSTILE}", 16]'),  # 16
        tile("up", "mem_6", 32_768 + shift, 4096),  # 17
        "        for i, (carried,) in pl.range(0, 4, init_values=(wide,)):",  # 18
        "            pl.use(carried, touched, up)",  # 19
        "        return odd",
        "    @pl.function(type=pl.FunctionType.AIC)",
        "    def full(self, a: pl.Tensor[[1], pl.FP32]):",
        tile("left", "mem_7", 0, 65_536, "Left"),
        "        return left",
    ]
    return "\n".join(lines) + "\n"


def write_dump(folder: Path) -> Path:
    """``passes_dump`` below ``folder``: frontend, InitMemRef without addresses, AllocateMemoryAddr, and a later pass."""
    dump = folder / "passes_dump"
    dump.mkdir(parents=True)
    (dump / "00_frontend.py").write_text("import pypto.language as pl\n")
    unassigned = snapshot().replace("10240", "0").replace("8192", "0").replace("32768", "0")
    (dump / "01_after_InitMemRef.py").write_text(unassigned, "utf-8")
    (dump / "02_after_AllocateMemoryAddr.py").write_text(snapshot(), "utf-8")
    (dump / "03_after_Simplify.py").write_text(snapshot(1024), "utf-8")
    return dump
