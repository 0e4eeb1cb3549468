"""What the English model is trained on: how a text becomes sentences, and which text it must be."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
import train_english_small as tool

BOOK = (
    "\ufeffThe Project Gutenberg EBook of A Book\r\n\r\n*** START OF THIS PROJECT GUTENBERG EBOOK A"
    " LONG,\r\nLONG TITLE ***\r\n\r\nMr. Rat had 12 _boats_. “Whose?” asked\r\nthe Mole.\r\n\r\n"
    "A new paragraph\r\n\r\n"
)
SENTENCES = [
    ["mr", ".", "rat", "had", "00", "boats", "."],
    ['"', "whose", "?", '"'],
    ["asked", "the", "mole", "."],
    ["a", "new", "paragraph"],
]


@pytest.mark.parametrize(
    "footer",
    [
        "End of Project Gutenberg’s A Book\r\nfoot",
        "*** END OF THIS PROJECT GUTENBERG EBOOK ***\r\n",
    ],
)
def test_a_book_is_what_stands_between_header_and_footer(footer: str) -> None:
    assert list(tool.book_sentences(BOOK + footer)) == SENTENCES


def test_an_address_is_a_line_after_its_year() -> None:
    assert list(tool.address_sentences("1790\tfellow - citizens\n1791\tpeace .\n")) == [
        ["fellow", "-", "citizens"],
        ["peace", "."],
    ]


def source(content: bytes) -> tool.Source:
    return tool.Source("book.txt", "A Book", "a shelf", hashlib.sha256(content).hexdigest())


def test_a_text_is_read_plain_or_packed(tmp_path: Path) -> None:
    content = BOOK.encode()
    (tmp_path / "book.txt.gz").write_bytes(gzip.compress(content))
    packed = source(content).read(tmp_path)
    (tmp_path / "book.txt").write_bytes(content)
    assert packed == source(content).read(tmp_path) == BOOK.removeprefix("\ufeff")


def test_a_missing_or_different_text_is_named_with_its_origin_and_sum(tmp_path: Path) -> None:
    wanted = source(b"one")
    with pytest.raises(FileNotFoundError, match=f"is missing: A Book, a shelf; .*{wanted.sha256}"):
        wanted.read(tmp_path)
    (tmp_path / "book.txt").write_bytes(b"other")
    with pytest.raises(ValueError, match=f"is another text: expected SHA-256 {wanted.sha256}"):
        wanted.read(tmp_path)


def test_blocks_of_neighbours_are_held_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "".join(f"1790\tword{number} .\n" for number in range(2500)).encode()
    name = "sotu.txt"
    (tmp_path / name).write_bytes(content)
    text = tool.Source(name, "Addresses", "a shelf", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(tool, "SOURCES", (text,))
    splits = tool.read_splits(tmp_path)
    assert [sentence[0] for sentence in splits.development] == [
        f"word{n}" for n in range(1200, 1300)
    ]
    assert [sentence[0] for sentence in splits.test] == [f"word{n}" for n in range(2400, 2500)]
    assert len(splits.train) == 2300


def test_the_command_says_what_it_misses(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, root / "tools" / "train_english_small.py", tmp_path]
    command += ["--output", tmp_path / "model"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(root)}
    )
    assert done.returncode == 2
    assert "The Wind in the Willows, Project Gutenberg ebook 289" in done.stderr
    assert not (tmp_path / "model").exists()
