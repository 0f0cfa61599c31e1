"""``python -m analysis COMMAND PATH``: every analysis on the command line.

Exit codes: 0 fine, 2 usage (also: the path holds several captures), 3 the input cannot be read or cannot answer. Errors
are one line on stderr. Commands, their options and their columns come from :mod:`analysis.registry`.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from analysis.capture import Capture, ids
from analysis.capture.remembered import Memory
from analysis.entry import MAX_US, Analysis, Parameter
from analysis.errors import AmbiguousError, LimitError, NotAvailable, ParameterError, SwimscopeError, readable
from analysis.registry import ANALYSES
from analysis.stdout import OutputError, output_errors
from analysis.version import version

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
        options = build_parser().parse_args(joined_numbers(list(sys.argv[1:] if argv is None else argv)))
        command: Command = options.command
        with output_errors():
            command(options)
        if "memory" in options:
            _prepare(options.memory)
    except (OutputError, UsageError, AmbiguousError, LimitError, ParameterError) as error:
        return _fail(error, USAGE)
    except NotAvailable as error:
        return _fail(f"not available: {error.reason}", UNREADABLE)
    except (SwimscopeError, OSError) as error:
        return _fail(error, UNREADABLE)
    return OK


_NUMBER = re.compile(r"-(\d+\.?\d*(e[-+]?\d+)?|\.\d+(e[-+]?\d+)?|inf|infinity|nan)", re.IGNORECASE)


def joined_numbers(arguments: list[str]) -> list[str]:
    """``--t0-us -1e3`` as ``--t0-us=-1e3``: a negative number after an option is its value, not another option."""
    out: list[str] = []
    for argument in arguments:
        if out and out[-1].startswith("--") and "=" not in out[-1] and _NUMBER.fullmatch(argument):
            out[-1] += f"={argument}"
        else:
            out.append(argument)
    return out


def _finite(text: str) -> float:
    """A number of the command line; nan, infinity and what no run can reach are refused."""
    number = float(text)
    if not math.isfinite(number) or abs(number) > MAX_US:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of microseconds")
    return number


def _launch(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is no launch: count from 0")
    return number


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command; each sets ``command`` to what it runs."""
    parser = _Parser(prog="python -m analysis", description="Answers about one PyPTO capture.")
    parser.add_argument("--version", action="version", version=f"swimscope {version()}")
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
    _add_trace_commands(commands)
    _add_synth(commands)
    _add_passes(commands)
    _add_memory_map(commands)
    _add_ranks(commands)
    return parser


def _add_input(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    parser.add_argument("path", metavar="PATH", help="a swimlane file, or a directory that holds one")
    parser.add_argument("--launch", type=_launch, metavar="N", help="which launch of the file (default 0)")
    parser.add_argument("--include-flagged", action="store_true", help="also rows whose stamps cannot be right")
    _add_no_store(parser)
    parser.add_argument("--format", choices=formats, default=formats[0], help=f"default: {formats[0]}")
    parser.add_argument("--out", metavar="FILE", help="write there instead of to the standard output")


def _add_no_store(parser: argparse.ArgumentParser) -> None:
    words = "read the files again and keep nothing (else: the store below $SWIMSCOPE_DATA_DIR)"
    parser.add_argument("--no-store", action="store_true", help=words)


def _memory(options: argparse.Namespace) -> Memory:
    """What this command may remember; one for the whole command."""
    if "memory" not in options:
        options.memory = Memory(used=not options.no_store)
    return cast(Memory, options.memory)


def _add_parameter(parser: argparse.ArgumentParser, parameter: Parameter) -> None:
    words = parameter.doc if parameter.default in (None, False) else f"{parameter.doc} Default: {parameter.default}."
    if parameter.kind == "flag":
        parser.add_argument(parameter.option, action="store_true", default=None, help=words)
    elif parameter.kind == "choice":
        parser.add_argument(parameter.option, choices=parameter.choices, help=words)
    else:
        whole = parameter.kind == "int"
        parser.add_argument(
            parameter.option, type=int if whole else _finite, metavar="N" if whole else "US", help=words
        )


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
    parser.add_argument("--launch", type=_launch, metavar="N", help="which launch of the file (default 0)")
    parser.add_argument("--include-flagged", action="store_true", help="also rows whose stamps cannot be right")
    _add_no_store(parser)
    parser.add_argument("--arrows", action="store_true", help="one arrow per dependency as well")
    parser.add_argument("--out", metavar="FILE", required=True, help="file to write")
    parser.set_defaults(command=_trace)


_TRACE_COMMANDS = {
    "serving": ("serving", "How long do the spans of a Chrome trace take, per process and name?"),
    "requests": (
        "request_table",
        "How long did each request of a serving trace take, to its first token and per token?",
    ),
    "trace-info": (
        "trace_info",
        "What is in a Chrome trace or a log with [STRACE] records, and what is wrong with it?",
    ),
}


def _add_trace_commands(commands: Any) -> None:
    for name, (function, words) in _TRACE_COMMANDS.items():
        parser = commands.add_parser(name, help=words, description=words)
        parser.add_argument("path", metavar="FILE", help="a Chrome trace (.json or .json.gz)")
        parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=f"default: {FORMATS[0]}")
        parser.add_argument("--out", metavar="FILE", help="write there instead of to the standard output")
        parser.set_defaults(command=_read_trace, function=function)


