"""What does a process keep of computed things? Small caches by content, shared by everything that asks by the same name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from cachetools import LRUCache

from app.server import figures

T = TypeVar("T")


class Caches:
    """Caches by name, each with its own size; what is kept holds content only, so that all users share it."""

    def __init__(self) -> None:
        self._named: dict[str, LRUCache[Hashable, Any]] = {}
        self._lock = threading.Lock()

    def get(self, name: str, key: Hashable, make: Callable[[], T], keep: int) -> T:
        """What ``make`` returned for ``key`` before, or now.

        Args:
            name: the cache.
            key: names content, never a user or a file that may change.
            make: computes the value; two threads may do so at the same time, never with a lock held.
            keep: entries of the cache.
        """
        with self._lock:
            cache = self._named.setdefault(name, LRUCache(keep))
            hit = key in cache
            figures.looked_up(name, hit)
            if hit:
                found: T = cache[key]
                return found
        made = make()
        with self._lock:
            cache[key] = made
        return made
