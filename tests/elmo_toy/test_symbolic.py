"""The derivation: every line proved, no wrong line provable, results equal to the package's."""

from __future__ import annotations

import cmath
import math
import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import sympy
from sympy import Derivative, Symbol, exp, log

from elmo_toy import symbolic, worked_example
from elmo_toy.scalar_mix import scalar_mix_gradients, softmax
from elmo_toy.symbolic import (
    LAYER_COUNTS,
    DerivationError,
    Step,
    compiled,
    derivation,
    gamma_gradient,
    logit_gradient,
    softmax_jacobian,
    verify,
)

THREE = derivation(3)

# --- a witness for the prover ---------------------------------------------------------------------


class Numbers:
    """Evaluates expressions from the definitions alone, derivatives by the complex step.

    It shares no code with the prover: nothing is unfolded, differentiated or simplified.
    """

    def __init__(self, n: int, seed: int) -> None:
        self.definitions = symbolic._symbols(n).definitions
        self.generator = np.random.default_rng(seed)
        self.values: dict[Any, complex] = {}
        self.known: dict[Any, complex] = {}

    def of(self, node: Any, moved: tuple[tuple[Any, complex], ...] = ()) -> complex:
        """The value of an expression when the variables in `moved` have those values."""
        if (node, moved) not in self.known:
            self.known[node, moved] = self._computed(node, moved)
        return self.known[node, moved]

    def _computed(self, node: Any, moved: tuple[tuple[Any, complex], ...]) -> complex:
        if node in dict(moved):
            return complex(dict(moved)[node])
        if node.is_Symbol and node in self.definitions:
            return self.of(self.definitions[node], moved)
        if node.is_Symbol:
            return complex(self.values.setdefault(node, self.generator.uniform(-1.5, 1.5)))
        if node.is_Number:
            return float(node)
        if isinstance(node, Derivative):
            (variable,) = node.variables
            start = self.of(variable, moved)
            return self.of(node.expr, (*moved, (variable, start + 1e-20j))).imag / 1e-20
        arguments = [self.of(argument, moved) for argument in node.args]
        if node.is_Add:
            return sum(arguments)
        if node.is_Mul:
            return math.prod(arguments)
        if node.is_Pow:
            return complex(arguments[0] ** arguments[1])
        return {exp: cmath.exp, log: cmath.log}[node.func](*arguments)


def both_sides(step: Step, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x, numbers = symbolic._symbols(step.n_layers), Numbers(step.n_layers, seed)
    sides = []
    for side in (step.left, step.right):
        if side.is_Matrix:
            side = list(side.xreplace({x.J: x.jacobian()}).as_explicit())
        sides.append(np.array([numbers.of(entry) for entry in np.ravel(side)]))
    return sides[0], sides[1]


@pytest.mark.parametrize("n", LAYER_COUNTS)
def test_every_line_holds_at_random_numbers(n: int) -> None:
    for step in derivation(n):
        for seed in range(3):
            left, right = both_sides(step, seed)
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-13, err_msg=step.name)


def test_the_witness_sees_a_wrong_line() -> None:
    line = THREE["subtract m"]
    wrong = object.__new__(Step)  # past the proof
    for name, value in (*vars(line).items(), ("right", line.right * 2)):
        object.__setattr__(wrong, name, value)
    left, right = both_sides(wrong, 0)
    assert abs(left - right).max() > 1e-3


# --- the prover refuses what is wrong -------------------------------------------------------------


@pytest.mark.parametrize("name", THREE.names)
def test_no_line_survives_a_change_of_one_side(name: str) -> None:
    line, x = THREE[name], symbolic._symbols(3)
    one = sympy.ones(3, 3) if line.left.is_Matrix else 1
    for right in (line.right + one / sympy.Integer(1000), line.right - one * x.s[1] ** 2):
        with pytest.raises(DerivationError, match=re.escape(name)):
            Step(3, name, "", line.left, right)


