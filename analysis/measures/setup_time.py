"""Which records spend the longest, or the largest share, of their time in setup?

Source: ALGORITHMS, "Function statistics" (panel extras). Setup is start - receive of one record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from analysis.capture import Capture
from analysis.errors import NotAvailable, ParameterError
from analysis.measures.needs import has_receive, require_records
from analysis.results import Column, Table, task_ids, to_us

if TYPE_CHECKING:
    import pandas as pd

Order: TypeAlias = Literal["setup", "share"]

COLUMNS = (
    Column("task_id", "id", "Task of the record."),
    Column("name", "text", "Function of the record."),
    Column("func_id", "index", "Function id; -1 where deps.json names none."),
    Column("core_id", "index", "Core that ran the record."),
    Column("block", "index", "Block index inside the task."),
    Column("setup_us", "us", "start - receive."),
    Column("exec_us", "us", "end - start."),
    Column("share", "share", "setup / (setup + execution)."),
    Column("receive_us", "us", "When the core received the record, from capture zero."),
    Column("setup_ticks", "ticks", "start - receive in ticks."),
    Column("exec_ticks", "ticks", "end - start in ticks."),
)


@dataclass(frozen=True, slots=True)
class SetupTimes:
    """The leading records of one order; ``n_total`` records were compared."""

    order: Order
    table: Table
    n_total: int

    @property
    def notes(self) -> tuple[str, ...]:
        """How many records the table leaves out."""
        if len(self.table) == self.n_total:
            return ()
        return (f"The first {len(self.table):,} of {self.n_total:,} records.",)

    def frame(self) -> pd.DataFrame:
        """The rows as a frame."""
        return self.table.frame()

    def to_json(self) -> list[dict[str, Any]]:
        """One object per record, leading first."""
        return self.table.to_records()


def setup_times(capture: Capture, order: Order = "setup", top: int = 50) -> SetupTimes:
    """The ``top`` records by setup, or by setup / (setup + execution); ties by record order.

    Raises:
        NotAvailable: no records, or no receive stamp in the container.
        ParameterError: ``top`` is negative or ``order`` is unknown.
    """
    if order not in ("setup", "share") or top < 0:
        raise ParameterError(f"order must be 'setup' or 'share' and top >= 0, not {order!r} and {top}")
    records = capture.records
    require_records(capture, "Setup times need")
    if not has_receive(capture):
        raise NotAvailable(
            "Setup was not captured: no record holds a receive stamp (the column receive_to_start came on 22 June 2026). "
            "Capture again with a newer runtime."
        )
    setup = records.start_ticks - records.receive_ticks
    length = records.end_ticks - records.start_ticks
    whole = setup + length
    share = np.divide(setup, whole, out=np.full(len(setup), np.nan), where=whole > 0)
    key = setup.astype(np.float64) if order == "setup" else np.nan_to_num(share, nan=-np.inf)
    rows = np.argsort(-key, kind="stable")[:top]
    func_id = records.func_id[rows]
    table = Table(
        COLUMNS,
        {
            "task_id": task_ids(capture, records.task[rows]),
            "name": [capture.meta.func_name(int(f)) for f in func_id],
            "func_id": func_id,
            "core_id": records.core_id[rows],
            "block": records.block[rows],
            "setup_us": to_us(capture, setup[rows]),
            "exec_us": to_us(capture, length[rows]),
            "share": share[rows],
            "receive_us": to_us(capture, records.receive_ticks[rows]),
            "setup_ticks": setup[rows],
            "exec_ticks": length[rows],
        },
    )
    return SetupTimes(order, table, len(records))
