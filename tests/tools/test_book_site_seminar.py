"""The seminar's data, and quizzes where nobody can answer them."""

from __future__ import annotations

import io
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from book_site import seminar, seminar_data, seminar_quiz
from book_site.explorer_links import LINKS
from seminar import slides
from seminar.source import read_source
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from elmo_toy import quiz
from elmo_toy.exercises import EXERCISES

REPOSITORY = Path(__file__).resolve().parents[2]
PLAN = seminar_data.plan()
LENGTHS = PLAN["plans"]
BLOCKS = {block["id"]: block for block in PLAN["block"]}
OPTIONAL = {"never_cut", "vote", "talk", "worksheet", "asked", "open", "spare"}
blocks = pytest.mark.parametrize("block", PLAN["block"], ids=lambda block: block["id"])


def test_three_plans() -> None:
    assert LENGTHS == [60, 75, 90]


@pytest.mark.parametrize("length", LENGTHS)
def test_minutes_sum_to_the_length(length: int) -> None:
    marks = seminar_data.minute_marks(length)
    assert marks[0][1] == 0
    assert marks[-1][2] == length
    for (_, _, end), (_, start, _) in itertools.pairwise(marks):
        assert end == start


@blocks
def test_a_block_is_complete(block: dict[str, object]) -> None:
    assert set(block) - OPTIONAL == {"id", "title", "minutes", "you", "they"}
    minutes = block["minutes"]
    assert isinstance(minutes, list)
    assert len(minutes) == len(LENGTHS)
    assert minutes == sorted(minutes), "a longer plan never has less time for a block"


@blocks
def test_what_a_block_opens_exists(block: dict[str, list[str]]) -> None:
    shown = [one for one in seminar_data.slides().values() if one.block == block["id"]]
    assert block.get("open") or not all(one.reserve for one in shown), "nothing is shown"
    for name in (*block.get("open", ()), *block.get("spare", ())):
        if name.startswith("explorer:"):
            assert name.removeprefix("explorer:") in LINKS
        elif name.startswith("CT"):
            assert name in seminar_data.sets()
        else:
            page, _, anchor = name.rpartition("|")[2].partition("#")
            assert (REPOSITORY / page).is_file(), page
            assert anchor, f"{page} without an anchor"


@blocks
def test_a_vote_that_a_block_asks_for_is_opened_there(block: dict[str, Any]) -> None:
    votes = block.get("vote", [])
    assert set(votes) <= set(seminar_data.sets())
    asked = re.findall(r"CT\d+", block["you"])
    assert asked[: len(votes)] == votes
    assert set(asked) <= {*votes, *block.get("spare", ())}


@blocks
def test_a_vote_leaves_time_for_what_the_block_is_about(block: dict[str, Any]) -> None:
    """Every plan has three minutes at least besides the vote, and talk where the notes need it."""
    cost = PLAN["vote"]
    assert set(block.get("talk", ())) <= set(LENGTHS)
    for length, minutes in zip(LENGTHS, block["minutes"], strict=True):
        talked = length in block.get("talk", ())
        spent = len(block.get("vote", ())) * (cost["once"] + cost["talk"] * talked)
        assert not minutes or minutes - spent >= 3, length


def test_what_is_filled_in_is_a_section_of_the_worksheet() -> None:
    """And no section is left over."""
    tasks = [*PLAN["block"], *PLAN["homework"]]
    used = {name for task in tasks for name in task.get("worksheet", ())}
    front, back = worksheet_sides()
    assert used == {*front, *back}


def worksheet_sides() -> list[list[str]]:
    """The sections on the front of the worksheet, and those on its back."""
    text = (REPOSITORY / "book/seminar/worksheet.md").read_text("utf-8")
    return [re.findall(r"^## (.+)$", side, re.MULTILINE) for side in text.split("\n---\n")]


def test_the_back_of_the_worksheet_is_turned_up_after_the_bet() -> None:
    """It has the answer: the first block that uses it says so, and everybody hears it before."""
    _, back = worksheet_sides()
    users = [block["id"] for block in PLAN["block"] if set(back) & {*block.get("worksheet", ())}]
    order = list(BLOCKS)
    assert users[0] == "walk"
    assert order.index("two-banks") < order.index("walk") < order.index("verdict")
    assert "front up" in BLOCKS["arrive"]["you"]
    turned = [name for name, block in BLOCKS.items() if "sheets over" in block["you"]]
    assert turned == ["walk"]
    front = (REPOSITORY / "book/seminar/worksheet.md").read_text("utf-8").split("\n---\n")[0]
    assert "**Keep this side up" in front
    notes = (REPOSITORY / seminar.NOTES).read_text("utf-8").split("\n## ")
    assert [part.split("\n")[0] for part in notes if "Turn your sheets over" in part] == [
        BLOCKS["walk"]["title"]
    ]


