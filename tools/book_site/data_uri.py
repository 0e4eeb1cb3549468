"""Small files inside a style sheet."""

import base64
from pathlib import Path


def data_uri(path: Path, kind: str) -> str:
    """Return the content of `path`, of the MIME type `kind`, as an address that holds it."""
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
