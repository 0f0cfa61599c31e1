"""How do files arrive? The tus protocol 1.0.0 for every file of a batch, and one plain request for curl.

``POST api/batches`` → ``POST api/uploads`` and ``PATCH api/uploads/<id>`` per file → ``POST api/batches/<id>/finish``.
``PUT api/push/<name>`` does all of it with one file or archive.
"""

from __future__ import annotations

import base64
import binascii
import threading
from typing import Any

import flask

from analysis.errors import InputError, NotFoundError, SwimscopeError
from app.runs.uploads.store import Batch, OffsetError, Upload, Uploads
from app.server import errors
from app.server.services import Services

TUS = {"Tus-Resumable": "1.0.0", "Cache-Control": "no-store"}


def register(server: flask.Flask, services: Services) -> None:
    """Serve ``api/uploads``, ``api/batches``, ``api/push`` and ``api/uploaded``; nothing when uploads are off."""
    uploads = services.uploads
    if services.settings.uploads == "off":
        return
    prefix = f"{services.settings.url_prefix}api/"
    _register_files(server, uploads, prefix)
    _register_batches(server, services, uploads, prefix)
    _register_finished(server, services, uploads, prefix)


def owner() -> str:
    """Who sends this request; "" without sign-in."""
    return str(flask.g.get("user", ""))


def _register_files(server: flask.Flask, uploads: Uploads, prefix: str) -> None:
    """The tus protocol: one file each."""

    @server.route(f"{prefix}uploads", methods=["OPTIONS"])
    def options() -> Any:
        found = {
            "Tus-Version": "1.0.0",
            "Tus-Extension": "creation,termination",
            "Tus-Max-Size": str(uploads.max_bytes),
        }
        return "", 204, TUS | found

    @server.post(f"{prefix}uploads")
    def create() -> Any:
        length = flask.request.headers.get("Upload-Length", "")
        if not length.isascii() or not length.isdecimal() or len(length) > 18:
            return {"error": "the header Upload-Length must hold the number of bytes"}, 400, TUS
        words = _metadata(flask.request.headers.get("Upload-Metadata", ""))
        part = uploads.create(words.get("batch", ""), words.get("filename", ""), int(length))
        return "", 201, TUS | {"Location": f"{prefix}uploads/{part.id}", "Upload-Offset": "0"}

    @server.route(f"{prefix}uploads/<part_id>", methods=["HEAD"])
    def offset(part_id: str) -> Any:
        part = _own(uploads.part(part_id))
        return "", 200, TUS | {"Upload-Offset": str(part.offset), "Upload-Length": str(part.length)}

    @server.patch(f"{prefix}uploads/<part_id>")
    def append(part_id: str) -> Any:
        _own(uploads.part(part_id))
        at = flask.request.headers.get("Upload-Offset", "")
        if flask.request.mimetype != "application/offset+octet-stream":
            return {"error": "the body must be application/offset+octet-stream"}, 415, TUS
        if not at.isascii() or not at.isdecimal() or len(at) > 18:
            return {"error": "the header Upload-Offset must hold a number"}, 400, TUS
        try:
            part = uploads.append(part_id, int(at), _body(uploads))
        except OffsetError as error:
            return {"error": str(error)}, 409, TUS | {"Upload-Offset": str(error.expected)}
        return "", 204, TUS | {"Upload-Offset": str(part.offset)}

    @server.delete(f"{prefix}uploads/<part_id>")
    def drop(part_id: str) -> Any:
        _own(uploads.part(part_id))
        uploads.drop(part_id)
        return "", 204, TUS


def _body(uploads: Uploads) -> Any:
    """The body of this request, for which the limit of uploads counts instead of that of other requests."""
    flask.request.max_content_length = uploads.max_bytes
    return flask.request.stream


def _metadata(header: str) -> dict[str, str]:
    """``Upload-Metadata``: ``key base64, key base64``.

    Raises:
        InputError: a value is no base64 of UTF-8.
    """
    out = {}
    for pair in header.split(","):
        key, _, value = pair.strip().partition(" ")
        if key:
            try:
                out[key] = base64.b64decode(value, validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError) as error:
                raise InputError("Upload-Metadata", key[:40], "not base64 of UTF-8 text") from error
    return out


def _own(thing: Any) -> Any:
    """``thing`` when this user sent it.

    Raises:
        NotFoundError: it is somebody else's, whose ids nobody else needs to know.
    """
    if thing.owner != owner():
        raise NotFoundError("there is no such upload")
    return thing