def test_every_sheet_for_the_people_is_printed_and_handed_out() -> None:
    """The handout last, since it has the answer to the bet."""
    lists = (REPOSITORY / "book/seminar/index.md").read_text("utf-8")
    everybody = re.search(r"For each person: (.+?) For you: ", lists)
    assert everybody is not None
    for name in ("{sheet}`worksheet`", "{sheet}`handout`", "feedback.md", "pre_quiz", "post_quiz"):
        assert name in everybody[1]
    given = [name for name, block in BLOCKS.items() if "{sheet}`handout`" in block["you"]]
    assert given == ["close"]


def test_the_homework_has_names_minutes_and_an_end() -> None:
    """Exercises exist, must and may add up, and what everybody must do is within an hour."""
    found = seminar_data.values()
    assert int(found["homework must"]) <= 60
    total = sum(map(seminar_data.minutes, PLAN["homework"]))
    assert int(found["homework must"]) + int(found["homework may"]) == total
    reasons = [task["exercise"] for task in PLAN["homework"] if task.get("reason")]
    assert seminar_data.listed(reasons) == found["homework reasons"]
    for name in re.findall(r"\d\.\d+", found["proofs"]):
        assert EXERCISES[name].level == 3
    page = REPOSITORY / seminar.EXERCISE_PAGE
    for task in PLAN["homework"]:
        if "exercise" in task:
            assert f"### Exercise {task['exercise']}: " in page.read_text("utf-8")


def test_what_is_asked_in_class_is_three_pairs() -> None:
    """Before and after the session the same three constructs."""
    items = {item.id: item for name in ("pre", "post") for item in seminar_data.sets()[name]}
    before, after = ([items[name] for name in BLOCKS[b]["asked"]] for b in ("arrive", "close"))
    assert len(before) == 3
    assert [item.construct for item in before] == [item.construct for item in after]
    assert seminar_data.asked_in_class() == {item.id for item in (*before, *after)}


def test_a_row_says_which_slides_and_how_to_vote() -> None:
    row = seminar.doings(BLOCKS["gradient"], 60)
    assert "**Slides:** {slide}`gradient`." in row
    assert any(line.startswith("**In reserve:** slide {slide}`forgot`, ") for line in row)
    assert all("**Open:**" not in line for line in seminar.doings(BLOCKS["gamma"], 60))
    assert "**Vote:** [CT6](/book/seminar/concept_tests.md#ct6), once." in row
    assert any(line.endswith("with time to talk.") for line in seminar.doings(BLOCKS["gamma"], 60))
    assert not any("Vote:" in line for line in seminar.doings(BLOCKS["head"], 60))


def test_slides_are_numbered_as_the_deck_numbers_them() -> None:
    deck = slides.parse(read_source("slides.md"))
    expected = {
        slide.name: (n, slide.block, slide.reserve) for n, slide in enumerate(deck, start=1)
    }
    assert seminar_data.slides() == expected


def test_notes_name_slides_in_their_order() -> None:
    """In what is asked: the order of plan and deck; and a slide in reserve says so."""
    for section in (REPOSITORY / seminar.NOTES).read_text("utf-8").split("\n## ")[2:]:
        asked = section[section.index("**Say.**") : section.index("**Expect.**")]
        numbers = [seminar_data.slides()[n].number for n in re.findall(r"{slide}`(.+?)`", asked)]
        assert numbers == sorted(numbers), section[:40]
        for name, slide in seminar_data.slides().items():
            if slide.reserve and f"{{slide}}`{name}`" in section:
                assert f"{{slide}}`{name}`, in reserve," in section


def test_what_is_never_cut_is_in_every_plan() -> None:
    never = [block for block in PLAN["block"] if block.get("never_cut")]
    assert {"gamma", "head", "walk", "verdict", "gradient"} == {block["id"] for block in never}
    assert all(all(block["minutes"]) for block in never)


def test_the_discovery_has_the_most_time_of_the_short_plan() -> None:
    minutes = {name: block["minutes"][0] for name, block in BLOCKS.items()}
    centre = minutes.pop("head") + minutes.pop("walk") + minutes.pop("verdict")
    assert centre > max(minutes.values())
    assert centre >= LENGTHS[0] / 4


def test_cuts_leave_every_block_that_may_not_go() -> None:
    cuts = PLAN["cut"]
    assert len({cut["block"] for cut in cuts}) == len(cuts)
    for cut in cuts:
        block = BLOCKS[cut["block"]]
        left = [minutes - cut["saves"] for minutes in block["minutes"] if minutes]
        assert min(left) > 0 if block.get("never_cut") else min(left) >= 0, cut


