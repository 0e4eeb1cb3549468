"""Fonts cut down to the signs in use, small enough to come with their style sheet."""

import base64
import logging
import tempfile
from collections.abc import Set
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# it comments on the age of each font
logging.getLogger("fontTools").setLevel(logging.ERROR)


def small_font(source: Path, characters: Set[int]) -> str:
    """Return the glyphs of `characters` that the font has, as an address; empty if none."""
    options = subset.Options()
    options.flavor = "woff"
    options.layout_features = []
    options.hinting = False  # half the size; screens are fine enough today
    options.drop_tables += ["FFTM"]
    with TTFont(source, recalcTimestamp=False) as font, tempfile.TemporaryDirectory() as scratch:
        kept = characters & set(font.getBestCmap())
        if not kept:
            return ""
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=kept)
        subsetter.subset(font)
        target = Path(scratch) / "small.woff"
        subset.save_font(font, target, options)
        return f"data:font/woff;base64,{base64.b64encode(target.read_bytes()).decode()}"