def _register_batches(server: flask.Flask, services: Services, uploads: Uploads, prefix: str) -> None:
    @server.post(f"{prefix}batches")
    def begin() -> Any:
        said = flask.request.get_json(silent=True)
        said = said if isinstance(said, dict) else {}
        tags = said.get("tags")
        tags = tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()
        return _batch(services, uploads.begin(str(said.get("name", "")), owner(), str(said.get("note", "")), tags)), 201

    @server.get(f"{prefix}batches/<batch_id>")
    def look(batch_id: str) -> Any:
        return _batch(services, _own(uploads.batch(batch_id)))

    @server.post(f"{prefix}batches/<batch_id>/finish")
    def finish(batch_id: str) -> Any:
        _own(uploads.batch(batch_id))
        threading.Thread(target=_finish, args=(services, batch_id), name="swimscope-unpack", daemon=True).start()
        return _batch(services, uploads.batch(batch_id)), 202

    @server.delete(f"{prefix}batches/<batch_id>")
    def cancel(batch_id: str) -> Any:
        _own(uploads.batch(batch_id))
        uploads.cancel(batch_id)
        return "", 204

    @server.put(f"{prefix}push/<name>")
    def push(name: str) -> Any:
        """``curl -T run.tar.gz URL/api/push/run.tar.gz``: answers with the link of the run."""
        length = flask.request.content_length
        if length is None:
            return {"error": "the request has no Content-Length; send a file, not a stream"}, 411
        batch = uploads.begin(name.partition(".")[0] or name, owner(), flask.request.args.get("note", ""))
        try:
            part = uploads.create(batch.id, name, length)
            uploads.append(part.id, 0, _body(uploads))
            upload = uploads.finish(batch.id)
        finally:
            uploads.cancel(batch.id)
        services.library.look_again()
        return finished(services, upload), 201


def _finish(services: Services, batch_id: str) -> None:
    """On a thread of its own; what goes wrong is in the batch, where the page reads it."""
    try:
        services.uploads.finish(batch_id)
    except SwimscopeError:
        return
    services.library.look_again()


def _register_finished(server: flask.Flask, services: Services, uploads: Uploads, prefix: str) -> None:
    @server.get(f"{prefix}uploaded")
    def listed() -> Any:
        deleted = flask.request.args.get("deleted") == "1"
        return {"uploads": [finished(services, item) for item in uploads.all(deleted)]}

    @server.patch(f"{prefix}uploaded/<upload_id>")
    def describe(upload_id: str) -> Any:
        _may_change(uploads.get(upload_id))
        said = flask.request.get_json(silent=True)
        if not isinstance(said, dict):
            return {"error": "the body must be JSON with name, note or tags"}, 400
        tags = said.get("tags")
        name, note = (said[key] if isinstance(said.get(key), str) else None for key in ("name", "note"))
        chosen = tuple(str(tag) for tag in tags) if isinstance(tags, list) else None
        return finished(services, uploads.describe(upload_id, name, note, chosen))

    @server.delete(f"{prefix}uploaded/<upload_id>")
    def delete(upload_id: str) -> Any:
        _may_change(uploads.get(upload_id))
        gone = uploads.delete(upload_id)
        services.library.look_again()
        return finished(services, gone)

    @server.post(f"{prefix}uploaded/<upload_id>/undo")
    def undo(upload_id: str) -> Any:
        _may_change(uploads.get(upload_id))
        back = uploads.undo(upload_id)
        services.library.look_again()
        return finished(services, back)


def _may_change(upload: Upload) -> None:
    """Owners change their uploads; administrators every one (:mod:`app.server.access` sets ``g.role``)."""
    if upload.owner != owner() and flask.g.get("role", "admin") != "admin":
        flask.abort(403, description=f"the upload {upload.name} belongs to {upload.owner}")


def _batch(services: Services, batch: Batch) -> dict[str, Any]:
    link = f"{services.settings.url_prefix}?q={batch.name}" if batch.upload else ""
    return {
        "id": batch.id,
        "name": batch.name,
        "state": batch.state,
        "done_bytes": batch.done_bytes,
        "message": errors.shown(batch.message),
        "upload": batch.upload,
        "href": link,
    }


def finished(services: Services, upload: Upload) -> dict[str, Any]:
    """A finished upload as JSON."""
    return {
        "id": upload.id,
        "name": upload.name,
        "owner": upload.owner,
        "note": upload.note,
        "tags": list(upload.tags),
        "files": upload.files,
        "size_bytes": upload.size_bytes,
        "created_s": upload.created_s,
        "deleted": upload.deleted_s is not None,
        "href": f"{services.settings.url_prefix}?q={upload.name}",
    }
