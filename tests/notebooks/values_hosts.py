"""What benchmarks/records/ holds, for the page on hubs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).resolve().parents[2] / "benchmarks" / "records"


def hosts_values() -> dict[str, Any]:
    """Read the records of memory, of processor time, and of the classroom's server."""
    hub = json.loads((RECORDS / "hub.json").read_text("utf-8"))
    lan = json.loads((RECORDS / "lan.json").read_text("utf-8"))
    notebooks = hub["notebooks"]
    memory = sorted(notebook["peak_mb"] for notebook in notebooks.values())
    dearest = max(notebook["processor_s"] for notebook in notebooks.values())
    return {
        "notebooks": notebooks,
        "server": hub["server"],
        "two_largest_mb": memory[-1] + memory[-2] + hub["server"]["peak_mb"],
        "largest_mb": memory[-1] + hub["server"]["peak_mb"],
        "dearest_s": dearest,
        "thirty_dearest_minutes": 30 * dearest / 60,
        "lan": lan,
        "within": 0.95,
        "lan_megabytes": lan["bytes_of_a_first_page"] / 1e6,
        "lan_all_megabytes": lan["readers"] * lan["bytes_of_a_first_page"] / 1e6,
    }
