"""Which task graphs does the sample generator know?

A *tile* is one repeated piece of a graph (a decode step, a layer). Shapes describe a tile through its tasks and their
arguments; edges follow from the arguments as the runtime derives them: a task depends on the creator of each tensor it
reads, and on its last writer where that is another task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

PREVIOUS = -1
"""Predecessor meaning "the exit task of the tile before"."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One device function: its name, core type and middle duration in 20 ns ticks."""

    name: str
    core_type: str
    ticks: int


@dataclass(frozen=True, slots=True)
class Arg:
    """One argument of a tile task; ``tensor`` indexes the shape's globals when ``shared``, else the tile's tensors."""

    direction: str
    tensor: int
    shared: bool
    dtype: str
    shape: tuple[int, ...]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """One dependency annotation inside a tile; ``arg`` is -1 for explicit edges."""

    pred: int
    succ: int
    arg: int
    source: str


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a tile: kernel slots (aic, aiv0, aiv1), -1 none; all -1 and not ``alloc`` is a dummy."""

    kernels: tuple[int, int, int]
    ring: int
    blocks: int
    early: bool
    manual: bool
    alloc: bool
    args: tuple[Arg, ...]

    @property
    def records(self) -> int:
        """Task records (blocks times used slots)."""
        return self.blocks * sum(k >= 0 for k in self.kernels)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A buffer: element type and count."""

    dtype: str
    numel: int


