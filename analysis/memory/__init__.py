"""Where did each tile lie in on-chip memory, for how long, and what is full? Maps of one snapshot of a pass dump.

:func:`~analysis.memory.maps.load_map` reads a snapshot at or after AllocateMemoryAddr; :mod:`~analysis.memory.questions`
answers what a map raises. Definitions: ALGORITHMS, "Memory map".
"""

from __future__ import annotations
