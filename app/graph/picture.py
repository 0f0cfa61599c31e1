"""Which picture of the dependency graph does a view ask for? Scene, layout and how they are cached.

Depths, edge masks and layouts are derived arrays of the store: computed once per capture and parameters, mapped by
every worker afterwards.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis import selection
from analysis.capture import EARLY_UNKNOWN, I4, Bool, Capture
from analysis.errors import NotAvailable, NotFoundError, SwimscopeError
from analysis.graph import prepared, reduction
from analysis.graph.layout import Layout, in_rows, layered
from analysis.graph.neighbourhood import adjacency, neighbourhood
from analysis.graph.prepared import Marks
from analysis.graph.scene import Scene, around_scene, fits_whole, path_scene, summary_scene, whole_scene
from analysis.graph.summary import backward_edges
from app.analyses.highlighted import highlighted_tasks, path_outcome
from app.server.services import Services
from app.shell.url_state import ViewState

KEPT_DRAWN = 16
BUDGET_S = 0.8
"""Time a layout may spend on fewer crossings."""
APART_MAX = 250
"""Tasks drawn one by one around each anchor of a summary."""
AROUND_MAX = 600
"""Tasks of a neighbourhood picture."""
GRAPH_CODES = (
    "self_edge",
    "dangling_edge",
    "dangling_tensor",
    "duplicate_task",
    "graph_mismatch",
    "hb_violation",
    "fanout_edges",
    "graph_nodes",
    "unknown_value",
    "unreadable_file",
)
"""Data-quality findings that change what the graph shows."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What a view draws. ``asked`` is the scope of the URL, ``scene.scope`` the one that was possible."""

    capture: Capture
    scene: Scene
    layout: Layout
    marks: Marks
    asked: str
    mode: str
    direction: str
    mode_counts: dict[str, int | None]
    """Edges each mode shows; None where it has not been computed."""
    notes: tuple[str, ...]

    @property
    def early_known(self) -> bool:
        """Does deps.json say which tasks may be dispatched early?"""
        flags = self.capture.tasks.early_dispatch[self.capture.tasks.listed]
        return bool((flags != EARLY_UNKNOWN).any())


def picture_key(services: Services, capture: Capture, view: ViewState) -> str:
    """Equal for views with equal pictures; found without building one.

    The selection counts only where it decides what is drawn: as path, as centre, or as a task that the groups hide.
    """
    show, selected = shown_scope(capture, view), selection.task_of(capture, view.sel)
    depends = ""
    if show == "path":
        depends = _path_kind(view.sel)
    elif (show == "around" and not _anchors(capture, view)) or (
        show == "summary" and selected >= 0 and selected not in _drawn_apart(services, capture, view)
    ):
        depends = str(selected)
    parts = [capture.meta.capture_id, view.show, show, view.mode, view.dir, str(view.gdepth), depends, *view.exp]
    return digest(*(part.encode("utf-8", "surrogateescape") for part in parts))


def _drawn_apart(services: Services, capture: Capture, view: ViewState) -> frozenset[int]:
    """The tasks that the summary of ``view`` draws one by one, before the selected one is added."""

    def make() -> frozenset[int]:
        parts = prepared.parts(services.store, capture)
        near = near_tasks(capture, _anchors(capture, view), view.gdepth)
        scene = summary_scene(capture, parts, _groups(view), near, None)
        return frozenset(scene.task[scene.task >= 0].tolist())

    key = (capture.meta.capture_id, view.exp, view.gdepth)
    return services.caches.get("graph tasks drawn", key, make, KEPT_DRAWN)


def shown_scope(capture: Capture, view: ViewState) -> str:
    """What part of the graph ``view`` shows; ``auto`` decides by selection and size."""
    if view.show != "auto":
        return view.show
    return "path" if _path_kind(view.sel) else "all" if fits_whole(capture) else "summary"


def _anchors(capture: Capture, view: ViewState) -> list[int]:
    """The expanded tasks."""
    return [at for at in (selection.task_of(capture, item) for item in view.exp) if at >= 0]


def _groups(view: ViewState) -> tuple[str, ...]:
    """The expanded groups."""
    return tuple(item for item in view.exp if not item.startswith("task:"))


