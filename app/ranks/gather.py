"""What is known of each rank of a tree? Facts of captures that were opened, kept by content; the others are opened in jobs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import NotFoundError, SwimscopeError
from analysis.files import write_atomically
from analysis.ranks.facts import RankFacts, rank_facts
from analysis.ranks.tree import Member, RankTree, find_tree
from app.runs.library import Run, run_key
from app.server.services import Services

AT_A_TIME = 16
"""Captures whose facts one look computes; a page that waits looks again."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Facts per (dispatch, rank), how many captures are still to be read, and why some cannot be."""

    tree: RankTree
    facts: dict[tuple[str, str], RankFacts]
    waiting: int
    problems: tuple[str, ...]


def tree_of(services: Services, key: str) -> RankTree:
    """The rank tree that a run belongs to.

    Raises:
        NotFoundError: the run is no capture of a rank tree.
    """
    run = services.library.run(key)
    root = tree_root(run)
    if root is None:
        raise NotFoundError(f"{run.row.name} is not below a rankN/dN directory, so there are no ranks to compare")
    return find_tree(root)


def tree_root(run: Run) -> Path | None:
    """The directory that holds the ranks of a run's tree, None when the run has no rank."""
    parts = Path(run.disk.relative).parts
    ranked = [at for at, part in enumerate(parts) if part.startswith("rank") and part[4:].isdigit()]
    if not ranked:
        return None
    top = ranked[0]
    while top and parts[top - 1].startswith(("node", "network")) and parts[top - 1].lstrip("networkd").isdigit():
        top -= 1
    source = run.source if run.source.is_dir() else run.source.parent
    return source.parents[len(parts) - top - 1]


def gather(services: Services, key: str) -> Gathered:
    """The facts there are; opens what is small in this call and starts jobs for the rest.

    Raises:
        NotFoundError: the run is no capture of a rank tree.
    """
    run = services.library.run(key)
    tree = tree_of(services, key)
    facts: dict[tuple[str, str], RankFacts] = {}
    problems: list[str] = []
    waiting, computed = 0, 0
    for dispatch in tree.dispatches:
        for member in dispatch.members:
            if not member.has_swimlane:
                problems.append(f"{member.relative}: no swimlane file")
                continue
            found, fresh = _facts(services, run, member, computed < AT_A_TIME, problems)
            computed += fresh
            if found is None:
                waiting += 1
            elif isinstance(found, RankFacts):
                facts[dispatch.key, member.rank] = found
    return Gathered(tree, facts, waiting, (*tree.problems, *problems))


def member_key(run: Run, member: Member) -> str:
    """The run key of another rank of the same tree."""
    base = run.source if run.source.is_dir() else run.source.parent
    for _ in Path(run.disk.relative).parts:
        base = base.parent
    return run_key(run.row.root, member.path.relative_to(base).as_posix())


def _facts(
    services: Services, run: Run, member: Member, may_compute: bool, problems: list[str]
) -> tuple[RankFacts | str | None, int]:
    """(facts, an error's text, or None while it is read; 1 when they were computed now)."""
    try:
        other = services.library.run(member_key(run, member))
        file = services.settings.data_dir / "ranks" / f"{other.key}-{other.signature}.json"
        if file.is_file():
            return RankFacts.from_json(json.loads(file.read_bytes())), 0
        if other.row.error:
            problems.append(f"{member.relative}: {other.row.error}")
            return other.row.error, 0
        if not may_compute:
            return None, 0
        small = other.row.size_bytes <= services.settings.inline_open_max_bytes
        if not small and not services.library.ready(other):
            services.jobs.start(services.library.job(other.key, 0))
            return None, 0
        made = rank_facts(services.library.capture(other.key))
    except NotFoundError:
        return None, 0  # the scan has not reached it yet
    except SwimscopeError as error:
        problems.append(f"{member.relative}: {error}")
        return str(error), 0
    write_atomically(file, json.dumps(made.to_json()).encode())
    return made, 1
