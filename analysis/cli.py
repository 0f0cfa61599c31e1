"""``python -m analysis COMMAND PATH``: every analysis on the command line.

Exit codes: 0 fine, 2 usage (also: the path holds several captures), 3 the input cannot be read or cannot answer. Errors
are one line on stderr. Commands, their options and their columns come from :mod:`analysis.registry`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from analysis.capture import Capture
from analysis.entry import Analysis, Parameter
from analysis.errors import AmbiguousError, LimitError, NotAvailable, ParameterError, SwimscopeError, readable
from analysis.registry import ANALYSES

OK, USAGE, UNREADABLE = 0, 2, 3
FORMATS = ("table", "json", "csv")

Command = Callable[[argparse.Namespace], None]


class UsageError(Exception):
    """The command line itself is wrong."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code and never raises for bad input."""
    try:
        options = build_parser().parse_args(argv)
        command: Command = options.command
        command(options)
    except (UsageError, AmbiguousError, LimitError, ParameterError) as error:
        return _fail(error, USAGE)
    except NotAvailable as error:
        return _fail(f"not available: {error.reason}", UNREADABLE)
    except (SwimscopeError, OSError) as error:
        return _fail(error, UNREADABLE)
    return OK


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command; each sets ``command`` to what it runs."""
    parser = _Parser(prog="python -m analysis", description="Answers about one PyPTO capture.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    info = commands.add_parser("info", help="What is in the capture, and what is wrong with it?")
    _add_input(info, FORMATS)
    info.set_defaults(command=_info)
    for analysis in ANALYSES:
        sub = commands.add_parser(analysis.name, help=analysis.question, description=analysis.question)
        _add_input(sub, (*FORMATS, *(name for name, _ in analysis.exports)))
        for parameter in analysis.parameters:
            _add_parameter(sub, parameter)
        sub.set_defaults(command=_analyse, analysis=analysis)
    _add_report(commands)
    _add_trace(commands)
    _add_synth(commands)
    return parser


def _add_input(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    parser.add_argument("path", metavar="PATH", help="a swimlane file, or a directory that holds one")
    parser.add_argument("--launch", type=int, metavar="N", help="which launch of the file (default 0)")
    parser.add_argument("--format", choices=formats, default=formats[0], help=f"default: {formats[0]}")
    parser.add_argument("--out", metavar="FILE", help="write there instead of to the standard output")


def _add_parameter(parser: argparse.ArgumentParser, parameter: Parameter) -> None:
    words = parameter.doc if parameter.default in (None, False) else f"{parameter.doc} Default: {parameter.default}."
    if parameter.kind == "flag":
        parser.add_argument(parameter.option, action="store_true", default=None, help=words)
    elif parameter.kind == "choice":
        parser.add_argument(parameter.option, choices=parameter.choices, help=words)
    else:
        number = int if parameter.kind == "int" else float
        parser.add_argument(parameter.option, type=number, metavar="N" if number is int else "US", help=words)


def _add_report(commands: Any) -> None:
    words = "One self-contained page about the capture, for CI artefacts."
    parser = commands.add_parser("report", help=words, description=words)
    _add_input(parser, ("html", "markdown"))
    parser.add_argument("--link", metavar="URL", help="address of this run on a Swimscope server, to link to")
    parser.set_defaults(command=_report)


def _add_trace(commands: Any) -> None:
    words = "The capture as Chrome trace JSON, for Perfetto."
    parser = commands.add_parser("trace", help=words, description=words)
    parser.add_argument("path", metavar="PATH", help="a swimlane file, or a directory that holds one")
    parser.add_argument("--launch", type=int, metavar="N", help="which launch of the file (default 0)")
    parser.add_argument("--arrows", action="store_true", help="one arrow per dependency as well")
    parser.add_argument("--out", metavar="FILE", required=True, help="file to write")
    parser.set_defaults(command=_trace)


def _add_synth(commands: Any) -> None:
    words = "Write a synthetic capture: schema-exact, seeded, of any size."
    parser = commands.add_parser("synth", help=words, description=words)
    parser.add_argument("path", metavar="DIR", help="directory to write into; created if needed")
    parser.add_argument("--records", type=int, required=True, metavar="N", help="task records, 10 to 1,000,000")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed gives the same bytes")
    parser.add_argument("--level", type=int, default=4, choices=(1, 2, 3, 4), help="capture level (default 4)")
    parser.add_argument("--shape", default="paged-attention", metavar="NAME", help="default: paged-attention")
    parser.set_defaults(command=_synth)


def _analyse(options: argparse.Namespace) -> None:
    analysis: Analysis = options.analysis
    capture = _open(options)
    try:
        result = analysis.run(capture, **analysis.arguments(capture, vars(options)))
    except NotAvailable as error:
        if len(capture.records) or not analysis.rows_are_json:
            raise
        _say(f"not available: {error.reason}")
        _write(_no_rows(analysis, options.format), options.out)
        return
    if options.format == "json":
        text = _json(result.to_json())
    elif options.format == "csv":
        text = result.table.to_csv()
    elif options.format in dict(analysis.exports):
        text = "".join(analysis.exported(options.format, capture, result))
    else:
        text = "\n".join(f"{title}\n{table.to_text()}" for title, table in analysis.tables(result))
        text += "".join(f"\nNote: {note}\n" for note in analysis.notes(result))
    _write(text, options.out)


def _no_rows(analysis: Analysis, form: str) -> str:
    """What a command that lists rows prints for a capture without records."""
    if form == "json":
        return _json([])
    return ",".join(column.name for column in analysis.columns) + "\n" if form == "csv" else ""


def _open(options: argparse.Namespace) -> Capture:
    from analysis.discovery import sources

    capture = sources.open_one(options.path, options.launch or 0, _unreadable)
    if capture.meta.launches > 1 and options.launch is None:
        _say(f"{options.path} holds {capture.meta.launches} launches, this is launch 0; choose with --launch N")
    return capture


def _info(options: argparse.Namespace) -> None:
    from analysis.discovery import sources

    facts = sources.describe(options.path, options.launch or 0, _unreadable)
    table = sources.facts_table(facts)
    if options.format == "json":
        text = _json(facts)
    elif options.format == "csv":
        text = table.to_csv()
    elif isinstance(facts, list):
        text = table.to_text()
    else:
        text = f"{table.to_text()}\nData quality\n{sources.quality_table(facts).to_text()}"
    _write(text, options.out)


def _report(options: argparse.Namespace) -> None:
    from analysis.export.report.build import build
    from analysis.export.report.writers import to_html, to_markdown

    if options.link is not None and not options.link.startswith(("http://", "https://")):
        raise UsageError("--link takes an address that begins with http:// or https://")
    report = build(_open(options), options.link)
    _write(to_html(report) if options.format == "html" else to_markdown(report), options.out)


def _trace(options: argparse.Namespace) -> None:
    from analysis.export.trace import trace_chunks

    chunks = trace_chunks(_open(options), options.arrows)
    first, counts = next(chunks)  # raises before the file is created
    try:
        with Path(options.out).open("wb") as out:
            out.write(first)
            for chunk, written in chunks:
                out.write(chunk)
                counts = written
    except OSError as error:
        raise UsageError(f"cannot write {options.out}: {error.strerror}") from error
    _write(f"{readable(options.out)}: {counts.total_slices} slices, {counts.arrows} arrows\n", None)


def _synth(options: argparse.Namespace) -> None:
    from analysis.synth.capture import write_capture

    made = write_capture(options.path, options.records, options.seed, level=options.level, shape=options.shape)
    _write("".join(f"{path}\n" for path in made.files), None)


def _json(value: Any) -> str:
    import orjson

    return orjson.dumps(value).decode() + "\n"


def _write(text: str, out: str | None) -> None:
    if out is not None:
        try:
            Path(out).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {out}: {error.strerror}") from error
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough; keep the interpreter from writing to it again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unreadable(path: str, reason: str) -> None:
    _say(f"{path}: {reason}")


def _say(message: object) -> None:
    sys.stderr.write(f"swimscope: {readable(' '.join(str(message).split()))}\n")


def _fail(message: object, code: int) -> int:
    _say(message)
    return code
