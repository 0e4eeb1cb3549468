"""Numbers as text: what the page's script writes too (tests/js compares them)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.widgets._text import MINUS, difference, fixed, power, trimmed, vector

numbers = st.floats(-1e6, 1e6)


@given(numbers, st.integers(0, 6))
def test_fixed_is_the_number_to_its_digits(value: float, digits: int) -> None:
    text = fixed(value, digits)
    assert abs(float(text.replace(MINUS, "-")) - value) <= 0.5 * 10**-digits * (1 + 1e-5) + 1e-5
    assert "-" not in text
    assert len(text.partition(".")[2]) == digits


@given(st.integers(-10_000, 10_000))
def test_a_tie_goes_away_from_zero_whatever_its_last_bit(thousandths: int) -> None:
    exact = Decimal(thousandths) / 1000
    expected = exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
    value = thousandths / 1000
    for noisy in (value, value * (1 + 2e-16), value * (1 - 2e-16)):
        assert float(fixed(noisy, 2).replace(MINUS, "-")) == float(expected)


@pytest.mark.parametrize(("value", "text"), [(-1e-9, "0.0"), (0.0, "0.0"), (-0.7, "−0.7")])
def test_zero_has_no_sign(value: float, text: str) -> None:
    assert fixed(value, 1) == text


def test_trimmed_keeps_as_many_zeros_as_asked() -> None:
    assert [trimmed(x, 4) for x in (1.7, 1.0, 0.3333333, -0.5)] == ["1.7", "1.0", "0.3333", "−0.5"]
    assert [trimmed(x, 2, 0) for x in (1.0, 1.33, -5.0)] == ["1", "1.33", "−5"]
    assert vector([1.7, 1.1]) == "[1.7, 1.1]"


@given(st.integers(-15, 5))
def test_the_power_below_a_power_is_itself(exponent: int) -> None:
    assert power(float(f"1e{exponent}")) == power(float(f"3e{exponent}"))


def test_what_lies_below_the_digits_shown_is_an_order_of_magnitude() -> None:
    assert difference(2.1e-11) == "about 10⁻¹¹"
    assert difference(0.25) == "0.250000"
    assert difference(0.0) == "0"
