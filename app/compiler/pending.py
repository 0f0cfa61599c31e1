"""What is an answer that is still being made, and which errors of the disk cache leave it to be computed again?"""

from __future__ import annotations

import sqlite3

import diskcache

from analysis.errors import SwimscopeError
from app.work.jobs import Job

DISK_ERRORS = (OSError, sqlite3.Error, diskcache.Timeout)
"""What a cache on disk may raise; the answer is then computed without it."""


class NotYet(SwimscopeError):
    """The answer takes long: ``job`` makes it, ``title`` says what it is."""

    def __init__(self, job: Job, title: str) -> None:
        self.job = job
        self.title = title
        super().__init__(title)