def wrong_lines() -> dict[str, tuple[Any, Any]]:
    x = symbolic._symbols(3)
    a, s, c, m, p, y, z = x.a, x.s, x.c, x.m, x.p, x.y, x.z
    column = sympy.ImmutableMatrix(s)
    slope = Derivative(x.L, a[0])
    return {
        "softmax without the denominator": (s[0], exp(a[0])),
        "jacobian with a plus": (x.J, sympy.diag(*s) + column * column.T),
        "jacobian without the outer product": (x.J, sympy.ImmutableMatrix(sympy.diag(*s))),
        "jacobian of another shape": (x.J, column),
        "own logit as other": (Derivative(s[0], a[0]), -s[0] * s[0]),
        "other logit, sign": (Derivative(s[0], a[1]), s[0] * s[1]),
        "other logit, wrong layer": (Derivative(s[0], a[1]), -s[0] * s[2]),
        "score slope without m": (Derivative(z["k"], a[0]), x.gamma * s[0] * c["k"][0]),
        "score slope without gamma": (Derivative(z["k"], a[0]), s[0] * (c["k"][0] - m["k"])),
        "score slope, m of another occurrence": (
            Derivative(z["r"], a[0]),
            x.gamma * s[0] * (c["r"][0] - m["l"]),
        ),
        "gamma slope times gamma": (Derivative(z["k"], x.gamma), z["k"]),
        "sigmoid slope": (Derivative(p["k"], z["k"]), p["k"] ** 2),
        "loss slope, summed": (Derivative(x.L, z["r"]), p["r"] - y["r"]),
        "loss slope, sign": (Derivative(x.L, z["r"]), (y["r"] - p["r"]) / 2),
        "loss slope at the other score": (Derivative(x.L, z["r"]), (p["l"] - y["l"]) / 2),
        "logit gradient of river only": (
            slope,
            x.gamma * s[0] * (p["r"] - y["r"]) * (c["r"][0] - m["r"]) / 2,
        ),
        "logit gradient without m": (slope, x.logit_gradient_without_m(0)),
        "logit gradient of another layer": (slope, x.logit_gradient(1)),
        "gamma gradient times gamma": (
            Derivative(x.L, x.gamma),
            x.gamma * x.gamma_gradient(),
        ),
        "logit gradients sum to the gamma gradient": (
            sympy.Add(*(Derivative(x.L, logit) for logit in a)),
            Derivative(x.L, x.gamma),
        ),
        "without m the sum is zero": (sympy.Add(*x.b), sympy.Integer(0)),
        "shift of one logit only": (
            exp(a[0] + x.t) / (exp(a[0] + x.t) + exp(a[1]) + exp(a[2])),
            s[0],
        ),
        "equal only where the logits are": (s[0], s[1]),
        "an undefined symbol": (s[0], Symbol("q")),
    }


@pytest.mark.parametrize("name", wrong_lines())
def test_plausible_mistakes_are_not_provable(name: str) -> None:
    left, right = wrong_lines()[name]
    with pytest.raises(DerivationError, match="does not prove that"):
        Step(3, name, "", left, right)


