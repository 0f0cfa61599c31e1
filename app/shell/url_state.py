"""What does a URL say? The single place that declares, decodes and encodes URL state.

Paths: ``/`` runs, ``/r/<run>`` overview, ``/r/<run>/<page>``. Query keys are the fields of :class:`ViewState`; every
field has a default, is left out when it equals the default, and falls back to it with a :class:`Problem` when the text
in the URL cannot be used. Ids stay text, ticks are decimal integers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from analysis import selection
from analysis.errors import ParameterError

MAX_TICKS = 2**61
"""Far beyond any run; the browser holds it exactly, and window plus padding stays below what routes accept."""
STORED_LINK_KEY = "s"
STEPS = ("0", "1", "2", "3", "5", "-1")
"""Numbers of dependency steps that pages offer."""
PLAIN_PAGES = ("admin",)
"""Pages that belong to no run, beside the home page."""
_RUN_PATH = re.compile(r"^/r/([^/]+)(?:/([^/]*))?/?$")
_MEASURE = re.compile(r"^(-?\d{1,19}):(-?\d{1,19})$")


@dataclass(frozen=True, slots=True)
class Problem:
    """A key of the URL that could not be used, and why; the default was taken."""

    key: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Codec:
    """How one kind of value is written; ``decode`` raises ValueError with a reason for the user."""

    decode: Callable[[str], Any]
    encode: Callable[[Any], str]


def integer_codec(low: int, high: int) -> Codec:
    """A whole number from ``low`` to ``high``."""

    def decode(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,20}", text):
            raise ValueError("not a whole number")
        value = int(text)
        if not low <= value <= high:
            raise ValueError(f"not between {low} and {high}")
        return value

    return Codec(decode, str)


def number_codec(low: float, high: float) -> Codec:
    """A decimal number from ``low`` to ``high``."""

    def decode(text: str) -> float:
        if not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,9})?", text):
            raise ValueError("not a number")
        value = float(text)
        if not low <= value <= high:
            raise ValueError(f"not between {low:g} and {high:g}")
        return value

    return Codec(decode, lambda value: f"{value:.9f}".rstrip("0").rstrip("."))


def choice_codec(*choices: str) -> Codec:
    """One of ``choices``."""

    def decode(text: str) -> str:
        if text not in choices:
            raise ValueError("not one of " + ", ".join(choices))
        return text

    return Codec(decode, str)


def text_codec(max_chars: int) -> Codec:
    """Text of at most ``max_chars`` characters."""

    def decode(text: str) -> str:
        if len(text) > max_chars:
            raise ValueError(f"longer than {max_chars} characters")
        return text

    return Codec(decode, str)


def list_codec(max_items: int) -> Codec:
    """Comma-joined texts; a comma or percent sign inside an item is percent-encoded once more."""

    def decode(text: str) -> tuple[str, ...]:
        items = tuple(unquote(part) for part in text.split(",") if part)
        if len(items) > max_items:
            raise ValueError(f"more than {max_items} items")
        return items

    def encode(items: tuple[str, ...]) -> str:
        return ",".join(item.replace("%", "%25").replace(",", "%2C") for item in items)

    return Codec(decode, encode)


def selection_codec(*words: str) -> Codec:
    """A selection, or one of ``words``."""

    def decode(text: str) -> str:
        if text in words or selection.parse(text) is not None:
            return text
        raise ValueError("names no task, group, function, chain, path or gap")

    return Codec(decode, str)


def _steps() -> Codec:
    """A number of steps that the page offers (see :data:`STEPS`)."""

    def decode(text: str) -> int:
        if text not in STEPS:
            raise ValueError("not one of " + ", ".join(STEPS) + " (-1 for all)")
        return int(text)

    return Codec(decode, str)


def _measure() -> Codec:
    def decode(text: str) -> str:
        match = _MEASURE.match(text)
        if not match:
            raise ValueError("not START:END in ticks")
        low, high = int(match.group(1)), int(match.group(2))
        if max(abs(low), abs(high)) > MAX_TICKS or low >= high:
            raise ValueError("not START:END in ticks with START before END")
        return text

    return Codec(decode, str)


_TICKS = integer_codec(-MAX_TICKS, MAX_TICKS)


@dataclass(frozen=True, slots=True)
class Key:
    """A URL key that belongs to one feature; its value is read with :meth:`ViewState.own_value`."""

    name: str
    codec: Codec
    default: Any
    doc: str
    follow: bool = False
    """Whether links to other pages carry it."""


def _key(codec: Codec, default: Any, doc: str, follow: bool = True) -> Any:
    """A field: how it is written, its default, its meaning, and whether links to other pages carry it."""
    return field(default=default, metadata={"codec": codec, "doc": doc, "follow": follow})


@dataclass(frozen=True, slots=True)
class ViewState:
    """Everything a URL can say about what is shown."""

    sel: str = _key(selection_codec(), "", "The selection: task, group, func, chain, path or gap and its id.")
    hl: str = _key(
        selection_codec("search", "early", "chains"), "", "The highlight: like sel, or search, early, chains."
    )
    launch: int = _key(integer_codec(0, 1_000_000), 0, "Which launch of a file that holds several.")
    t0: int | None = _key(_TICKS, None, "Start of the visible window, ticks after the capture's zero.")
    t1: int | None = _key(_TICKS, None, "End of the visible window, ticks after the capture's zero.")
    view: str = _key(choice_codec("worker", "scheduler", "phases", "orch"), "worker", "Which lanes the swimlane shows.")
    depth: int = _key(_steps(), 1, "How many dependency steps are drawn; -1 for all.")
    labels: str = _key(choice_codec("func", "id", "both", "none"), "func", "What is written on a bar.")
    setup: str = _key(choice_codec("apart", "in", "hidden"), "apart", "How setup time is drawn.")
    mk: tuple[str, ...] = _key(list_codec(100), (), "Markers.")
    mz: str = _key(_measure(), "", "Measured range, START:END in ticks.")
    pin: tuple[str, ...] = _key(list_codec(1_100), (), "Lanes pinned to the top.")
    hide: tuple[str, ...] = _key(list_codec(1_100), (), "Lanes that are hidden.")
    lanes: str = _key(text_codec(200), "", "Filter on lanes by type, number or function.")
    deps: str = _key(choice_codec("both", "pred", "succ", "none"), "both", "Which dependency lines are drawn.")
    y: int = _key(integer_codec(0, 1_000_000), 0, "First visible row of the swimlane.")
    item: str = _key(text_codec(20), "", "Focused item of the swimlane, such as r12 for record 12.", follow=False)
    tab: str = _key(text_codec(40), "", "Open tab of the performance panel.", follow=False)
    q: str = _key(text_codec(200), "", "Search text.", follow=False)
    mode: str = _key(
        choice_codec("full", "reduced", "omitted", "reduced-df", "omitted-df"), "full", "Edge mode of the graph."
    )
    dir: str = _key(choice_codec("lr", "tb"), "lr", "Direction of the graph.")
    show: str = _key(
        choice_codec("auto", "summary", "path", "around", "all"), "auto", "What part of the graph is shown."
    )
    exp: tuple[str, ...] = _key(list_codec(2_000), (), "Expanded groups or tasks of the graph.")
    gdepth: int = _key(_steps(), 2, "Steps around the selection that the graph shows; -1 for all.")
    node: str = _key(
        text_codec(200), "", "Group (grp:KEY) or edge (edge:PRED-SUCC) of the graph that is open.", follow=False
    )
    kind: str = _key(text_codec(40), "", "Kind of the analysis table, such as static or observed.", follow=False)
    untimed: int = _key(integer_codec(0, 1), 0, "1: paths lead through tasks without records.", follow=False)
    thr: float | None = _key(number_codec(0, 1e12), None, "Threshold in µs of the analysis table.", follow=False)
    group: int = _key(
        integer_codec(0, 1), 0, "1: the ranks and devices of one run tree are put together.", follow=False
    )
    open: tuple[str, ...] = _key(list_codec(2_000), (), "Run trees that show their ranks.", follow=False)
    sort: str = _key(text_codec(200), "", "Sorted columns of the table, column:asc or column:desc.", follow=False)
    f: str = _key(text_codec(2_000), "", "Column filters of the table, as JSON.", follow=False)
    own: tuple[tuple[str, Any], ...] = ()
    """Values of the keys that features declare, as sorted pairs; defaults are left out."""

    def own_value(self, name: str) -> Any:
        """The value of a key that a feature declared."""
        return dict(self.own).get(name, _OWN[name].default)

    def with_own(self, **values: Any) -> ViewState:
        """This view with other values of feature keys."""
        merged = {**dict(self.own), **values}
        kept = {name: value for name, value in merged.items() if value != _OWN[name].default}
        return replace(self, own=tuple(sorted(kept.items())))


_OWN: dict[str, Key] = {}
_SHARED: dict[str, Key] = {
    item.name: Key(item.name, item.metadata["codec"], item.default, item.metadata["doc"], item.metadata["follow"])
    for item in fields(ViewState)
    if item.metadata
}
KEYS: tuple[str, ...] = tuple(_SHARED)
"""Keys that more than one feature reads."""


def declare(keys: Iterable[Key]) -> None:
    """Make the keys of a feature known; the same declaration may come again, since applications are made repeatedly.

    Raises:
        ValueError: another key has that name.
    """
    for key in keys:
        if key.name in _SHARED or _OWN.get(key.name, key) is not key:
            raise ValueError(f"the URL key {key.name!r} is declared twice")
        _OWN[key.name] = key


def all_keys() -> dict[str, Key]:
    """Every key of the product by name, shared ones first."""
    return _SHARED | _OWN


@dataclass(frozen=True, slots=True)
class Place:
    """A decoded path: ``page`` is the last part (``""`` overview, ``"runs"`` home), ``run_key`` "" on home."""

    page: str
    run_key: str


def decode_path(pathname: str | None, prefix: str = "/") -> Place | None:
    """The place ``pathname`` names, or None when it is none of ours."""
    path = pathname or "/"
    if prefix != "/":
        if not (path + "/").startswith(prefix):
            return None
        path = "/" + path[len(prefix) :]
    if path in ("", "/"):
        return Place("runs", "")
    if path.strip("/") in PLAIN_PAGES:
        return Place(path.strip("/"), "")
    match = _RUN_PATH.match(path)
    return Place(unquote(match.group(2) or ""), unquote(match.group(1))) if match else None


def decode(query: str | Mapping[str, str] | None) -> tuple[ViewState, list[Problem]]:
    """The view a query describes. Never raises: a bad value becomes the default and a Problem.

    Args:
        query: ``"?a=b&c=d"`` (a leading ``?`` is optional), or the pairs already split. Of a repeated key the last
            counts.
    """
    if query is None or isinstance(query, str):
        pairs = dict(parse_qsl((query or "").removeprefix("?"), keep_blank_values=True, errors="replace"))
    else:
        pairs = dict(query)
    values: dict[str, Any] = {}
    own: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, text in pairs.items():
        if key == STORED_LINK_KEY:
            continue
        known = _SHARED.get(key) or _OWN.get(key)
        if known is None:
            problems.append(Problem(key, text, "unknown key"))
            continue
        try:
            (values if key in _SHARED else own)[key] = known.codec.decode(text)
        except ValueError as error:
            problems.append(Problem(key, text, str(error)))
    if "t0" in values and "t1" in values and values["t0"] >= values["t1"]:
        problems.append(Problem("t0", str(values["t0"]), "the window ends before it starts"))
        del values["t0"], values["t1"]
    return ViewState(**values).with_own(**own), problems


def launch_of(args: Mapping[str, str]) -> int:
    """The launch that a request names, 0 when it names none.

    Raises:
        ParameterError: not a whole number, or one that no file can hold.
    """
    text = args.get("launch", "0")
    try:
        return int(_SHARED["launch"].codec.decode(text))
    except ValueError as error:
        raise ParameterError(f"launch={text[:60]}: {error}") from error


def pairs(view: ViewState) -> dict[str, str]:
    """The query of ``view`` as ``{key: text}``, defaults left out, keys sorted: equal views give equal pairs."""
    out = {}
    own = dict(view.own)
    for name, key in sorted(all_keys().items()):
        value = own.get(name, key.default) if name in _OWN else getattr(view, name)
        if value != key.default:
            out[name] = key.codec.encode(value)
    return out


def encode(view: ViewState) -> str:
    """The query of ``view`` (without ``?``)."""
    return query_string(pairs(view))


def query_string(items: Mapping[str, str]) -> str:
    """``{key: text}`` as a query; ``:`` and ``,`` stay readable, as in url.js."""
    return "&".join(f"{quote(key, safe='')}={quote(text, safe=':,-_.~')}" for key, text in items.items())


def path(page: str, run_key: str = "", prefix: str = "/") -> str:
    """The path of a page; ``page`` as in :class:`Place`."""
    if page == "runs":
        return prefix
    if page in PLAIN_PAGES:
        return f"{prefix}{page}"
    tail = f"/{quote(page, safe='')}" if page else ""
    return f"{prefix}r/{quote(run_key, safe='')}{tail}"


def href(page: str, run_key: str = "", view: ViewState | None = None, prefix: str = "/") -> str:
    """A link to ``page`` showing ``view``: the only way to make one."""
    query = encode(view) if view is not None else ""
    return path(page, run_key, prefix) + (f"?{query}" if query else "")
