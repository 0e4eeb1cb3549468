from __future__ import annotations

import pytest

from elmo_toy.quiz import Item, Option, number, vector

RIGHT = Option("2", "because", right=True, values=(2.0,))


def item(*options: Option) -> Item:
    return Item("x", "1 + 1?", options, "O2", "page#heading")


def test_a_good_item() -> None:
    found = item(Option("3", "one too many", values=(3.0,)), RIGHT)
    assert found.right is RIGHT
    assert found.key == "B"
    assert item(*(Option(str(n), "no") for n in range(3, 7)), RIGHT).key == "E"


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([Option("3", "also", right=True)], "must have one that is right"),
        ([], "must be 2 to 5, given 1"),
        ([Option(str(i), "no") for i in range(3, 8)], "must be 2 to 5, given 6"),
        ([Option("3", " ")], "option '3' of x must say why"),
        ([Option("2", "no")], "must differ in their text"),
        ([Option("2.0001", "no", values=(2.0001,))], "must differ in three digits"),
    ],
)
def test_a_bad_item_is_an_error(others: list[Option], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        item(RIGHT, *others)


@pytest.mark.parametrize(
    ("values", "same"),
    [
        (((0.0421,), (0.0424,)), "decimals"),  # other digits, the same thousandths
        (((1234.1,), (1234.4,)), "digits"),
        (((0.0,), (-0.0001,)), "decimals"),
        (((1.0, 2.0), (1.0, 2.0004)), "decimals"),
    ],
)
def test_options_that_look_alike_are_an_error(
    values: tuple[tuple[float, ...], ...], same: str
) -> None:
    first, second = (
        Option(f"{place}", "why", right=not place, values=each) for place, each in enumerate(values)
    )
    with pytest.raises(ValueError, match="three digits"):
        item(first, second)


def test_no_item_at_all_is_right() -> None:
    with pytest.raises(ValueError, match="must have one that is right"):
        item(Option("3", "no"), Option("4", "no"))


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0001, "0"), (0.5, "0.5"), (-1.3484, "−1.348"), (2.0, "2"), (10, "10")]
)
def test_numbers_as_text(value: float, text: str) -> None:
    assert number(value) == text


def test_vectors_have_one_look() -> None:
    assert vector([0.3, 1.0]) == "[0.3, 1.0]"
    assert vector([1.0, -2.0]) == "[1, −2]"
    assert vector([0.25, 0.5], 1) == "[0.2, 0.5]"
