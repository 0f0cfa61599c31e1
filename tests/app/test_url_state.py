from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.selection import MAX_ID
from app.shell.url_state import (
    KEYS,
    MAX_TICKS,
    STEPS,
    Key,
    Place,
    Problem,
    ViewState,
    declare,
    decode,
    decode_path,
    encode,
    href,
    integer_codec,
    pairs,
    path,
)

IDS = st.integers(0, MAX_ID).map(str)
SELECTIONS = st.one_of(
    st.just(""),
    st.tuples(st.sampled_from(["task", "group", "chain", "gap"]), IDS).map(":".join),
    st.integers(-1, 10_000).map(lambda i: f"func:{i}"),
    st.sampled_from(["path:static", "path:observed", "path:imported-static", "path:imported-observed"]),
)
LISTS = st.lists(st.text(min_size=1, max_size=12), max_size=5).map(tuple)
WINDOWS = st.one_of(
    st.just((None, None)),
    st.tuples(st.integers(-MAX_TICKS, MAX_TICKS // 2), st.integers(1, MAX_TICKS // 2)).map(
        lambda w: (w[0], w[0] + w[1])
    ),
)


@st.composite
def views(draw: st.DrawFn) -> ViewState:
    t0, t1 = draw(WINDOWS)
    return ViewState(
        sel=draw(SELECTIONS),
        hl=draw(st.one_of(SELECTIONS, st.sampled_from(["search", "early", "chains"]))),
        launch=draw(st.integers(0, 1_000_000)),
        t0=t0,
        t1=t1,
        view=draw(st.sampled_from(["worker", "scheduler", "phases", "orch"])),
        depth=draw(st.sampled_from([int(step) for step in STEPS])),
        q=draw(st.text(max_size=200)),
        mk=draw(LISTS),
        pin=draw(LISTS),
        hide=draw(LISTS),
        thr=draw(st.one_of(st.none(), st.integers(0, 10**9).map(lambda n: n / 1000))),
        mode=draw(st.sampled_from(["full", "reduced", "omitted", "reduced-df", "omitted-df"])),
        open=draw(LISTS),
    )


@given(views())
def test_a_view_survives_its_own_url(view: ViewState) -> None:
    decoded, problems = decode("?" + encode(view))
    assert decoded == view
    assert problems == []


@given(st.text(max_size=300))
def test_any_text_decodes_to_a_view(text: str) -> None:
    view, problems = decode(text)
    assert isinstance(view, ViewState)
    assert all(isinstance(problem, Problem) and problem.reason for problem in problems)


@given(st.dictionaries(st.sampled_from(KEYS), st.text(max_size=40), max_size=6))
def test_a_bad_value_takes_the_default_and_leaves_the_others(given_pairs: dict[str, str]) -> None:
    view, problems = decode(given_pairs)
    for problem in problems:
        if problem.key in KEYS:
            assert getattr(view, problem.key) == getattr(ViewState(), problem.key)
    accepted = set(given_pairs) - {problem.key for problem in problems}
    assert decode({key: given_pairs[key] for key in accepted})[1] == [] or {"t0", "t1"} & set(given_pairs)


def test_one_bad_key_never_costs_the_rest() -> None:
    view, problems = decode("?sel=task:12&depth=lots&view=scheduler&nonsense=1")
    assert (view.sel, view.view, view.depth) == ("task:12", "scheduler", 1)
    assert [problem.key for problem in problems] == ["depth", "nonsense"]


@pytest.mark.parametrize(
    "text",
    ["task:-1", f"task:{2**64}", "task:", "task:1.5", "func:x", "path:other", "<script>", "task:1;task:2", "sel"],
)
def test_a_selection_that_names_nothing_is_refused(text: str) -> None:
    view, problems = decode({"sel": text})
    assert view.sel == ""
    assert problems[0].key == "sel"


def test_ids_keep_all_64_bits() -> None:
    assert decode({"sel": f"task:{MAX_ID}"})[0].sel == "task:18446744073709551615"


def test_a_window_that_ends_before_it_starts_is_refused_whole() -> None:
    view, problems = decode("t0=10&t1=5")
    assert (view.t0, view.t1) == (None, None)
    assert problems[0].key == "t0"


def test_equal_views_have_equal_urls_without_defaults() -> None:
    assert encode(ViewState()) == ""
    one = replace(ViewState(), sel="task:1", depth=3)
    assert encode(one) == "depth=3&sel=task:1"
    assert pairs(one) == {"depth": "3", "sel": "task:1"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sel=task:8589934618&hl=path:observed&t0=100&t1=2000", {"sel": "task:8589934618", "t0": 100, "t1": 2000}),
        ("view=phases&depth=-1&labels=both&setup=hidden", {"view": "phases", "depth": -1, "labels": "both"}),
        ("mk=100,200:a%252Cb&pin=c0,c1", {"mk": ("100", "200:a,b"), "pin": ("c0", "c1")}),
        ("mode=omitted-df&dir=tb&gdepth=3", {"mode": "omitted-df", "dir": "tb", "gdepth": 3}),
        ("kind=static&thr=1.5", {"kind": "static", "thr": 1.5}),
    ],
)
def test_old_urls_keep_decoding(url: str, expected: dict[str, object]) -> None:
    view, problems = decode(url)
    assert problems == []
    assert {name: getattr(view, name) for name in expected} == expected