def test_a_wrong_definition_breaks_the_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines are proved from the definitions: another softmax, and they no longer hold."""

    class Wrong(symbolic._Symbols):
        def _definitions(self) -> Any:
            table = super()._definitions()
            table[self.s[0]] = exp(2 * self.a[0]) / self.S
            return table

    x = Wrong(3)
    for cached in (symbolic._slope, symbolic._meanings):
        cached.cache_clear()
    monkeypatch.setattr(symbolic, "_symbols", lambda n: x)
    try:
        for name in ("softmax", "sum of weights", "own logit", "jacobian", "subtract m"):
            line = THREE[name]
            with pytest.raises(DerivationError):
                Step(3, name, "", line.left, line.right)
    finally:
        for cached in (symbolic._slope, symbolic._meanings):
            cached.cache_clear()


# --- what the chapter promises --------------------------------------------------------------------


def test_derivation_starts_at_the_softmax_and_reaches_every_result() -> None:
    x = symbolic._symbols(3)
    assert THREE.names[0] == "softmax"
    right = THREE["softmax"].right
    assert right.free_symbols == set(x.a)
    jacobian = THREE["jacobian"]
    assert jacobian.left == x.J
    assert jacobian.right.as_explicit() == sympy.diag(*x.s) - sympy.Matrix(x.s) * sympy.Matrix(
        [x.s]
    )
    for j in range(3):
        line = THREE[f"logit gradient {j}"]
        assert line.left == Derivative(x.L, x.a[j])
        assert line.right == logit_gradient(3)[j]
    assert THREE["gamma gradient"].right == gamma_gradient(3)
    assert THREE["sum of logit gradients"].right == 0
    assert THREE["without m"].right == x.gamma * Derivative(x.L, x.gamma)
    assert THREE["shift"].right == x.s[0]


@pytest.mark.parametrize("n", LAYER_COUNTS)
def test_verify_counts_every_entry(n: int) -> None:
    assert verify(n) == n * n + n + 1


@pytest.mark.parametrize("n", LAYER_COUNTS)
def test_jacobian_is_symmetric_with_rows_that_sum_to_zero(n: int) -> None:
    jacobian, weights = softmax_jacobian(n), symbolic._symbols(n).s
    assert jacobian == jacobian.T
    on_simplex = {weights[-1]: 1 - sum(weights[:-1])}
    assert [sympy.expand(sum(jacobian[i, :]).subs(on_simplex)) for i in range(n)] == [0] * n


# --- how it prints --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "latex"),
    [
        (
            "softmax",
            "s_0 = exp(a_0)/(exp(a_0) + exp(a_1) + exp(a_2))",
            r"s_{0} = \frac{e^{a_{0}}}{e^{a_{0}} + e^{a_{1}} + e^{a_{2}}}",
        ),
        (
            "jacobian",
            "J = [s_0, 0, 0; 0, s_1, 0; 0, 0, s_2] - [s_0; s_1; s_2]*[s_0, s_1, s_2]",
            r"J = \left[\begin{matrix}"
            r"s_{0} & 0 & 0\\0 & s_{1} & 0\\0 & 0 & s_{2}\end{matrix}\right]"
            r" - \left[\begin{matrix}s_{0}\\s_{1}\\s_{2}\end{matrix}\right]"
            r" \left[\begin{matrix}s_{0} & s_{1} & s_{2}\end{matrix}\right]",
        ),
        (
            "subtract m",
            "dz_k/da_0 = gamma*s_0*(c_k0 - m_k)",
            r"\frac{\partial z_{k}}{\partial a_{0}}"
            r" = \gamma s_{0} \left(c_{k,0} - m_{k}\right)",
        ),
        (
            "loss by score of river",
            "dL/dz_r = (p_r - y_r)/2",
            r"\frac{\partial \mathcal{L}}{\partial z_{r}} = \frac{p_{r} - y_{r}}{2}",
        ),
        (
            "logit gradient 1",
            "dL/da_1 = gamma*s_1*((c_r1 - m_r)*(p_r - y_r) + (c_l1 - m_l)*(p_l - y_l))/2",
            r"\frac{\partial \mathcal{L}}{\partial a_{1}} = \frac{\gamma s_{1} \left("
            r"\left(c_{r,1} - m_{r}\right) \left(p_{r} - y_{r}\right) + "
            r"\left(c_{l,1} - m_{l}\right) \left(p_{l} - y_{l}\right)\right)}{2}",
        ),
        (
            "sum of logit gradients",
            "dL/da_0 + dL/da_1 + dL/da_2 = 0",
            r"\frac{\partial \mathcal{L}}{\partial a_{0}} + "
            r"\frac{\partial \mathcal{L}}{\partial a_{1}} + "
            r"\frac{\partial \mathcal{L}}{\partial a_{2}} = 0",
        ),
    ],
)
def test_printed_lines(name: str, text: str, latex: str) -> None:
    step = THREE[name]
    assert repr(step) == text
    assert step.latex == latex
    assert step._repr_latex_() == rf"$\displaystyle {latex}$"


COMMANDS = {
    *("frac", "partial", "mathcal", "gamma", "log", "left", "right"),
    *("begin", "end", "displaystyle"),
}


@pytest.mark.parametrize("n", LAYER_COUNTS)
def test_latex_keeps_to_what_katex_and_mathjax_share(n: int) -> None:
    for source in (*(step.latex for step in derivation(n)), derivation(n)._repr_latex_()):
        assert set(re.findall(r"\\([a-zA-Z]+)", source.replace(r"\\", "\n"))) <= COMMANDS
        assert source.count("{") == source.count("}")
        assert set(re.findall(r"\\begin\{(\w+)\}", source)) <= {"matrix", "aligned"}
        assert source.isascii()


def test_whole_derivation_shows_one_line_a_step() -> None:
    lines = repr(THREE).splitlines()
    assert lines == [f"{step.name}: {step!r}" for step in THREE]
    aligned = THREE._repr_latex_()
    assert aligned.count(" &= ") == len(THREE) == len(THREE.names)
    assert aligned.startswith(r"$\displaystyle \begin{aligned} s_{0} &= ")


def test_names_and_prose_are_fit_to_print() -> None:
    assert len(set(THREE.names)) == len(THREE)
    for step in THREE:
        assert re.fullmatch(r"[A-Z][^$\\_*]{10,110}[.,]|and [^$\\_*]+\.", step.prose), step.prose
    named = THREE["leave out m"]
    assert named.prose.endswith(f"call the result {str(named.left)[0]}.")


def test_printing_does_not_depend_on_the_hash_seed() -> None:
    """Stored outputs are compared strictly, so a set's or dict's order must not show."""
    code = "from elmo_toy.symbolic import *; d = derivation(3); print(d, d._repr_latex_(), sep='')"
    other = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "4242"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout == f"{THREE}{THREE._repr_latex_()}\n"


def test_package_imports_without_sympy() -> None:
    code = "import sys, elmo_toy; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- compiled -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", LAYER_COUNTS)
@pytest.mark.parametrize("seed", range(20))
def test_compiled_agrees_with_the_package(n: int, seed: int) -> None:
    """At random layers, head, labels in [0, 1], logits, and gamma of either sign."""
    generator = np.random.default_rng([n, seed])
    layers = generator.normal(size=(2, n, 1, 4))
    head = generator.normal(size=4)
    labels = generator.uniform(size=2)
    logits = generator.normal(scale=2, size=n)
    gamma = float(generator.normal())

    forward = worked_example.forward(logits, gamma, layers=layers, head=head, labels=labels)
    upstream = ((forward.probabilities - labels) / 2)[:, None, None] * head
    package = scalar_mix_gradients(layers, logits, gamma, upstream)
    witness = compiled(n)
    arguments = (logits, gamma, layers[:, :, 0] @ head, labels)

    weights = softmax(logits)
    for own, expected in (
        (witness.logit_gradient(*arguments), package.logits),
        (witness.gamma_gradient(*arguments), package.gamma),
        (witness.jacobian(logits), np.diag(weights) - np.outer(weights, weights)),
    ):
        np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "state", worked_example.eight_states(), ids=lambda s: f"{s.preset}-{s.gamma:g}"
)
def test_compiled_agrees_with_the_eight_states(state: worked_example.State) -> None:
    arguments = (
        state.logits,
        state.gamma,
        state.forward.layer_scores,
        worked_example.LABELS,
    )
    witness = compiled(3)
    np.testing.assert_allclose(
        witness.logit_gradient(*arguments), state.logit_gradient, rtol=0, atol=1e-12
    )
    assert witness.gamma_gradient(*arguments) == pytest.approx(state.gamma_gradient, abs=1e-12)


def test_compiled_survives_large_logits_and_scores() -> None:
    witness = compiled(2)
    np.testing.assert_array_equal(witness.jacobian([1e308, -1e308]), np.zeros((2, 2)))
    scores = [[1.0, 1.0], [-1.0, -1.0]]
    assert witness.gamma_gradient([0.0, 0.0], 1e6, scores, [0.0, 0.0]) == 0.5
    assert witness.gamma_gradient([0.0, 0.0], 1e6, scores, [1.0, 1.0]) == 0.5


# --- refusals -------------------------------------------------------------------------------------


def test_second_derivatives_are_refused_not_halved() -> None:
    x = symbolic._symbols(2)
    second = Derivative(x.s[0], x.a[0], x.a[1])
    with pytest.raises(DerivationError, match="only first derivatives"):
        Step(2, "second", "", second, Derivative(x.s[0], x.a[0]))


@pytest.mark.parametrize(
    "function", [derivation, softmax_jacobian, logit_gradient, gamma_gradient, verify, compiled]
)
def test_layer_counts_outside_the_verified_range(function: Any) -> None:
    for n in (1, 7, 0, -3):
        with pytest.raises(ValueError, match=f"n_layers must be 2 to 6, given {n}"):
            function(n)
    for odd in (3.0, "3", None, True):
        with pytest.raises(TypeError, match="n_layers must be an integer, given"):
            function(odd)


def test_unknown_step_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="no step named 'chain'; there are softmax, sum of weights"):
        THREE["chain"]


@pytest.mark.parametrize(
    ("changed", "value", "error", "message"),
    [
        ("logits", [0.0, 0.0], ValueError, r"logits must have shape \(3,\), given \(2,\)"),
        ("logits", [0.0, np.nan, 0.0], ValueError, "logits must be finite"),
        ("logits", np.zeros(3, np.float32), TypeError, "logits must be float64, given float32"),
        ("gamma", [1.0], ValueError, r"gamma must have shape \(\), given \(1,\)"),
        ("gamma", 1j, TypeError, "gamma must be float64, given complex128"),
        ("layer_scores", np.zeros((3, 2)), ValueError, r"layer_scores must have shape \(2, 3\)"),
        ("labels", [1.0], ValueError, r"labels must have shape \(2,\), given \(1,\)"),
    ],
)
def test_compiled_refuses(changed: str, value: Any, error: type[Exception], message: str) -> None:
    arguments = {
        "logits": np.zeros(3),
        "gamma": 1.0,
        "layer_scores": np.zeros((2, 3)),
        "labels": np.zeros(2),
        changed: value,
    }
    for function in (compiled(3).logit_gradient, compiled(3).gamma_gradient):
        with pytest.raises(error, match=message):
            function(**arguments)