def _add_synth(commands: Any) -> None:
    words = "Write a synthetic capture: schema-exact, seeded, of any size."
    parser = commands.add_parser("synth", help=words, description=words)
    parser.add_argument("path", metavar="DIR", help="directory to write into; created if needed")
    parser.add_argument("--records", type=int, required=True, metavar="N", help="task records, 10 to 1,000,000")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed gives the same bytes")
    parser.add_argument("--level", type=int, default=4, choices=(1, 2, 3, 4), help="capture level (default 4)")
    parser.add_argument("--shape", default="paged-attention", metavar="NAME", help="default: paged-attention")
    parser.add_argument("--runtime", choices=ids.RUNTIMES, help="write the newest container, as this runtime does")
    parser.set_defaults(command=_synth)


def _add_passes(commands: Any) -> None:
    words = "Which compiler passes changed something, and what happened to the functions?"
    passes = commands.add_parser("passes", help=words, description=words)
    passes.add_argument(
        "path", metavar="DIR", help="a passes_dump directory, or one with a dump in, below or beside it"
    )
    passes.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=f"default: {FORMATS[0]}")
    passes.set_defaults(command=_passes)
    words = "What did a pass change? Unified text, or JSON hunks with character marks."
    diff = commands.add_parser("diff", help=words, description=words)
    diff.add_argument("path", metavar="DIR", help="as for passes")
    diff.add_argument("number", metavar="NN", help="number or name of the pass")
    diff.add_argument(
        "--against", metavar="MM", help="number or name of the pass to compare with (default: the one before)"
    )
    diff.add_argument(
        "--other", metavar="DIR", help="take that pass from this dump (default pass: the one of the same name)"
    )
    diff.add_argument("--function", metavar="F", help="only this function, by qualified or short name")
    diff.add_argument("--structure", action="store_true", help="hide memory and layout annotations on both sides")
    diff.add_argument("--context", type=int, default=3, metavar="N", help="equal lines around a change. Default: 3.")
    diff.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    diff.set_defaults(command=_diff)
    for parser in (passes, diff):
        parser.add_argument("--out", metavar="FILE", help="write there instead of to the standard output")


def _passes(options: argparse.Namespace) -> None:
    from analysis.passes import listing, opening

    made = listing.list_passes(opening.open_one(options.path))
    for problem in made.problems:
        _say(problem.message)
    table = opening.passes_table(made)
    if options.format == "json":
        text = _json(made.to_json())
    else:
        text = table.to_csv() if options.format == "csv" else table.to_text()
    _write(text, options.out)


def _diff(options: argparse.Namespace) -> None:
    from analysis.passes import opening, unified

    if options.context < 0:
        raise UsageError("--context takes a number from 0")
    dump = opening.open_one(options.path)
    other = opening.open_one(options.other) if options.other else None
    left = (other or dump).find(options.against) if options.against else None
    made = opening.open_comparison(dump, dump.find(options.number), left, other, structure=options.structure)
    shown = made.comparison.only(options.function) if options.function else made.comparison
    if options.format == "json":
        hunks = unified.json_hunks(shown, made.left, made.right, options.context)
        text = _json({"left": made.left_name, "right": made.right_name, **hunks})
    else:
        names = made.left_name, made.right_name
        text = unified.unified(shown, made.left, made.right, names, options.context)
    _write(text, options.out)


def _add_memory_map(commands: Any) -> None:
    words = "Which on-chip bytes does each tile own, from which line to which, and how full is each space?"
    parser = commands.add_parser("memory-map", help=words, description=words)
    parser.add_argument("path", metavar="PATH", help="a snapshot, a passes_dump directory, or the directory around it")
    parser.add_argument("--function", metavar="F", help="only this function")
    parser.add_argument("--chip", metavar="CHIP", help="910B or 950 (default: detected beside the dump, else 910B)")
    words = "size of a space instead of the chip's; may be repeated"
    parser.add_argument("--capacity", metavar="SPACE=BYTES", action="append", default=[], type=_capacity, help=words)
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=f"default: {FORMATS[0]}")
    parser.add_argument("--out", metavar="FILE", help="write there instead of to the standard output")
    parser.set_defaults(command=_memory_map)


def _capacity(text: str) -> tuple[str, int]:
    space, _, size = text.partition("=")
    if not space or not size.isascii() or not size.isdigit() or len(size) > 15:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not SPACE=BYTES")
    return space, int(size)


