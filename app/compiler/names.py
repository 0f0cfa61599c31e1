"""Which function of the run is a function of its dump? By name, from the run's name map."""

from __future__ import annotations

from app.server.services import Services
from app.work import waiting


def function_names(services: Services, run_key: str, launch: int) -> dict[str, int]:
    """Function id by name from the run's name map; empty while the capture is not open and would take long to be."""
    run = services.library.run(run_key)
    if not run.openable or not waiting.at_once(services, run, launch):
        return {}
    capture = services.library.capture(run_key, launch)
    return {name: func_id for func_id, name in capture.meta.func_names.items()}
