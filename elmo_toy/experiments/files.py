"""The two recorded data sets: where they come from, and reading them from a folder.

Neither is part of the repository; results computed from them are, their sentences never. EWT's
annotations are under CC BY-SA 4.0, and who holds which rights in its web texts is not clear; Snips
is under CC0 1.0. A file that is missing, or whose text is another, is refused with what is needed
to obtain the same.

Source: Silveira et al. (2014); Coucke et al. (2018).

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class DataError(ValueError):
    """A file of data is missing or is another text than expected."""


@dataclass(frozen=True)
class Source:
    """One file: its origin, how it is made from it, and the SHA-256 of the unpacked text."""

    file: str
    sha256: str
    origin: str
    recipe: str

    def read(self, folder: Path) -> str:
        """The unpacked text.

        Raises
        ------
        DataError
            If the file is missing, or its text is not the one that was measured.
        """
        path = folder / self.file
        how = f"origin: {self.origin}; {self.recipe}; SHA-256 of the unpacked text: {self.sha256}"
        if not path.exists():
            raise DataError(f"{path} is missing. {how}")
        content = gzip.decompress(path.read_bytes())
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise DataError(f"{path} is another text: its SHA-256 is {found}. {how}")
        return content.decode("utf-8")


_EWT = "Universal Dependencies, UD_English-EWT at commit 15d613d (v2.16), annotations CC BY-SA 4.0"
_EWT_RECIPE = (
    "of en_ewt-ud-{}.conllu keep FORM, UPOS and XPOS of each word line, joined by tabs, with an "
    "empty line after each sentence, and pack it with gzip"
)
_SNIPS = "sonos/nlu-benchmark at commit b86ac7f, 2017-06-custom-intent-engines, CC0 1.0"
_SNIPS_RECIPE = (
    "one JSON object a line, {{intent, tok, lab}}, of the {} files, lower-cased tokens with BIO "
    "labels, packed with gzip"
)

EWT = {
    part: Source(f"ewt/ewt_{part}.tsv.gz", sha256, _EWT, _EWT_RECIPE.format(part))
    for part, sha256 in (
        ("train", "f43caea8bcb890ea29011c77986bb04d073dac8a9d134428101e0023883f7b09"),
        ("dev", "e32fb133a579838daad7d2f0116527577132fe9ef14762ed429ad69fb1b49d8d"),
        ("test", "10db3fe452685aedbe0033cf846602a60f5d1324fcbd10e355ebaea36e883c74"),
    )
}
SNIPS = {
    part: Source(f"snips/snips_{part}.jsonl.gz", sha256, _SNIPS, _SNIPS_RECIPE.format(part))
    for part, sha256 in (
        ("train", "b1c078944654869d67c9a9936310681da4b9a8d632dca2a2887245b1c8be58e1"),
        ("validate", "adc5fe276482d983c087d8141585665951a4b12b1ce1845f695db02bb12e4fd5"),
    )
}

Tokens = tuple[str, ...]
Example = tuple[Tokens, Tokens]
"""Words and their tags."""


def ewt(folder: Path, part: str) -> list[Example]:
    """Sentences of EWT with their universal parts of speech; words lower-cased, digits as 0."""
    sentences = EWT[part].read(folder).strip("\n").split("\n\n")
    return [_example(sentence.split("\n")) for sentence in sentences]


def _example(lines: list[str]) -> Example:
    fields = [line.split("\t") for line in lines]
    return tuple(_plain(form) for form, *_ in fields), tuple(tag for _, tag, _ in fields)


def _plain(form: str) -> str:
    return "".join("0" if character.isdigit() else character for character in form.lower())


def snips(folder: Path, part: str) -> list[Example]:
    """Utterances of Snips with their BIO slot labels; an utterance without words is left out."""
    return [(words, labels) for words, labels in _utterances(folder, part) if words]


def _utterances(folder: Path, part: str) -> Iterator[Example]:
    for line in SNIPS[part].read(folder).splitlines():
        utterance = json.loads(line)
        yield tuple(_plain(word) for word in utterance["tok"]), tuple(utterance["lab"])
