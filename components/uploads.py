"""What does the runs page offer for uploads? A drop zone with progress, and the list of what was uploaded."""

from __future__ import annotations

from dash import html


def drop_zone() -> html.Div:
    """Button, drop zone and the progress of what is being sent; the script ``runs/upload.js`` fills it."""
    return html.Div(
        [
            html.Div(
                [
                    html.Strong("Drop a run here"),
                    html.Span(" – files, a directory, or a zip, tar, tar.gz, tar.zst of one", className="muted"),
                    html.Span(className="spacer"),
                    html.Button("Choose files", id="upload-files", className="button", type="button"),
                    html.Button("Choose a directory", id="upload-folder", className="button", type="button"),
                    html.Button("Uploaded runs", id="upload-list-open", className="button quiet", type="button"),
                ],
                className="upload-bar",
            ),
            html.Div(id="upload-jobs", className="upload-jobs", role="status", **{"aria-live": "polite"}),
            _list(),
        ],
        id="upload-zone",
        className="upload-zone",
    )


def _list() -> html.Dialog:
    return html.Dialog(
        [
            html.Div(
                [
                    html.H2("Uploaded runs", id="upload-list-title"),
                    html.Button("Close", id="upload-list-close", className="button quiet", type="button"),
                ],
                className="dialog-head",
            ),
            html.Div(id="upload-list", className="upload-list"),
        ],
        id="upload-list-sheet",
        className="dialog",
        **{"aria-labelledby": "upload-list-title"},
    )
