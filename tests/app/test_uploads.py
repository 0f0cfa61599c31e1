"""Do uploads arrive whole or not at all, within their limits, and never outside their folder?"""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import random
import tarfile
import time
import urllib.error
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError, LimitError, NotFoundError, SwimscopeError
from analysis.synth.capture import write_capture
from app.runs.uploads.names import Names, clean_path
from app.runs.uploads.push import Client, PushError, push
from app.runs.uploads.store import OffsetError, Upload, Uploads
from app.runs.uploads.unpacking import Limits, Unpacking
from app.server.factory import create_app
from app.server.settings import Settings
from tests.app.conftest import services_of
from tests.app.test_serving import served
from tests.waiting import until

LIMITS = Limits(max_bytes=1 << 26, max_files=50, max_ratio=100, max_depth=6)


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "uploads", LIMITS, 1 << 26, 1 << 27)


def send(uploads: Uploads, files: dict[str, bytes], name: str = "run", owner: str = "") -> Upload:
    batch = uploads.begin(name, owner)
    for path, data in files.items():
        part = uploads.create(batch.id, path, len(data))
        uploads.append(part.id, 0, io.BytesIO(data))
    return uploads.finish(batch.id)


def tree_of(uploads: Uploads, upload: Upload) -> dict[str, bytes]:
    root = uploads.content / upload.id / upload.name
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def tar(entries: dict[str, bytes], mode: str = "w", **kinds: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            if name in kinds:
                info.type, info.size, info.linkname = kinds[name], 0, "/etc/passwd"
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def encoded(**words: str) -> str:
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in words.items())


INSIDE = {"dfx_outputs/deps.json": b"{}", "report/perf_hints.log": b"x" * 10}


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("r.zip", zipped),
        ("r.tar", tar),
        ("r.tar.gz", lambda entries: tar(entries, "w:gz")),
        ("r.tgz", lambda entries: tar(entries, "w:gz")),
        ("r.tar.zst", lambda entries: zstandard.compress(tar(entries))),
    ],
)
def test_archives_are_unpacked(uploads: Uploads, name: str, pack: Any) -> None:
    upload = send(uploads, {name: pack(INSIDE)})
    assert tree_of(uploads, upload) == INSIDE
    assert (upload.files, upload.size_bytes) == (2, 12)


def test_files_and_archives_of_one_upload_are_one_tree_and_the_same_content_is_kept_once(uploads: Uploads) -> None:
    first = send(uploads, {"a.json": b"1", "more.zip": zipped({"b/c.json": b"2"})})
    again = send(uploads, {"a.json": b"1", "b/c.json": b"2"}, name="other")
    assert first.id == again.id
    assert len(uploads.all()) == 1
    assert tree_of(uploads, first) == {"a.json": b"1", "b/c.json": b"2"}
    assert not list((uploads.folder / "parts").iterdir())
    assert not list((uploads.folder / "work").iterdir())


def test_an_interrupted_file_goes_on_where_it_ended(uploads: Uploads) -> None:
    batch = uploads.begin("run", "")
    part = uploads.create(batch.id, "a.json", 6)

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise ConnectionResetError
            return super().read(3)

    with pytest.raises(ConnectionResetError):
        uploads.append(part.id, 0, Broken(b"abcdef"))
    again = Uploads(uploads.folder, LIMITS, 1 << 26, 1 << 27)  # as after a restart
    assert again.part(part.id).offset == 3
    with pytest.raises(OffsetError) as wrong:
        again.append(part.id, 0, io.BytesIO(b"abc"))
    assert wrong.value.expected == 3
    with pytest.raises(InputError, match="3 of 6 bytes"):
        again.finish(batch.id)
    again.append(part.id, 3, io.BytesIO(b"def"))
    assert tree_of(uploads, again.finish(batch.id)) == {"a.json": b"abcdef"}


@pytest.mark.parametrize(
    "name",
    [
        "../x", "a/../../x", "/etc/x", "a\\..\\x", "C:\\x", "", ".", "a\0b", "a\nb", "con", "a/NUL.txt", "x" * 300,
        "a/" * 1_500 + "x", "trailing.", "trailing ", "\ud800", "..\\..\\x", "//host/x",
    ],
)  # fmt: skip
def test_names_that_leave_the_folder_or_no_system_has_are_refused(name: str) -> None:
    with pytest.raises(SwimscopeError):
        clean_path(name, 100)


