"""Name maps: function or callable id to name, nested or flat (FORMATS section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.errors import InputError
from analysis.formats.registry import Format, Sections, Shape
from analysis.formats.report import Report
from analysis.formats.text.reading import integer, small


@dataclass(frozen=True)
class NameMap:
    """Names by function id."""

    names: dict[int, str]
    level: int | None
    orchestrator_name: str | None


def read(sections: Sections, source: str, report: Report) -> NameMap:
    """Decode a name map; entries that are no id or no text are counted and left out.

    Raises:
        InputError: the file holds no map of ids to names.
    """
    nested = small(sections.get("callable_id_to_name"), source, "callable_id_to_name")
    level = integer(small(sections.get("level"), source, "level"))
    orchestrator = small(sections.get("orchestrator_name"), source, "orchestrator_name")
    if nested is None:
        entries = {key: small(raw, source, key) for key, raw in sections.items() if integer(key) is not None}
        if not entries and "callable_id_to_name" not in sections:
            raise InputError(source, "", "no ids with names: not a name map", "Capture it again")
    else:
        entries = nested if isinstance(nested, dict) else {}
        report.add("wrong_type", int(not isinstance(nested, dict)), "name map")
    names: dict[int, str] = {}
    for key, name in entries.items():
        number = integer(key)
        if number is None or not 0 <= number < 2**31 or not isinstance(name, str):
            report.add("wrong_type", 1, "name map")
            continue
        names[number] = name
    return NameMap(names, level, orchestrator if isinstance(orchestrator, str) else None)


def _sniff(shape: Shape) -> bool:
    return "callable_id_to_name" in shape.keys or shape.flat_names


FORMAT = Format("name_map", "name_map", _sniff)