def picture(services: Services, run_key: str, view: ViewState) -> Picture:
    """The picture of ``view``.

    Raises:
        NotAvailable: the capture has no dependency graph, or the mode or path cannot be computed.
    """
    capture = services.library.capture(run_key, view.launch)
    require_graph(capture)
    keep = edge_mask(services, capture, view.mode)
    scene, notes = scene_of(services, capture, view, keep)
    layout = layout_of(services, capture, scene, view.dir)
    counts = mode_counts(services, capture, view.mode)
    return Picture(
        capture,
        scene,
        layout,
        prepared.marks(services.store, capture),
        view.show,
        view.mode,
        view.dir,
        counts,
        (*notes, *scene.notes, *data_notes(services, capture, view.mode)),
    )


def data_notes(services: Services, capture: Capture, mode: str) -> list[str]:
    """What is odd about the graph's data: a cycle by name, repeated annotations, findings of the import."""
    if mode == "full" and len(capture.edges) > prepared.LARGE_EDGES:
        back = backward_edges(capture, prepared.parts(services.store, capture).level)
        found = [f"The graph has a cycle: {back:,} edges lead back. The other edge modes name it."] if back else []
    else:
        found = list(mode_edges(services, capture, mode).notes)
    repeated = prepared.repeated(services.store, capture)
    if repeated:
        found.append(f"{repeated:,} rows of edges[] repeat another row exactly; each edge is drawn once.")
    return found + [item.message for item in capture.meta.notices if item.code in GRAPH_CODES]


def require_graph(capture: Capture) -> None:
    """Raises NotAvailable when there is no dependency graph to draw."""
    if capture.meta.has_deps or capture.meta.edges_from_fanout:
        if capture.tasks.in_graph.any():
            return
        raise NotAvailable("deps.json lists neither tasks nor edges")
    raise NotAvailable(
        "deps.json is missing, and this container holds no fanout: put the deps.json of the run beside the swimlane file"
    )


def scene_of(services: Services, capture: Capture, view: ViewState, keep: Bool | None) -> tuple[Scene, list[str]]:
    """The scene of a view, and what the page has to say about it."""
    show = shown_scope(capture, view)
    selected = selection.task_of(capture, view.sel)
    anchors = _anchors(capture, view)
    if show == "all":
        return whole_scene(capture, keep), []
    if show == "around":
        return _around(capture, view, keep, anchors, selected)
    if show == "path":
        kind = _path_kind(view.sel) or "observed"
        tasks, path = highlighted_tasks(services, capture, f"path:{kind}"), path_outcome(services, capture, kind)
        text = f"The {kind} critical path: {len(tasks):,} tasks in start order. Dotted steps are not edges of the file."
        return path_scene(capture, tasks, tuple(path.tables[0][1].cells("stall_kind")), keep), [text, *path.notes]
    parts = prepared.parts(services.store, capture)
    groups = _groups(view)
    scene = summary_scene(capture, parts, groups, near_tasks(capture, anchors, view.gdepth), keep)
    if selected >= 0 and selected not in scene.task:
        scene = summary_scene(capture, parts, groups, near_tasks(capture, [*anchors, selected], view.gdepth), keep)
    return scene, []


def _path_kind(sel: str) -> str:
    """The path that a selection names, "" when it names none."""
    found = selection.parse(sel)
    return found.value if found is not None and found.kind == "path" else ""


def _around(
    capture: Capture, view: ViewState, keep: Bool | None, anchors: list[int], selected: int
) -> tuple[Scene, list[str]]:
    centre = anchors[-1] if anchors else selected
    if centre < 0:
        raise NotAvailable("select a task first: the picture shows its neighbourhood")
    if not capture.tasks.in_graph[centre]:
        raise NotAvailable("the selected task is not part of the dependency graph")
    return around_scene(capture, centre, view.gdepth, adjacency(capture), keep, AROUND_MAX), []


def near_tasks(capture: Capture, anchors: list[int], depth: int) -> I4:
    """Each anchor and the nearest tasks around it within ``depth`` edges (-1: all), at most :data:`APART_MAX` each."""
    if not anchors:
        return np.zeros(0, np.int32)
    links = adjacency(capture)
    found = [neighbourhood(capture, at, depth, max_nodes=APART_MAX, around=links).shown for at in anchors]
    return np.unique(np.concatenate(found)).astype(np.int32)


def lit(services: Services, capture: Capture, view: ViewState) -> list[str]:
    """Element ids of the tasks of a selected (or highlighted) chain or path; none for other selections."""
    spec = view.sel or view.hl
    found = selection.parse(spec)
    if spec != "chains" and (found is None or found.kind not in ("path", "chain")):
        return []
    try:
        tasks = highlighted_tasks(services, capture, spec)
    except (NotAvailable, NotFoundError):
        return []
    return [f"task:{int(task_id)}" for task_id in capture.tasks.task_id[tasks].tolist()]


