"""How did the ranks of one run compare? Trees of ``rankN/dN`` captures, paired, placed on one axis, and measured.

:func:`~analysis.ranks.tree.find_tree` pairs the captures, :func:`~analysis.ranks.facts.rank_facts` reads what is needed of
each, :mod:`~analysis.ranks.compare` makes the tables. Sources: FORMATS-2 sections 3 and 5, VIEWS "Ranks".
"""

from __future__ import annotations
