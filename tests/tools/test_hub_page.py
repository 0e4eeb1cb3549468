"""The settings that the page on hubs recommends: valid, and wide enough for what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "seminar" / "hub.md").read_text("utf-8")
RECORD: dict[str, Any] = json.loads((ROOT / "benchmarks" / "records" / "hub.json").read_text())
UNITS = {"M": 2**20, "G": 2**30}  # of JupyterHub's byte specifications


def settings() -> dict[str, Any]:
    """Return what the page's YAML blocks say, the first of each name."""
    found: dict[str, Any] = {}
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        for name, value in yaml.safe_load(block).items():
            found.setdefault(name, value)
    return found


def megabytes(text: str) -> float:
    """Return the size that a setting names, in millions of bytes."""
    return int(text[:-1]) * UNITS[text[-1]] / 1e6


def test_memory_is_enough_for_what_was_measured() -> None:
    peaks = sorted(notebook["peak_mb"] for notebook in RECORD["notebooks"].values())
    server = RECORD["server"]["peak_mb"]
    for memory in (
        settings()["singleuser"]["memory"],
        settings()["jupyterhub"]["singleuser"]["memory"],
    ):
        assert peaks[-1] + server <= megabytes(memory["guarantee"])
        assert peaks[-1] + peaks[-2] + server <= megabytes(memory["limit"]) * 0.9


def test_options_are_those_of_the_charts() -> None:
    """As the charts' own values files name them; a misspelt one would be passed over in silence."""
    assert set(settings()) == {
        *("singleuser", "prePuller", "scheduling", "cull"),  # Zero to JupyterHub
        *("config", "jupyterhub"),  # BinderHub
    }
    assert set(settings()["singleuser"]) <= {
        *("image", "memory", "cpu", "extraEnv", "defaultUrl", "startTimeout"),
    }
    assert set(settings()["prePuller"]) == {"hook", "continuous"}
    assert set(settings()["scheduling"]) == {"podPriority", "userPlaceholder"}
    assert set(settings()["config"]["BinderHub"]) == {
        *("use_registry", "image_prefix", "per_repo_quota"),
    }


def test_every_notebook_was_measured() -> None:
    """Those of the chapters; exercises run less than the chapters that they belong to."""
    chapters = {path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    assert set(RECORD["notebooks"]) >= chapters