def test_every_key_has_a_meaning_and_every_default_is_valid() -> None:
    for item in (field for field in fields(ViewState) if field.name != "own"):
        assert item.metadata["doc"]
        if item.default not in (None, "", ()):
            text = item.metadata["codec"].encode(item.default)
            assert item.metadata["codec"].decode(text) == item.default


@pytest.mark.parametrize(
    ("pathname", "prefix", "place"),
    [
        ("/", "/", Place("runs", "")),
        (None, "/", Place("runs", "")),
        ("/r/abc", "/", Place("", "abc")),
        ("/r/abc/", "/", Place("", "abc")),
        ("/r/abc/swimlane", "/", Place("swimlane", "abc")),
        ("/r/a%2Fb/gaps", "/", Place("gaps", "a/b")),
        ("/x/r/abc/gaps", "/x/", Place("gaps", "abc")),
        ("/x", "/x/", Place("runs", "")),
        ("/r/abc", "/x/", None),
        ("/r/abc/gaps/more", "/", None),
        ("/elsewhere", "/", None),
    ],
)
def test_paths(pathname: str | None, prefix: str, place: Place | None) -> None:
    assert decode_path(pathname, prefix) == place


@given(st.text(min_size=1, max_size=20), st.sampled_from(["", "swimlane", "gaps"]), st.sampled_from(["/", "/a/b/"]))
def test_links_lead_back_to_their_place(run_key: str, page: str, prefix: str) -> None:
    assert decode_path(path(page, run_key, prefix), prefix) == Place(page, run_key)


def test_links_carry_the_prefix_and_the_view() -> None:
    assert href("gaps", "k", ViewState(sel="gap:3"), "/x/") == "/x/r/k/gaps?sel=gap:3"
    assert href("runs", prefix="/x/") == "/x/"


@pytest.mark.parametrize(
    "query", ["mz=-9223372036854775807:9223372036854775807", "mz=5:5", "t0=0&t1=9223372036854775807"]
)
def test_ticks_that_the_browser_cannot_hold_are_a_problem(query: str) -> None:
    view, problems = decode(query)
    assert [problem.key for problem in problems] == [query.split("=")[-2].split("&")[-1]]
    assert (view.mz, view.t1) == ("", None)


def test_the_largest_ticks_come_back_as_the_browser_writes_them() -> None:
    assert int(float(MAX_TICKS)) == MAX_TICKS
    assert decode(f"mz={-MAX_TICKS}:{MAX_TICKS}")[1] == []


def test_a_feature_declares_keys_of_its_own() -> None:
    key = Key("test-own", integer_codec(0, 9), 3, "A key of a feature.")
    declare([key])
    declare([key])
    view, problems = decode("?test-own=5&sel=task:1")
    assert (problems, view.own_value("test-own"), view.sel) == ([], 5, "task:1")
    assert pairs(view) == {"sel": "task:1", "test-own": "5"}
    assert view.with_own(**{"test-own": 3}) == ViewState(sel="task:1")
    assert [p.key for p in decode("?test-own=10")[1]] == ["test-own"]
    with pytest.raises(ValueError, match="declared twice"):
        declare([Key("test-own", integer_codec(0, 9), 3, "Another one.")])
    with pytest.raises(ValueError, match="declared twice"):
        declare([Key("sel", integer_codec(0, 9), 3, "A shared one.")])
