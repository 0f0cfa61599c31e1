"""``python -m app``: the same as the ``swimscope`` command."""

from __future__ import annotations

import sys

from app.server.cli import main

if __name__ == "__main__":
    sys.exit(main())
