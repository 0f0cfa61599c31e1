"""Random small captures for comparing an analysis with a slow, obvious version of it."""

from __future__ import annotations

from hypothesis import strategies as st

from analysis.capture import EARLY_NO, EARLY_YES, Capture, TaskKind
from tests.builders import Phase, Rec, Spec, build

TASKS = 8
UNTIMED = (TaskKind.ALLOC, TaskKind.DUMMY)


@st.composite
def records(draw: st.DrawFn) -> list[Rec]:
    """Up to 14 records of 8 tasks on 4 cores; stamps may be equal, overlap, and stand in any order."""
    out = []
    for _ in range(draw(st.integers(0, 14))):
        start = draw(st.integers(0, 60))
        end = start + draw(st.integers(0, 20))
        receive = start - draw(st.integers(0, 3))
        dispatch = draw(st.integers(0, 70))
        finish = end + draw(st.integers(0, 6))
        task, core, func = draw(st.integers(0, TASKS - 1)), draw(st.integers(0, 3)), draw(st.integers(-1, 3))
        out.append(Rec(task, core, start, end, receive, dispatch, finish, func))
    return out


@st.composite
def specs(draw: st.DrawFn, level: int = 2) -> Spec:
    """Random records, edges (self edges and cycles included), kinds and marks."""
    rows = draw(records())
    timed = {r.task for r in rows}
    node = st.integers(0, TASKS - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=14))
    kinds = {t: draw(st.sampled_from(UNTIMED)) for t in range(TASKS) if t not in timed}
    early = {t: draw(st.sampled_from((EARLY_NO, EARLY_YES))) for t in range(TASKS)}
    return Spec(records=rows, edges=edges, kinds=kinds, early=early, level=level)


def captures(level: int = 2) -> st.SearchStrategy[Capture]:
    """Captures of :func:`specs`."""
    return specs(level).map(build)


@st.composite
def loops(draw: st.DrawFn) -> Capture:
    """Captures with scheduler phases of two threads, overlapping ones included, and an empty thread 5."""
    phases = []
    for _ in range(draw(st.integers(1, 12))):
        start = draw(st.integers(0, 50))
        pops = draw(st.sampled_from(((-1, -1), (0, 0), (3, 1), (0, 4))))
        phases.append(
            Phase(
                stream=draw(st.sampled_from((0, 2))),
                kind=draw(st.sampled_from(("complete", "dispatch", "resolve"))),
                start=start,
                end=start + draw(st.integers(0, 9)),
                lane=draw(st.sampled_from((0, 1))),
                processed=draw(st.integers(-1, 3)),
                hit=pops[0],
                miss=pops[1],
            )
        )
    return build(Spec(phases=phases, level=3, streams=(0, 2, 5)))