def _memory_map(options: argparse.Namespace) -> None:
    from analysis.memory import maps, questions

    made = maps.load_map(Path(options.path), options.function, options.chip, dict(options.capacity))
    for words in (made.reason, *made.notes):
        if words:
            _say(words)
    if options.format == "json":
        text = _json(made.to_json())
    else:
        table = questions.overview(made)
        text = table.to_csv() if options.format == "csv" else table.to_text()
    _write(text, options.out)


def _add_ranks(commands: Any) -> None:
    words = "Which rank of a tree was late, which was slow, and with what?"
    parser = commands.add_parser("ranks", help=words, description=words)
    parser.add_argument(
        "path", metavar="DIR", help="a directory with rankN/dN captures, or one with such a dfx_outputs"
    )
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=f"default: {FORMATS[0]}")
    parser.add_argument("--out", metavar="FILE", help="write there instead of to the standard output")
    parser.set_defaults(command=_ranks)


def _ranks(options: argparse.Namespace) -> None:
    from analysis.formats import load
    from analysis.ranks import compare, facts, tree

    found = tree.find_tree(Path(options.path))
    known = {}
    for dispatch in found.dispatches:
        for member in dispatch.members:
            try:
                known[dispatch.key, member.rank] = facts.rank_facts(load(member.path))
            except SwimscopeError as error:
                _say(f"{member.relative}: {error}")
    for problem in found.problems:
        _say(problem)
    table = compare.dispatch_table(found, known)
    if options.format == "json":
        text = _json(compare.result_json(found, known))
    else:
        text = table.to_csv() if options.format == "csv" else table.to_text()
    _write(text, options.out)


def _analyse(options: argparse.Namespace) -> None:
    analysis: Analysis = options.analysis
    capture = _open(options)
    arguments = analysis.arguments(capture, vars(options))
    memory = _memory(options)
    try:
        _write(_answer(memory, capture, analysis, arguments, options.format), options.out)
    except NotAvailable as error:
        if len(capture.records) or not analysis.rows_are_json:
            raise
        _say(f"not available: {error.reason}")
        _write(_no_rows(analysis, options.format), options.out)


def _answer(memory: Memory, capture: Capture, analysis: Analysis, arguments: dict[str, Any], form: str) -> str:
    """The text of an analysis in a format, remembered where that is allowed."""

    def make() -> str:
        result = analysis.run(capture, **arguments)
        if form == "json":
            return _json(result.to_json())
        if form == "csv":
            return result.table.to_csv()
        if form in dict(analysis.exports):
            return "".join(analysis.exported(form, capture, result))
        text = "\n".join(f"{title}\n{table.to_text()}" for title, table in analysis.tables(result))
        return text + "".join(f"\nNote: {note}\n" for note in analysis.notes(result))

    return memory.answer(capture, analysis.name, arguments | {"format": form}, make)


def _prepare(memory: Memory) -> None:
    """One capture was read, so the compiled loops are loaded: what needs them is answered now, for the next commands."""
    if len(memory.read) != 1:
        return
    for analysis in ANALYSES:
        for form in FORMATS if analysis.compiled else ():
            with contextlib.suppress(NotAvailable, LimitError):
                _answer(memory, memory.read[0], analysis, {}, form)


def _no_rows(analysis: Analysis, form: str) -> str:
    """What a command that lists rows prints for a capture without records."""
    if form == "json":
        return _json([])
    return ",".join(column.name for column in analysis.columns) + "\n" if form == "csv" else ""


def _open(options: argparse.Namespace) -> Capture:
    from analysis.discovery import sources

    capture = sources.open_one(
        options.path, options.launch or 0, _unreadable, options.include_flagged, _memory(options).open
    )
    if capture.meta.launches > 1 and options.launch is None:
        _say(f"{options.path} holds {capture.meta.launches} launches, this is launch 0; choose with --launch N")
    return capture


def _info(options: argparse.Namespace) -> None:
    from analysis.discovery import sources

    facts = sources.describe(
        options.path, options.launch or 0, _unreadable, options.include_flagged, _memory(options).open
    )
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


def _read_trace(options: argparse.Namespace) -> None:
    from analysis.traces import commands

    value, table, notes = getattr(commands, options.function)(options.path)
    if options.format == "json":
        text = _json(value)
    elif options.format == "csv":
        text = table.to_csv()
    else:
        text = table.to_text() + "".join(f"\nNote: {note}\n" for note in notes)
    _write(text, options.out)


def _synth(options: argparse.Namespace) -> None:
    from analysis.synth.capture import write_capture

    made = write_capture(
        options.path, options.records, options.seed, level=options.level, shape=options.shape, runtime=options.runtime
    )
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
    sys.stdout.write(text)
    sys.stdout.flush()


def _unreadable(path: str, reason: str) -> None:
    _say(f"{path}: {reason}")


def _say(message: object) -> None:
    sys.stderr.write(f"swimscope: {readable(' '.join(str(message).split()))}\n")


def _fail(message: object, code: int) -> int:
    _say(message)
    return code
