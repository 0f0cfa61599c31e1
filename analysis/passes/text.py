"""Which lines does a snapshot have, and how are they shown safely?

Lines end at LF, CRLF or CR only, as for Python itself, so line numbers agree with ``ast``; U+2028 and U+2029 end none.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

MAX_SHOWN_CHARS = 4_000
"""Characters of one line that a row carries; the row says how many more there are."""

_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}
_SUSPECT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u180e\u200b-\u200f\u2028-\u202e"
                      r"\u2060-\u206f\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U0010ffff]")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file with LF line ends; ``bad_byte`` is the offset of the first byte that is not UTF-8."""

    text: str
    sha256: str
    bad_byte: int | None


def decode(raw: bytes) -> Decoded:
    """Bytes of a snapshot or log as text; bytes that are not UTF-8 become U+FFFD and the first is named.

    ``sha256`` is taken of the text, so that CRLF and LF files, which are no change, share one digest.
    """
    bad: int | None = None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bad = error.start
        text = raw.decode("utf-8-sig", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text and not text.endswith("\n"):
        text += "\n"
    return Decoded(text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), bad)


def split_lines(text: str) -> list[str]:
    """Lines of a decoded text, without their ends; a text that ends in LF has no empty last line."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def shown(text: str) -> str:
    r"""``text`` with every character escaped (``\u202e``) that would be invisible or reorder its neighbours."""
    return _SUSPECT.sub(_escape, text)


def pieces(text: str, marks: tuple[tuple[int, int], ...]) -> list[tuple[str, bool]]:
    """``text`` cut at its marks, ready to be drawn: (escaped piece, is it marked); empty pieces are left out."""
    out: list[tuple[str, bool]] = []
    at = 0
    for start, end in marks:
        out += [(text[at:start], False), (text[start:end], True)]
        at = end
    out.append((text[at:], False))
    return [(shown(piece), marked) for piece, marked in out if piece]


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if unicodedata.category(char) not in _INVISIBLE and char != "\xad":
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