def test_names_that_differ_only_in_case_or_unicode_form_collide() -> None:
    for one, two in (
        ("a/B.json", "A/b.json"),
        ("e\u0301.json", "\u00e9.json"),
        ("x", "x/y"),
        ("x/y", "x"),
        ("D/a", "d/b"),
    ):
        names = Names(6)
        names.add(one)
        with pytest.raises(InputError):
            names.add(two)


@given(st.text(max_size=60))
def test_a_clean_name_is_always_below_its_folder(name: str) -> None:
    try:
        parts = clean_path(name, 6)
    except SwimscopeError:
        return
    base = Path("/base/folder")
    assert base in base.joinpath(*parts).parents
    assert ".." not in parts


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(uploads: Uploads, kind: bytes) -> None:
    with pytest.raises(InputError, match="a link or device"):
        send(uploads, {"r.tar": tar({"a": b"1", "l": b""}, l=kind)})
    assert uploads.all() == []
    assert not uploads.content.exists()


def test_a_zip_with_a_link_is_refused(uploads: Uploads) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("l")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(InputError, match="a link or device"):
        send(uploads, {"r.zip": out.getvalue()})


def test_bombs_stop_at_the_limits(uploads: Uploads) -> None:
    with pytest.raises(LimitError, match="upload_max_ratio"):
        send(uploads, {"r.tar.gz": tar({"spaces": b" " * (40 << 20)}, "w:gz")})
    with pytest.raises(LimitError, match="upload_max_ratio"):
        send(uploads, {"r.zip": zipped({"spaces": b" " * (40 << 20)})})
    with pytest.raises(LimitError, match="upload_max_files"):
        send(uploads, {"r.zip": zipped({f"f{at}": b"" for at in range(60)})})
    with pytest.raises(LimitError, match="upload_max_depth"):
        send(uploads, {"r.zip": zipped({"a/b/c/d/e/f/g": b""})})
    small = Uploads(uploads.folder, Limits(10, 50, 100, 6), 1 << 20, 1 << 20)
    with pytest.raises(LimitError, match="upload_max_unpacked_bytes"):
        send(small, {"a": b"x" * 11})
    with pytest.raises(LimitError, match="upload_max_bytes"):
        small.create(small.begin("x", "").id, "a", 1 << 30)
    assert uploads.all() == []


def test_a_quota_counts_what_one_user_keeps(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, LIMITS, 1 << 20, 100)
    mine = send(uploads, {"a": b"x" * 80}, owner="me")
    with pytest.raises(LimitError, match="upload_quota_bytes"):
        uploads.create(uploads.begin("b", "me").id, "b", 30)
    uploads.create(uploads.begin("b", "you").id, "b", 30)
    uploads.delete(mine.id)
    with pytest.raises(LimitError, match="upload_quota_bytes"):
        uploads.create(uploads.begin("b", "me").id, "b", 30)
    uploads.tidy(undo_s=-1, resume_s=1e9, keep_s=0)
    uploads.create(uploads.begin("b", "me").id, "b", 30)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("r.zip", b"PK\x03\x04" + b"\0" * 40),
        ("r.zip", zipped(INSIDE)[:-30]),
        ("r.tar", b"x" * 700),
        ("r.tar.gz", gzip.compress(b"x" * 700)[:-6]),
        ("r.tar.gz", b"\x1f\x8b" + b"z" * 40),
        ("r.tar.zst", b"(\xb5/\xfd" + b"z" * 40),
    ],
    ids=["zip-bytes", "zip-cut", "tar-bytes", "gz-cut", "gz-bytes", "zst-bytes"],
)
def test_damaged_archives_say_so(uploads: Uploads, name: str, data: bytes) -> None:
    with pytest.raises(SwimscopeError, match=r"damaged|cut off|no file is in it"):
        send(uploads, {name: data})
    assert uploads.all() == []


