"""A data directory that becomes read-only while the server runs: what is stored is shown, what must be written says so."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.files import NoRoomError, ReadOnlyError, room_for
from analysis.synth.capture import write_capture

REPO = Path(__file__).resolve().parents[2]

ASK = """
import json, sys
from pathlib import Path
from app.runs.library import run_key
from app.server.factory import create_app
from app.server.settings import Root, Settings
folder = Path(sys.argv[1])
settings = Settings(roots=(Root("r", folder / "root"),), data_dir=folder / "data", facts_max_bytes=0)
app = create_app(settings)
app.server.extensions["swimscope"].library.scan_once()
client = app.server.test_client()
said = {}
def ask(name, path, **more):
    answer = client.open(path, **more)
    said[name] = [answer.status_code, answer.get_data(as_text=True)[:400]]
seen, new = run_key("r", "seen"), run_key("r", "new")
ask("warm", f"/api/timeline/{seen}/info")
print("ready", flush=True)
sys.stdin.readline()
for key, name in ((seen, "seen"), (new, "new")):
    ask(f"{name} picture", f"/api/timeline/{key}/info")
    ask(f"{name} table", f"/api/r/{key}/table/gaps.csv")
ask("ready", "/health/ready"), ask("metrics", "/metrics"), ask("runs", "/_dash-layout")
ask("link", "/api/links", method="POST", json={"query": {"sel": "task:1"}})
print(json.dumps(said), flush=True)
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A data directory on a disk of its own, which can be made read-only."""
    (tmp_path / "data").mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(tmp_path / "data")], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {done.stderr.strip()}")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "-l", str(tmp_path / "data")], check=True)


def test_what_is_stored_is_shown_and_the_rest_says_why(disk: Path) -> None:
    for name, seed in (("seen", 1), ("new", 2)):
        write_capture(disk / "root" / name, 60, seed)
    process = subprocess.Popen(
        [sys.executable, "-c", ASK, str(disk)],
        cwd=REPO,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    subprocess.run(["mount", "-o", "remount,ro", str(disk / "data")], check=True)
    out, _ = process.communicate("\n", timeout=120)
    said = json.loads(out.splitlines()[-1])
    for name in ("seen picture", "seen table", "new picture", "new table", "metrics", "runs"):
        assert said[name][0] == 200, (name, said[name])
    assert json.loads(said["ready"][1])["data_dir_writable"] is False
    assert said["link"][0] == 507
    assert "cannot be written" in said["link"][1]
    assert str(disk) not in said["link"][1]  # shown from data_dir on


def test_only_a_directory_that_is_written_to_is_called_read_only(tmp_path: Path) -> None:
    def refused(path: Path) -> None:
        with room_for(tmp_path / "data", 1, "x"):
            raise PermissionError(13, "Permission denied", str(path))

    with pytest.raises(ReadOnlyError, match="cannot be written"):
        refused(tmp_path / "data" / "f")
    assert issubclass(ReadOnlyError, NoRoomError)
    with pytest.raises(PermissionError):
        refused(tmp_path / "captures" / "f")