@dataclass(frozen=True, slots=True)
class Tile:
    """A repeated piece of a graph, in submit order."""

    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...]
    tensors: tuple[Tensor, ...]
    exit: int

    def cut(self, records: int) -> Tile:
        """Return the longest prefix of tasks that holds at most ``records`` records."""
        total = 0
        keep = 0
        for task in self.tasks:
            total += task.records
            if total > records:
                break
            keep += 1
        edges = tuple(e for e in self.edges if e.succ < keep)
        return Tile(self.tasks[:keep], edges, self.tensors, keep - 1)

    @property
    def records(self) -> int:
        """Task records of one tile."""
        return sum(t.records for t in self.tasks)


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything the generator needs to repeat tiles: kernels, shared tensors, variants of the tile and a filler task."""

    kernels: tuple[Kernel, ...]
    shared: tuple[Tensor, ...]
    variants: tuple[Tile, ...]
    filler: int
    """Index of the AIV kernel that fills up to the exact number of records."""


@dataclass(slots=True)
class TileBuilder:
    """Collect tasks in submit order and derive their edges from their arguments."""

    tasks: list[Task] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    creator: dict[int, int] = field(default_factory=dict)
    writer: dict[tuple[bool, int], int] = field(default_factory=dict)

    def tensor(self, dtype: str, numel: int) -> int:
        """Add a tensor that lives in the tile."""
        self.tensors.append(Tensor(dtype, numel))
        return len(self.tensors) - 1

    def alloc(self, ring: int, tensors: Sequence[int]) -> int:
        """Let the orchestrator allocate ``tensors``: a node that deps.json names in edges only."""
        self.creator.update(dict.fromkeys(tensors, len(self.tasks)))
        self.tasks.append(Task((-1, -1, -1), ring, 1, False, False, True, ()))
        return len(self.tasks) - 1

    def task(
        self,
        kernels: tuple[int, int, int],
        ring: int,
        args: Sequence[Arg] = (),
        *,
        blocks: int = 1,
        early: bool = False,
        manual: bool = False,
        after: Sequence[int] = (),
    ) -> int:
        """Submit a task; ``after`` adds explicit edges. Returns its index in the tile."""
        index = len(self.tasks)
        created: set[int] = set()
        for position, arg in enumerate(args):
            key = (arg.shared, arg.tensor)
            if arg.direction == "OUTPUT":
                self.creator[arg.tensor] = index
                continue
            owner = None if arg.shared else self.creator.get(arg.tensor)
            if owner is not None and owner not in created:
                created.add(owner)
                self.edges.append(Edge(owner, index, position, "creator"))
            last = self.writer.get(key)
            if last is not None and last != owner and last != index:
                self.edges.append(Edge(last, index, position, "tensormap"))
            if arg.direction == "INOUT":
                self.writer[key] = index
        self.edges.extend(Edge(pred, index, -1, "explicit") for pred in after)
        self.tasks.append(Task(kernels, ring, blocks, early, manual, False, tuple(args)))
        return index

    def build(self) -> Tile:
        """Freeze the tile; its exit is the last task."""
        return Tile(tuple(self.tasks), tuple(self.edges), tuple(self.tensors), len(self.tasks) - 1)


_F32, _BF16 = "FLOAT32", "BFLOAT16"


def _attention_tile(lengths: Sequence[int], mix_blocks: int, merge_blocks: int, *, dense: bool) -> Tile:
    """One decode step: rope (MIX), QK → SF → PV → UP per block and sequence, a join, and an SPMD merge."""
    b = TileBuilder()
    b.writer[(True, 3)] = PREVIOUS
    hidden = Arg("INOUT", 3, True, _BF16, (256, 5120))
    query = Arg("INOUT", 0, True, _BF16, (256, 128))
    rope = b.task((4, 5, 5), 1, (query, hidden), blocks=mix_blocks, early=True) if mix_blocks else PREVIOUS
    last_updates: list[int] = []
    for sequence, length in enumerate(lengths):
        acc = [b.tensor(_F32, n) for n in (16, 16, 2048, 2048)]
        b.alloc(1, acc)
        accumulators = tuple(Arg("INOUT", t, False, _F32, (16,) if i < 2 else (16, 128)) for i, t in enumerate(acc))
        update = -1
        for block in range(length):
            scores, weights, low, high, part = (b.tensor(_F32, n) for n in (2048, 4096, 16, 16, 2048))
            cache = (sequence * 64 + block) * 16384
            qk = b.task(
                (0, -1, -1),
                2,
                (
                    Arg("INPUT", 0, True, _BF16, (16, 128), sequence * 2048),
                    Arg("INPUT", 1, True, _BF16, (128, 128), cache),
                    Arg("OUTPUT", scores, False, _F32, (16, 128)),
                ),
            )
            sf = b.task(
                (-1, 1, -1),
                2,
                (
                    Arg("INPUT", scores, False, _F32, (16, 128)),
                    Arg("OUTPUT", weights, False, _BF16, (16, 128)),
                    Arg("OUTPUT", low, False, _F32, (16,)),
                    Arg("OUTPUT", high, False, _F32, (16,)),
                ),
                after=(rope,) if dense and rope >= 0 else (),
            )
            pv = b.task(
                (2, -1, -1),
                2,
                (
                    Arg("INPUT", weights, False, _BF16, (16, 128)),
                    Arg("INPUT", 2, True, _BF16, (128, 128), cache),
                    Arg("OUTPUT", part, False, _F32, (16, 128)),
                ),
                after=(qk, rope) if dense and rope >= 0 else (),
            )
            before = update
            update = b.task(
                (-1, 3, -1),
                2,
                (
                    Arg("INPUT", low, False, _F32, (16,)),
                    Arg("INPUT", high, False, _F32, (16,)),
                    Arg("INPUT", part, False, _F32, (16, 128)),
                    *accumulators,
                ),
                after=(qk, sf, rope)[: 3 if rope >= 0 else 2] if dense else (),
            )
            if dense and before >= 0:
                b.edges.append(
                    Edge(before, qk, -1, "explicit") if block % 16 == 15 else Edge(before, pv, -1, "explicit")
                )
        last_updates.append(update)
    join = b.task((-1, -1, -1), 1, manual=True, after=last_updates)
    b.task((-1, 6, -1), 1, (hidden,), blocks=merge_blocks, manual=True, after=(join,))
    return b.build()


def paged_attention(records: int, pick: Callable[[int], int], *, dense: bool = False) -> Shape:
    """Paged attention of a decode step, the shape users recognise: QK → SF → PV → UP per cache block.

    Args:
        records: total records wanted; small captures get small steps.
        pick: deterministic draw, ``pick(n)`` in ``range(n)``, for the ragged sequence lengths.
        dense: add explicit edges until there are about three unique edges per record (for benchmarks).
    """
    sequences = max(1, min(48, records // 250))
    longest = max(2, min(24, records // 24))
    mix = 0 if records < 40 else max(1, min(24, records // 100))
    merge = 1 if records < 40 else max(2, min(32, records // 60))
    variants = tuple(
        _attention_tile(
            [max(2, longest // 2) + pick(longest - max(2, longest // 2) + 1) for _ in range(sequences)],
            mix,
            merge,
            dense=dense,
        )
        for _ in range(3)
    )
    kernels = (
        Kernel("QK", "aic", 700),
        Kernel("SF", "aiv", 420),
        Kernel("PV", "aic", 640),
        Kernel("UP", "aiv", 190),
        Kernel("ROPE_KV_AIC", "aic", 1500),
        Kernel("ROPE_KV_AIV", "aiv", 1450),
        Kernel("MERGE_OUT", "aiv", 340),
    )
    cache = 48 * 64 * 16384
    shared = (Tensor(_BF16, 32768), Tensor(_BF16, cache), Tensor(_BF16, cache), Tensor(_BF16, 256 * 5120))
    return Shape(kernels, shared, variants, filler=6)


_LAYER_KERNELS = (
    Kernel("rms_recip", "aiv", 406),
    Kernel("q_proj", "aic", 1116),
    Kernel("k_proj", "aic", 1145),
    Kernel("v_proj", "aic", 914),
    Kernel("qk_norm", "aiv", 210),
    Kernel("rope_qkv", "aiv", 1022),
    Kernel("fa_fused_aic", "aic", 7762),
    Kernel("fa_fused_aiv", "aiv", 7737),
    Kernel("online_softmax", "aiv", 1226),
    Kernel("out_proj", "aic", 1196),
    Kernel("residual_rms_cast", "aiv", 290),
    Kernel("gate_proj", "aic", 2082),
    Kernel("up_proj", "aic", 2063),
    Kernel("silu", "aiv", 312),
    Kernel("down_proj", "aic", 1847),
    Kernel("dcr_xgamma", "aiv", 206),
)
_LAYER_ID = {kernel.name: index for index, kernel in enumerate(_LAYER_KERNELS)}


def _layer_tile(scale: float) -> Tile:
    """One decoder layer: projections, rope, fused attention (MIX), output, gated MLP; dummies as fences."""
    b = TileBuilder()

    def many(count: int) -> int:
        return max(1, round(count * scale))

    def group(name: str, count: int, after: Sequence[int], *, early: bool = False, ring: int = 3) -> list[int]:
        kernel = _LAYER_ID[name]
        aic = _LAYER_KERNELS[kernel].core_type == "aic"
        weight = 1 + kernel
        tasks = []
        for i in range(count):
            out = b.tensor(_BF16, 81920)
            args = (
                Arg("INPUT", weight, True, _BF16, (512, 128), i * 65536),
                Arg("OUTPUT", out, False, _BF16, (16, 128)),
            )
            slots = (kernel, -1, -1) if aic else (-1, kernel, -1)
            tasks.append(b.task(slots, ring, args, early=early, manual=True, after=after))
        return tasks

    def fence(after: Sequence[int]) -> int:
        return b.task((-1, -1, -1), 3, manual=True, after=after)

    work = b.tensor(_F32, 81920)
    b.alloc(2, (work,))
    b.writer[(True, 0)] = PREVIOUS
    hidden = Arg("INOUT", 0, True, _BF16, (16, 5120))
    rms = b.task((-1, _LAYER_ID["rms_recip"], -1), 2, (hidden, Arg("INOUT", work, False, _F32, (16, 5120))), early=True)
    q = group("q_proj", many(20), (rms,))
    k = group("k_proj", many(5), (rms,))
    v = group("v_proj", many(5), (rms,))
    norm = group("qk_norm", many(8), (*q, *k))
    rope = b.task((-1, _LAYER_ID["rope_qkv"], -1), 3, blocks=many(16), early=True, manual=True, after=(*norm, *v))
    fa = (_LAYER_ID["fa_fused_aic"], _LAYER_ID["fa_fused_aiv"], _LAYER_ID["fa_fused_aiv"])
    attention = b.task(fa, 3, blocks=many(24), early=True, manual=True, after=(rope,))
    soft = b.task((-1, _LAYER_ID["online_softmax"], -1), 3, blocks=many(48), manual=True, after=(attention,))
    out = group("out_proj", many(20), (soft,))
    gather = fence(out)
    residual = group("residual_rms_cast", many(5), (gather,), early=True)
    gate = group("gate_proj", many(34), residual)
    up = group("up_proj", many(34), residual)
    lanes = many(17)
    silu = [
        group("silu", 1, (*gate[i::lanes], *up[i::lanes]))[0] for i in range(lanes) if gate[i::lanes] or up[i::lanes]
    ]
    down = group("down_proj", many(34), silu)
    last = fence(down)
    b.task((-1, _LAYER_ID["dcr_xgamma"], -1), 2, (hidden,), blocks=many(5), manual=True, after=(last,))
    return b.build()


def decoder_layers(records: int) -> Shape:
    """Decoder layers in the manner of a 14B model: every layer the same, chained by the hidden state."""
    tile = _layer_tile(min(1.0, records / 700))
    shared = (Tensor(_BF16, 16 * 5120), *(Tensor(_BF16, 64 * 65536) for _ in _LAYER_KERNELS))
    return Shape(_LAYER_KERNELS, shared, (tile,), filler=_LAYER_ID["dcr_xgamma"])