@pytest.mark.parametrize("length", LENGTHS)
def test_the_cuts_are_worth_having(length: int) -> None:
    present = {block["id"] for block, _, _ in seminar_data.minute_marks(length)}
    assert sum(cut["saves"] for cut in PLAN["cut"] if cut["block"] in present) >= 10


def test_notes_have_a_section_for_each_block_in_order() -> None:
    notes = (REPOSITORY / seminar.NOTES).read_text("utf-8")
    titles = re.findall(r"^## (.+)$", notes, re.MULTILINE)
    assert titles[1:] == [block["title"] for block in PLAN["block"]]
    for section in notes.split("\n## ")[2:]:
        for part in ("{marks}`", "**Say.**", "**Ask.**", "**Expect.**", "**If stuck.**"):
            assert part in section, section[:40]
        assert "**May be skipped.**" in section, section[:40]


def test_every_concept_test_has_its_screen() -> None:
    text = (REPOSITORY / seminar.CONCEPT_TESTS).read_text("utf-8")
    for item in quiz.concept_tests():
        assert f"({item.id.lower()})=\n## {item.id} · " in text
        assert f"```{{quiz}} {item.id}\n" in text


def test_the_key_has_a_line_for_each_question() -> None:
    for name in ("pre", "post", "concept"):
        items = seminar_data.sets()[name]
        lines = seminar_quiz.key_lines(items)
        for item, line in zip(items, lines, strict=True):
            assert f"{item.key}. {item.right.text}" in line
            for option in item.options:
                assert option.misconception is None or option.misconception in line


# --- what the builders make of it -----------------------------------------------------------------


def build(folder: Path, builder: str, text: str) -> tuple[str, str]:
    """Build one page with nothing but the seminar's extension; returns it, and the warnings."""
    (folder / "index.md").write_text(f"# A page\n\n{text}\n", "utf-8")
    warnings = io.StringIO()
    extensions = ["myst_parser", "book_site.seminar"]
    with docutils_namespace():
        app = Sphinx(
            folder,
            None,
            folder / "out",
            folder / "doctrees",
            builder,
            confoverrides={"extensions": extensions},
            status=None,
            warning=warnings,
        )
        app.build()
    made = folder / "out" / f"index.{'txt' if builder == 'text' else 'html'}"
    return made.read_text("utf-8"), warnings.getvalue()


@pytest.mark.parametrize("builder", ["text", "singlehtml"])
def test_on_paper_questions_are_a_list_with_a_key(builder: str, tmp_path: Path) -> None:
    made, _ = build(tmp_path, builder, "```{quiz} post\n```")
    plain = " ".join(re.sub("<[^>]+>", "", made).split())
    assert "fieldset" not in made
    questions, _, key = plain.partition("Key")
    for item in quiz.post_quiz():
        assert " ".join(item.question.split()[:6]) in questions
        assert f"{item.key}. {item.right.text}" in key
        assert item.right.explanation not in questions


def test_a_page_of_the_site_has_elements_and_no_script_in_them(tmp_path: Path) -> None:
    made, _ = build(tmp_path, "html", "```{quiz} pre\n```")
    assert made.count("<fieldset") == made.count("</fieldset>") == 5
    assert made.count('type="radio"') == sum(len(item.options) for item in quiz.pre_quiz())
    assert not re.search(r"\son\w+=", made[made.index("<fieldset") : made.rindex("</fieldset>")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```{plan} 45\n```", "no plan '45'; there are 60, 75, 90"),
        ("```{quiz} none\n```", "no quiz 'none'; there are pre, post, concept"),
        ("{value}`nonsense`", "no value 'nonsense'; there are"),
        ("{marks}`nonsense`", "no block 'nonsense' in plan.toml"),
        ("{explorer}`nonsense`", "no link 'nonsense'; there are walk start"),
        ("{slide}`nonsense`", "no slide 'nonsense'; there are start, fallback"),
        ("{sheet}`nonsense`", "no sheet 'nonsense'; there are slides, worksheet"),
        ("{thread}`nonsense`", "'nonsense' is no thread: owner/repository#number expected"),
    ],
)
def test_what_does_not_exist_is_a_warning_with_its_line(
    text: str, expected: str, tmp_path: Path
) -> None:
    _, warnings = build(tmp_path, "html", text)
    assert expected in warnings
    assert "index.md" in warnings


def test_numbers_by_name(tmp_path: Path) -> None:
    made, warnings = build(
        tmp_path, "text", "{value}`loss` {value}`short` {thread}`a/b#7` {marks}`runs`"
    )
    assert "0.420337 60 b 7" in made
    assert re.search(r"Minutes \d+–\d+ of 75, \d+–\d+ of 90\.", made)  # none of 60
    assert not warnings