def edge_mask(services: Services, capture: Capture, mode: str) -> Bool | None:
    """Which edges ``mode`` shows; None for all."""
    if mode == "full":
        return None
    found = mode_edges(services, capture, mode)
    keep = np.zeros(len(capture.edges), dtype=bool)
    keep[found.edge] = True
    return keep


def mode_edges(services: Services, capture: Capture, mode: str) -> reduction.EdgeSelection:
    """The edges of ``mode``, with what limits the answer (a cycle by name, missing annotations)."""
    return reduction.edges(capture, mode, masks=prepared.masks(services.store, capture, mode in prepared.DF_MODES))


def mode_counts(services: Services, capture: Capture, mode: str) -> dict[str, int | None]:
    """Edges of every mode; of a very large graph only those that the asked mode needs, the others are None."""
    counts: dict[str, int | None] = dict.fromkeys(reduction.MODES)
    counts["full"] = len(capture.edges)
    small = len(capture.edges) <= prepared.LARGE_EDGES
    if mode == "full" and not small:
        return counts
    masks = prepared.masks(services.store, capture, small or mode in prepared.DF_MODES)
    for key, drop, left in (("omitted", "omitted", "reduced"), ("omitted_df", "omitted-df", "reduced-df")):
        if key in masks:
            counts[drop] = int(np.asarray(masks[key]).sum())
            counts[left] = len(capture.edges) - int(np.asarray(masks[key]).sum())
    return counts


def layout_of(services: Services, capture: Capture, scene: Scene, direction: str) -> Layout:
    """The scene's layout: over the lines of the full mode, so that nodes keep their place when the mode changes."""
    if scene.scope == "path":
        return in_rows(scene.n_nodes, direction=direction.upper())
    frame = (scene.frame_pred, scene.frame_succ)
    name = digest(str(scene.n_nodes).encode(), direction.encode(), *(part.tobytes() for part in frame))
    kept = services.store.derived(
        capture,
        f"graph-layout-2-{name}",
        lambda: to_arrays(layered(scene.n_nodes, *frame, direction=direction.upper(), budget_s=BUDGET_S)),
    )
    return from_arrays(kept)


def to_arrays(layout: Layout) -> dict[str, Any]:
    """A layout as flat arrays for the store."""
    edges = sorted(layout.bends)
    points = [point for edge in edges for point in layout.bends[edge]]
    facts = [layout.crossings, layout.sweeps, int(layout.finished), layout.width, layout.height]
    return {
        "x": layout.x,
        "y": layout.y,
        "layer": layout.layer,
        "turned": layout.turned,
        "bent": np.array(edges, dtype=np.int64),
        "bends_of": np.cumsum([0, *(len(layout.bends[edge]) for edge in edges)]).astype(np.int64),
        "points": np.array(points, dtype=np.float64).reshape(-1, 2),
        "facts": np.array(facts, dtype=np.float64),
    }


def from_arrays(kept: dict[str, Any]) -> Layout:
    """The layout that :func:`to_arrays` took apart."""
    points = [tuple(point) for point in np.asarray(kept["points"]).tolist()]
    cuts = np.asarray(kept["bends_of"]).tolist()
    crossings, sweeps, finished, width, height = np.asarray(kept["facts"]).tolist()
    return Layout(
        np.asarray(kept["x"]),
        np.asarray(kept["y"]),
        np.asarray(kept["layer"]),
        np.asarray(kept["turned"]),
        {edge: tuple(points[cuts[i] : cuts[i + 1]]) for i, edge in enumerate(np.asarray(kept["bent"]).tolist())},
        int(crossings),
        int(sweeps),
        bool(finished),
        width,
        height,
    )


def possible(services: Services, run_key: str, view: ViewState) -> tuple[Picture, str]:
    """The picture of ``view``; where it is not possible, the automatic one and the reason.

    Raises:
        NotAvailable: the capture has no dependency graph at all.
    """
    require_graph(services.library.capture(run_key, view.launch))
    try:
        return picture(services, run_key, view), ""
    except SwimscopeError as error:
        sel = "" if _path_kind(view.sel) else view.sel
        return picture(services, run_key, replace(view, show="auto", mode="full", sel=sel)), str(error)


def digest(*parts: bytes) -> str:
    """A short stable name for content."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()[:20]