def test_hostile_archives_never_write_outside_and_never_raise_anything_else(tmp_path: Path) -> None:
    """500 mutated archives, fixed seed."""
    rng = random.Random(7)
    names = [
        "../x",
        "/x",
        "a/../../x",
        "a",
        "A",
        "a/b",
        "b\\..\\c",
        "con",
        "é",
        "e\u0301",
        "x" * 280,
        "\u202egnp.x",
        ".",
        "d/",
    ]
    outside = tmp_path / "outside"
    outside.mkdir()
    refused = 0
    for number in range(500):
        entries = {rng.choice(names): rng.randbytes(rng.choice([0, 5, 3_000])) for _ in range(rng.randint(1, 4))}
        pack = rng.choice([("r.zip", zipped), ("r.tar", tar), ("r.tar.gz", lambda e: tar(e, "w:gz"))])
        kinds = {name: rng.choice([tarfile.SYMTYPE, tarfile.DIRTYPE]) for name in entries if rng.random() < 0.2}
        data = bytearray(tar(entries, **kinds) if pack[0] == "r.tar" else pack[1](entries))
        for _ in range(rng.choice([0, 0, 3])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        source, target = tmp_path / "source", outside / "inside" / str(number)
        source.write_bytes(data)
        target.mkdir(parents=True)
        try:
            Unpacking(target, LIMITS, lambda _done, _name: None).add(source, pack[0])
        except SwimscopeError:
            refused += 1
        assert {p.name for p in outside.iterdir()} == {"inside"}
        assert not [p for p in target.rglob("*") if p.is_symlink()]
    assert {p.name for p in tmp_path.iterdir()} == {"outside", "source"}
    assert 100 < refused < 500


def test_what_a_crash_leaves_is_never_listed(uploads: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        send(uploads, {"a.json": b"1"})
    monkeypatch.undo()
    assert not list(uploads.content.glob("*/*"))
    assert tree_of(uploads, send(uploads, {"a.json": b"1"})) == {"a.json": b"1"}


def test_cancelled_deleted_and_old_uploads_go(uploads: Uploads) -> None:
    batch = uploads.begin("run", "")
    part = uploads.create(batch.id, "a", 5)
    uploads.cancel(batch.id)
    with pytest.raises(NotFoundError):
        uploads.part(part.id)
    with pytest.raises(NotFoundError, match="cancelled"):
        uploads.create(batch.id, "b", 5)
    upload = send(uploads, {"a.json": b"1"})
    changed = uploads.describe(upload.id, name="run", note="slow one", tags=("nightly", "nightly", " "))
    assert (changed.note, changed.tags) == ("slow one", ("nightly",))
    uploads.delete(upload.id)
    assert uploads.all() == []
    assert not (uploads.content / upload.id).exists()
    uploads.undo(upload.id)
    assert tree_of(uploads, upload) == {"a.json": b"1"}
    uploads.tidy(undo_s=1e9, resume_s=1e9, keep_s=1e-9)
    assert uploads.all() == []
    uploads.tidy(undo_s=-1, resume_s=-1, keep_s=0)
    with pytest.raises(NotFoundError):
        uploads.undo(upload.id)
    assert not list((uploads.folder / "batches").iterdir())


@pytest.mark.parametrize("name", ["../../etc", "x", "", "0" * 32, "G" * 20])
def test_ids_are_looked_up_and_never_joined(uploads: Uploads, name: str) -> None:
    for ask in (uploads.part, uploads.batch, uploads.get, uploads.delete, uploads.undo, uploads.finish):
        with pytest.raises(NotFoundError):
            ask(name)


def test_the_routes_speak_tus_and_the_run_is_listed(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path / "data"))
    client, services = app.server.test_client(), services_of(app)
    capture = write_capture(tmp_path / "made", 40, 1).files[0].read_bytes()
    batch = client.post("/api/batches", json={"name": "mine"}).get_json()
    header = {
        "Upload-Length": str(len(capture)),
        "Upload-Metadata": encoded(batch=batch["id"], filename="chip_swimlane_records.json"),
    }
    made = client.post("/api/uploads", headers=header)
    assert (made.status_code, made.headers["Tus-Resumable"]) == (201, "1.0.0")
    address = made.headers["Location"]
    piece = {"Content-Type": "application/offset+octet-stream"}
    assert client.patch(address, data=capture[:100], headers=piece | {"Upload-Offset": "0"}).status_code == 204
    conflict = client.patch(address, data=capture[:100], headers=piece | {"Upload-Offset": "0"})
    assert (conflict.status_code, conflict.headers["Upload-Offset"]) == (409, "100")
    assert client.head(address).headers["Upload-Offset"] == "100"
    assert client.patch(address, data=b"", headers=piece | {"Upload-Offset": "x"}).status_code == 400
    assert client.patch(address, data=b"x", headers={"Upload-Offset": "100"}).status_code == 415
    assert client.patch(address, data=capture[100:], headers=piece | {"Upload-Offset": "100"}).status_code == 204
    assert client.post(f"/api/batches/{batch['id']}/finish").status_code == 202
    done = until(lambda: client.get(f"/api/batches/{batch['id']}").get_json(), lambda got: got["state"] == "done", 30.0)
    services.library.scan_once()
    (row,) = services.library.runs()
    assert (row.root, row.name) == ("uploads", "mine")
    assert done["upload"] == row.path.split("/")[0]
    listed = client.get("/api/uploaded").get_json()["uploads"]
    assert [item["name"] for item in listed] == ["mine"]
    assert client.delete(f"/api/uploaded/{done['upload']}").get_json()["deleted"]
    services.library.scan_once()
    assert services.library.runs() == []
    assert not client.post(f"/api/uploaded/{done['upload']}/undo").get_json()["deleted"]


@pytest.mark.parametrize(
    ("method", "address", "headers", "status"),
    [
        ("post", "/api/uploads", {}, 400),
        ("post", "/api/uploads", {"Upload-Length": "5"}, 422),
        ("post", "/api/uploads", {"Upload-Length": "5", "Upload-Metadata": encoded(batch="x", filename="y")}, 404),
        ("post", "/api/uploads", {"Upload-Length": "5", "Upload-Metadata": "batch %%%"}, 422),
        ("post", "/api/uploads", {"Upload-Length": "9" * 30}, 400),
        ("head", "/api/uploads/..%2f..%2fetc", {}, 404),
        ("patch", "/api/uploads/" + "0" * 32, {}, 404),
        ("get", "/api/batches/x", {}, 404),
        ("post", "/api/batches/x/finish", {}, 404),
        ("delete", "/api/uploaded/..", {}, 404),
        ("patch", "/api/uploaded/" + "0" * 20, {}, 404),
    ],
)
def test_odd_requests_are_answered_plainly(
    client: Any, method: str, address: str, headers: dict[str, str], status: int
) -> None:
    assert getattr(client, method)(address, headers=headers).status_code == status


def test_uploads_can_be_switched_off(tmp_path: Path) -> None:
    client = create_app(Settings(data_dir=tmp_path, uploads="off")).server.test_client()
    assert client.post("/api/batches", json={}).status_code in (404, 405)


def test_curl_and_push_reach_a_real_server_whose_other_bodies_stay_small(tmp_path: Path) -> None:
    made = tmp_path / "case" / "dfx_outputs"
    write_capture(made, 4_000, 1)
    with served(tmp_path, "--request-max-bytes", "20000") as port:
        client = Client(f"http://127.0.0.1:{port}/")
        said: list[str] = []
        address = push(made, client, note="from here", say=said.append)
        assert address.endswith("?q=case")
        assert said[-1].startswith("100%")
        archive = tar({"x/name_map.json": json.dumps({"callable_id_to_name": {"0": "f"}}).encode()}, "w:gz")
        _headers, answer = client.ask("PUT", "api/push/tagged.tar.gz", archive)
        assert (answer["name"], answer["files"]) == ("tagged", 1)
        with pytest.raises(PushError, match=r"413|cannot be reached"):
            client.ask("POST", "api/links", b"x" * 300_000, Content_Type="application/json")
        with pytest.raises(PushError, match="damaged"):
            client.ask("PUT", "api/push/bad.zip", b"PK\x03\x04")
        (tmp_path / "nothing").mkdir()
        with pytest.raises(InputError, match="no file is in it"):
            push(tmp_path / "nothing", client)


def test_push_goes_on_after_a_broken_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "chip_swimlane_records.json"
    file.write_bytes(os.urandom(50_000))
    monkeypatch.setattr("app.runs.uploads.push.PIECE_BYTES", 20_000)
    monkeypatch.setattr(time, "sleep", lambda _s: None)
    app = create_app(Settings(data_dir=tmp_path / "data"))
    web = app.server.test_client()
    broken = iter([False, True, False, True, False])

    def ask(self: Client, method: str, address: str, body: bytes | None = None, **headers: str) -> tuple[Any, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        cut = method == "PATCH" and next(broken, False)
        sent = body[:7_000] if cut and body is not None else body
        answer = web.open("/" + address.lstrip("/"), method=method, data=sent, headers=named)
        if cut:
            raise PushError("it cannot be reached: reset") from urllib.error.URLError("reset")
        return answer.headers, answer.get_json(silent=True)

    monkeypatch.setattr(Client, "ask", ask)
    push(file, Client("http://here/"), say=lambda _text: None)
    uploads = services_of(app).uploads
    (upload,) = uploads.all()
    assert tree_of(uploads, upload) == {file.name: file.read_bytes()}
