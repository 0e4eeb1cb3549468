"""The gradients of the scalar mixture, derived by sympy from the definition of the softmax.

`derivation` gives the steps from ``s_j = exp(a_j) / sum_i exp(a_i)`` to the Jacobian
``diag(s) - s s^T``, on to the logit gradient with its ``- m_k`` and to the gamma gradient. A step
is one equation between two sympy expressions. What it prints comes from these two expressions,
and it cannot exist unproved: making it unfolds both sides down to logits, gamma, layer scores and
labels, takes the derivatives, and has sympy show that the difference is zero.

The symbols, for n layers j = 0 .. n-1; k is any occurrence, r the river's and l the loan's::

    a_j, gamma   logits and scale                S, s_j   S = sum_i exp(a_i), weights exp(a_j) / S
    h_kj, w      layer vectors and head          c_kj     layer score  w . h_kj
    e_k          mixture  gamma sum_j s_j h_kj   m_k      mixed score  sum_j s_j c_kj
    z_k          score  gamma m_k = w . e_k      p_k      probability  1 / (1 + exp(-z_k))
    y_k          label                           L        mean log loss of river and loan
    J            the matrix of ds_i/da_j         b_j      dL/da_j as it would be without m
    t            any number

Source: Peters et al. (2018), equation 1; the article's "Follow the gradient into the mixture".
Book: chapter 4, "The derivation".
"""

# ruff: noqa: N802 (sympy's printers find their methods by the class names in them)

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike
from sympy import (
    Derivative,
    Expr,
    Function,
    ImmutableMatrix,
    MatrixSymbol,
    Rational,
    Symbol,
    exp,
    log,
)
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from elmo_toy._checks import Array, as_numbers

LAYER_COUNTS = range(2, 7)
BOTH = ("r", "l")  # river and loan


class DerivationError(Exception):
    """The two sides of an equation could not be proved equal."""


# --- symbols and what they stand for ------------------------------------------------------------


class _Symbols:
    def __init__(self, n: int) -> None:
        self.n = n
        self.a = [Symbol(f"a_{j}", real=True) for j in range(n)]
        self.s = [Symbol(f"s_{j}", positive=True) for j in range(n)]
        self.S = Symbol("S", positive=True)
        self.t = Symbol("t", real=True)
        self.gamma = Symbol("gamma", real=True)
        self.L = Symbol("L", real=True)
        self.J = MatrixSymbol("J", n, n)
        self.b = [Symbol(f"b_{j}", real=True) for j in range(n)]
        self.m, self.z, self.p, self.y = (
            {k: Symbol(f"{letter}_{k}", real=True) for k in ("k", *BOTH)} for letter in "mzpy"
        )
        self.c = {k: [Symbol(f"c_{k}{j}", real=True) for j in range(n)] for k in ("k", *BOTH)}
        self.w = [Symbol(f"w_{i}", real=True) for i in (1, 2)]
        self.e = [Symbol(f"e_k{i}", real=True) for i in (1, 2)]
        self.h = [[Symbol(f"h_k{j}{i}", real=True) for i in (1, 2)] for j in range(n)]
        # What `_slope` differentiates by the chain rule, and how to write its exponentials in it.
        self.opaque = frozenset([*self.s, *self.z.values(), *self.p.values()])
        self.denominators = {sympy.Add(*(exp(a) for a in self.a)): self.S}
        self.powers: dict[Expr, Expr] = {}
        for a, s in zip(self.a, self.s, strict=True):
            self.powers |= {exp(a): s * self.S, exp(2 * a): (s * self.S) ** 2}
        for z, p in zip(self.z.values(), self.p.values(), strict=True):
            self.denominators[1 + exp(-z)] = 1 / p
            self.powers[exp(-z)] = (1 - p) / p
        self.definitions = self._definitions()

    def _definitions(self) -> dict[Expr, Expr]:
        """Each symbol in terms of symbols further down; those without an entry are primitive."""
        table: dict[Expr, Expr] = {self.L: self.mean_log_loss()}
        for k in self.p:
            table[self.p[k]] = 1 / (1 + exp(-self.z[k]))
            table[self.z[k]] = self.gamma * self.m[k]
            table[self.m[k]] = self.mixed(self.c[k])
        for j in range(self.n):
            table[self.b[j]] = self.logit_gradient_without_m(j)
        for i in range(2):
            table[self.e[i]] = self.gamma * self.mixed(h[i] for h in self.h)
        for j in range(self.n):
            table[self.c["k"][j]] = self.w[0] * self.h[j][0] + self.w[1] * self.h[j][1]
            table[self.s[j]] = exp(self.a[j]) / self.S
        table[self.S] = sympy.Add(*(exp(a) for a in self.a))
        return table

    def mixed(self, values: Iterable[Expr]) -> Expr:
        return sympy.Add(*(s * value for s, value in zip(self.s, values, strict=True)))

    def mean_log_loss(self) -> Expr:
        total = sympy.Add(
            *(self.y[k] * log(self.p[k]) + (1 - self.y[k]) * log(1 - self.p[k]) for k in BOTH)
        )
        return sympy.Mul(-Rational(1, 2), total, evaluate=False)

    def half_error(self, k: str) -> Expr:
        """(p_k - y_k) / 2, kept as one fraction."""
        return sympy.Mul(Rational(1, 2), self.p[k] - self.y[k], evaluate=False)

    def logit_gradient(self, j: int) -> Expr:
        return (self.gamma * self.s[j] / 2) * sympy.Add(
            *((self.p[k] - self.y[k]) * (self.c[k][j] - self.m[k]) for k in BOTH)
        )

    def logit_gradient_without_m(self, j: int) -> Expr:
        return (self.gamma * self.s[j] / 2) * sympy.Add(
            *((self.p[k] - self.y[k]) * self.c[k][j] for k in BOTH)
        )

    def gamma_gradient(self) -> Expr:
        return sympy.Add(*((self.p[k] - self.y[k]) * self.m[k] / 2 for k in BOTH))

    def jacobian(self) -> ImmutableMatrix:
        return ImmutableMatrix(self.n, self.n, lambda i, j: Derivative(self.s[i], self.a[j]))


@cache
def _symbols(n: int) -> _Symbols:
    return _Symbols(n)


# --- proof ----------------------------------------------------------------------------------------

_NONE: frozenset[Expr] = frozenset()
_TOTAL = Symbol("E", positive=True)


def _proved(left: Expr, right: Expr, n: int) -> bool:
    """Whether both sides are certainly equal, entry by entry if they are matrices."""
    x = _symbols(n)
    if left.is_Matrix or right.is_Matrix:
        left, right = (side.xreplace({x.J: x.jacobian()}).as_explicit() for side in (left, right))
        return left.shape == right.shape and all(
            _proved(a, b, n) for a, b in zip(left, right, strict=True)
        )
    # Weights, scores, probabilities stay symbols where that is enough: true of any, so of these.
    difference = _unfold(left, n, x.opaque) - _unfold(right, n, x.opaque)
    return _is_zero(difference) or _is_zero(_unfold(difference, n))


def _unfold(expression: Expr, n: int, keep: frozenset[Expr] = _NONE) -> Expr:
    """The expression in primitive symbols, its derivatives taken; symbols in `keep` stay."""
    taken = {}
    for node in expression.atoms(Derivative):
        if len(node.variables) != 1:
            raise DerivationError(f"only first derivatives are proved here, given {node}")
        taken[node] = _slope(node.expr, node.variables[0], n)
    return expression.xreplace(taken).xreplace(_meanings(n, keep))


@cache
def _slope(body: Expr, variable: Symbol, n: int) -> Expr:
    """d body / d variable, in terms of weights, scores and probabilities.

    These are unknown functions of the variable while sympy differentiates, so the chain rule is
    sympy's too; their own derivatives come from their definitions.
    """
    x = _symbols(n)
    inner = x.opaque - {variable}
    if body in x.s:
        inner = _NONE
    elif body in x.opaque:
        inner -= {body}
        body = x.definitions[body]
    functions = {symbol: Function(symbol.name)(variable) for symbol in inner}
    unfolded = _unfold(body, n, inner | {variable})
    slope = unfolded.xreplace(functions).diff(variable)
    slopes = {
        function.diff(variable): _slope(symbol, variable, n)
        for symbol, function in functions.items()
        if unfolded.has(symbol)
    }
    slope = slope.xreplace(slopes).xreplace({f: symbol for symbol, f in functions.items()})
    return slope.xreplace(x.denominators).xreplace(x.powers)


@cache
def _meanings(n: int, keep: frozenset[Expr]) -> dict[Expr, Expr]:
    """Each defined symbol in terms of primitive ones and those in `keep`."""
    meanings: dict[Expr, Expr] = {}
    for symbol, meaning in reversed(_symbols(n).definitions.items()):
        if symbol not in keep:
            meanings[symbol] = meaning.xreplace(meanings)
    return meanings


def _is_zero(expression: Expr) -> bool:
    """Whether an unfolded expression is certainly zero.

    A symbol of its own for every exponential leaves a rational function. If its numerator,
    multiplied out, is the zero polynomial, it vanishes whatever the symbols' values, and so for
    all logits. (The converse isn't needed: what cannot be proved counts as wrong.)
    """
    if not expression.has(exp) and sympy.expand(expression) == 0:
        return True
    # exp(a + t) -> exp(a) exp(t), which sympy would not do by itself.
    expression = expression.replace(
        exp, lambda power: sympy.expand_power_exp(exp(power), deep=False)
    )
    bases: dict[Expr, Symbol] = {}
    powers = {}
    for power in sorted(expression.atoms(exp), key=sympy.default_sort_key):
        factor, rest = power.exp.as_coeff_Mul()  # exp(2 a) is exp(a)**2, exp(-z) is exp(z)**-1
        base = bases.setdefault(rest, Symbol(f"E{len(bases)}", positive=True))
        powers[power] = base**factor
    # One symbol for the softmax's denominator keeps the common denominator short.
    logits = [rest for rest in bases if rest.is_Symbol and rest.name.startswith("a_")]
    total = sympy.Add(*(bases[logit] for logit in logits))
    short = expression.xreplace(powers).xreplace({total: _TOTAL} if logits else {})
    numerator = sympy.expand(sympy.fraction(sympy.together(short))[0])
    return bool(numerator == 0 or sympy.expand(numerator.xreplace({_TOTAL: total})) == 0)


# --- steps ----------------------------------------------------------------------------------------


def _river_first(terms: list[Expr]) -> list[Expr]:
    """Sympy's order, which is stable, but the loan's terms after the river's."""
    return sorted(terms, key=lambda term: any("_l" in s.name for s in term.free_symbols))


def _minus_last(terms: Iterable[str]) -> str:
    first, second = sorted(terms, key=lambda term: term.startswith("-"))
    return f"{first} - {second.removeprefix('-').strip()}"


class _Latex(LatexPrinter):  # type: ignore[misc]  # sympy has no type hints
    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return _river_first(super()._as_ordered_terms(expr, order))

    def _print_Symbol(self, symbol: Symbol, style: str = "plain") -> str:  # noqa: ARG002 (sympy's)
        letter, _, index = symbol.name.partition("_")
        letter = {"L": r"\mathcal{L}", "gamma": r"\gamma"}.get(letter, letter)
        return f"{letter}_{{{','.join(index)}}}" if index else letter

    def _print_Derivative(self, node: Derivative) -> str:
        body, variable = self._print(node.expr), self._print(node.variables[0])
        return rf"\frac{{\partial {body}}}{{\partial {variable}}}"

    def _print_MatrixBase(self, node: Expr) -> str:
        matrix: str = super()._print_MatrixBase(node)
        return matrix.replace(r"\\", r"\\[0.5em]") if node.has(Derivative) else matrix

    def _print_MatAdd(self, node: Expr) -> str:
        return _minus_last(self._print(term) for term in node.args)


class _Text(StrPrinter):  # type: ignore[misc]  # sympy has no type hints
    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return _river_first(super()._as_ordered_terms(expr, order))

    def _print_Derivative(self, node: Derivative) -> str:
        return f"d{self._print(node.expr)}/d{self._print(node.variables[0])}"

    def _print_MatrixBase(self, node: Expr) -> str:
        rows = (", ".join(self._print(entry) for entry in row) for row in node.tolist())
        return f"[{'; '.join(rows)}]"

    def _print_MatAdd(self, node: Expr) -> str:
        return _minus_last(self._print(term) for term in node.args)


@dataclass(frozen=True, repr=False)
class Step:
    """One proved equation ``left = right``; a notebook shows it as a line of mathematics.

    Parameters
    ----------
    n_layers
        How many layers the equation is about, 2 to 6.
    name
        By which `Derivation` finds it.
    prose
        A sentence on where the line comes from, in plain text.
    left, right
        Expressions, or matrices of the same shape, in the module's symbols.

    Raises
    ------
    DerivationError
        When sympy does not prove the equation.

    Book: chapter 4, "The derivation".

    >>> derivation(3)["own logit"]
    ds_0/da_0 = s_0*(1 - s_0)
    """

    n_layers: int
    name: str
    prose: str
    left: Expr
    right: Expr

    def __post_init__(self) -> None:
        if not _proved(self.left, self.right, _layer_count(self.n_layers)):
            raise DerivationError(f"{self.name}: sympy does not prove that {self!r}")

    @property
    def latex(self) -> str:
        """The line as KaTeX and MathJax read it, without dollar signs."""
        return self._printed_by(_Latex(), " = ")

    def _printed_by(self, printer: Any, equals: str) -> str:
        return equals.join(printer.doprint(side) for side in (self.left, self.right))

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex}$"

    def __repr__(self) -> str:
        return self._printed_by(_Text(), " = ")


@dataclass(frozen=True, repr=False)
class Derivation:
    """Steps in order; also found by name. A notebook shows them below each other, aligned.

    Book: chapter 4, "The derivation".

    >>> list(derivation(2))[1]
    s_0 + s_1 = 1
    """

    steps: tuple[Step, ...]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(f"no step named {name!r}; there are {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The steps' names, in order."""
        return tuple(step.name for step in self.steps)

    def _repr_latex_(self) -> str:
        lines = r" \\ ".join(step._printed_by(_Latex(), " &= ") for step in self.steps)
        return rf"$\displaystyle \begin{{aligned}} {lines} \end{{aligned}}$"

    def __repr__(self) -> str:
        return "\n".join(f"{step.name}: {step!r}" for step in self.steps)


# --- the derivation -------------------------------------------------------------------------------


@cache
def derivation(n_layers: int = 3) -> Derivation:
    """From the definition of the softmax to the gradients of the loss, each line proved.

    Parameters
    ----------
    n_layers
        2 to 6.

    Raises
    ------
    ValueError
        For another number of layers.
    DerivationError
        When sympy cannot prove a line.

    Source and symbols: the module's text. Book: chapter 4, "The derivation".

    >>> derivation(3)["subtract m"]
    dz_k/da_0 = gamma*s_0*(c_k0 - m_k)
    """
    n = _layer_count(n_layers)
    return Derivation(tuple(Step(n, *line) for line in (*_softmax(n), *_score(n), *_loss(n))))


Line = tuple[str, str, Expr, Expr]


def _softmax(n: int) -> Iterator[Line]:
    x = _symbols(n)
    a, s = x.a, x.s
    column = ImmutableMatrix(s)
    yield (
        "softmax",
        "The definition: each weight is its exponential over the sum of all.",
        s[0],
        exp(a[0]) / sympy.Add(*(exp(logit) for logit in a)),
    )
    yield ("sum of weights", "So the weights sum to one.", sympy.Add(*s), sympy.Integer(1))
    yield (
        "shift",
        "Adding one number t to all logits cancels: the weights do not change.",
        exp(a[0] + x.t) / sympy.Add(*(exp(logit + x.t) for logit in a)),
        s[0],
    )
    yield (
        "quotient rule",
        "Differentiate the quotient, with S for its denominator.",
        Derivative(s[0], a[0]),
        (x.S * exp(a[0]) - exp(a[0]) ** 2) / x.S**2,
    )
    yield (
        "own logit",
        "In terms of the weights: a weight grows with its own logit,",
        Derivative(s[0], a[0]),
        s[0] * (1 - s[0]),
    )
    yield (
        "other logit",
        "and shrinks as another logit grows.",
        Derivative(s[0], a[1]),
        -s[0] * s[1],
    )
    yield ("matrix", "All of these derivatives are one matrix.", x.J, x.jacobian())
    yield (
        "jacobian",
        "It is the weights on the diagonal, less the weights times the weights.",
        x.J,
        sympy.MatAdd(ImmutableMatrix(sympy.diag(*s)), sympy.MatMul(-1, column, column.T)),
    )
    yield (
        "rows",
        "A row sums to zero: moving all logits together moves no weight.",
        sympy.Add(*(Derivative(s[0], logit) for logit in a)),
        sympy.Integer(0),
    )
    yield (
        "columns",
        "So does a column: what one weight gains the others lose.",
        sympy.Add(*(Derivative(weight, a[0]) for weight in s)),
        sympy.Integer(0),
    )


def _score(n: int) -> Iterator[Line]:
    x = _symbols(n)
    a, s, c, m = x.a, x.s, x.c["k"], x.m["k"]
    slope = Derivative(x.z["k"], a[0])
    yield ("mixed score", "The layer scores, mixed by the weights.", m, x.mixed(c))
    yield (
        "score",
        "The head's score of a mixture is gamma times the mixed score.",
        x.w[0] * x.e[0] + x.w[1] * x.e[1],
        x.gamma * m,
    )
    yield (
        "every weight",
        "One logit moves every weight, so its effect on the score is a sum over layers.",
        slope,
        x.gamma * sympy.Add(*(c[j] * Derivative(s[j], a[0]) for j in range(n))),
    )
    yield (
        "insert the jacobian",
        "Insert the entries of the matrix.",
        slope,
        x.gamma
        * (c[0] * s[0] * (1 - s[0]) - sympy.Add(*(c[j] * s[0] * s[j] for j in range(1, n)))),
    )
    yield (
        "subtract m",
        "What is subtracted is the mixed score: weight for this layer is taken from the mixture.",
        slope,
        x.gamma * s[0] * (c[0] - m),
    )
    yield (
        "score by gamma",
        "Gamma only scales the mixed score.",
        Derivative(x.z["k"], x.gamma),
        m,
    )


def _loss(n: int) -> Iterator[Line]:
    x = _symbols(n)
    p, y, z, c, m = x.p, x.y, x.z, x.c, x.m
    yield (
        "probability",
        "The probability of label 1 is the logistic sigmoid of the score.",
        p["k"],
        1 / (1 + exp(-z["k"])),
    )
    yield (
        "sigmoid slope",
        "Its slope, in terms of itself.",
        Derivative(p["k"], z["k"]),
        p["k"] * (1 - p["k"]),
    )
    yield ("loss", "The mean log loss of river and loan.", x.L, x.mean_log_loss())
    yield (
        "loss by probability",
        "The chain rule for one occurrence.",
        Derivative(x.L, z["r"]),
        Rational(1, 2)
        * ((1 - y["r"]) / (1 - p["r"]) - y["r"] / p["r"])
        * Derivative(p["r"], z["r"]),
    )
    for k, who in zip(BOTH, ("river", "loan"), strict=True):
        yield (
            f"loss by score of {who}",
            f"Most cancels: half the error of the probability ({who}).",
            Derivative(x.L, z[k]),
            x.half_error(k),
        )
    yield (
        "chain rule",
        "The logits are shared, so the contributions of both occurrences add.",
        Derivative(x.L, x.a[0]),
        sympy.Add(*(Derivative(x.L, z[k]) * Derivative(z[k], x.a[0]) for k in BOTH)),
    )
    yield (
        "insert the score",
        "Insert what one logit does to each score.",
        Derivative(x.L, x.a[0]),
        (x.gamma * x.s[0]) * sympy.Add(*(Derivative(x.L, z[k]) * (c[k][0] - m[k]) for k in BOTH)),
    )
    for j in range(n):
        yield (
            f"logit gradient {j}",
            f"The logit gradient of layer {j}.",
            Derivative(x.L, x.a[j]),
            x.logit_gradient(j),
        )
    yield (
        "gamma gradient",
        "The gamma gradient, by the same chain.",
        Derivative(x.L, x.gamma),
        x.gamma_gradient(),
    )
    yield (
        "sum of logit gradients",
        "The logit gradients sum to zero, as the rows of the matrix do.",
        sympy.Add(*(Derivative(x.L, logit) for logit in x.a)),
        sympy.Integer(0),
    )
    yield (
        "leave out m",
        "Leave out the m, as if a logit were a coefficient of its own, and call the result b.",
        x.b[0],
        x.logit_gradient_without_m(0),
    )
    yield (
        "without m",
        "These do not sum to zero: together they move the scale, which is gamma's part.",
        sympy.Add(*x.b),
        x.gamma * Derivative(x.L, x.gamma),
    )
    yield (
        "what m does",
        "The m takes from each its share of that sum, and only the proportions are left to move.",
        Derivative(x.L, x.a[0]),
        x.b[0] - x.s[0] * x.gamma * Derivative(x.L, x.gamma),
    )


# --- results --------------------------------------------------------------------------------------


@cache
def softmax_jacobian(n_layers: int) -> ImmutableMatrix:
    """``J[i, j] = ds_i/da_j``, equal to ``diag(s) - s s^T``, in the weights; (n, n), proved.

    Raises as `derivation`. Book: chapter 4, "The derivation".

    >>> softmax_jacobian(2)
    Matrix([
    [-s_0**2 + s_0,      -s_0*s_1],
    [     -s_0*s_1, -s_1**2 + s_1]])
    """
    x = _symbols(_layer_count(n_layers))
    column = ImmutableMatrix(x.s)
    right = ImmutableMatrix(sympy.diag(*x.s) - column * column.T)
    return Step(x.n, "jacobian", "", x.J, right).right


@cache
def logit_gradient(n_layers: int) -> ImmutableMatrix:
    """``dL/da_j = sum_k (p_k - y_k) / 2 * gamma * s_j * (c_kj - m_k)``; (n, 1), proved.

    Raises as `derivation`. Book: chapter 4, "The derivation".

    >>> logit_gradient(2)[1]
    gamma*s_1*((c_l1 - m_l)*(p_l - y_l) + (c_r1 - m_r)*(p_r - y_r))/2
    """
    x = _symbols(_layer_count(n_layers))
    left = ImmutableMatrix([Derivative(x.L, logit) for logit in x.a])
    right = ImmutableMatrix([x.logit_gradient(j) for j in range(x.n)])
    return Step(x.n, "logit gradient", "", left, right).right


@cache
def gamma_gradient(n_layers: int) -> Expr:
    """``dL/dgamma = sum_k (p_k - y_k) / 2 * m_k``, proved.

    Raises as `derivation`. Book: chapter 4, "The derivation".

    >>> gamma_gradient(3)
    m_l*(p_l - y_l)/2 + m_r*(p_r - y_r)/2
    """
    x = _symbols(_layer_count(n_layers))
    return Step(x.n, "gamma gradient", "", Derivative(x.L, x.gamma), x.gamma_gradient()).right


def verify(n_layers: int) -> int:
    """Prove Jacobian, logit gradient and gamma gradient for n layers; how many equations that took.

    Raises as `derivation`. Book: chapter 4, "The derivation".

    >>> [verify(n) for n in range(2, 7)]  # n * n entries, n logits, gamma
    [7, 13, 21, 31, 43]
    """
    results = softmax_jacobian(n_layers), logit_gradient(n_layers), [gamma_gradient(n_layers)]
    return sum(len(result) for result in results)


@dataclass(frozen=True)
class Compiled:
    """The results for n layers as functions of float64 arrays.

    Arguments: ``logits`` (n,), ``gamma`` a number, ``layer_scores`` (2, n) and ``labels`` (2,),
    river first.
    """

    n_layers: int
    _jacobian: Callable[..., Array]
    _logit_gradient: Callable[..., Array]
    _gamma_gradient: Callable[..., float]

    def jacobian(self, logits: ArrayLike) -> Array:
        """``J[i, j] = ds_i/da_j``; (n, n).

        >>> compiled(2).jacobian([0.0, 0.0])
        array([[ 0.25, -0.25],
               [-0.25,  0.25]])
        """
        jacobian: Array = np.array(self._jacobian(self._shifted(logits)), dtype=np.float64)
        return jacobian

    def logit_gradient(
        self, logits: ArrayLike, gamma: float, layer_scores: ArrayLike, labels: ArrayLike
    ) -> Array:
        """``dL/da``; (n,).

        >>> scores = [[1.0, -2.0, 2.0], [1.0, 2.0, -3.0]]
        >>> compiled(3).logit_gradient(np.log([0.2, 0.3, 0.5]), 1.0, scores, [1.0, 0.0]).round(6)
        array([ 0.042234,  0.272578, -0.314812])
        """
        arguments = self._arguments(logits, gamma, layer_scores, labels)
        with np.errstate(over="ignore"):  # exp of a large score is inf, the probability then 0
            return np.array(self._logit_gradient(*arguments), dtype=np.float64).reshape(-1)

    def gamma_gradient(
        self, logits: ArrayLike, gamma: float, layer_scores: ArrayLike, labels: ArrayLike
    ) -> float:
        """``dL/dgamma``.

        >>> scores = [[1.0, -2.0, 2.0], [1.0, 2.0, -3.0]]
        >>> gradient = compiled(3).gamma_gradient(np.log([0.2, 0.3, 0.5]), 1.0, scores, [1.0, 0.0])
        >>> round(gradient, 6)
        -0.222437
        """
        arguments = self._arguments(logits, gamma, layer_scores, labels)
        with np.errstate(over="ignore"):
            return float(self._gamma_gradient(*arguments))

    def _shifted(self, logits: ArrayLike) -> Array:
        """Less the largest logit, which changes no weight (step "shift") and prevents overflow."""
        values = _float64(logits, "logits", (self.n_layers,))
        with np.errstate(over="ignore"):  # 1e308 less -1e308 is inf, and the weight 0
            shifted: Array = values - values.max()
        return shifted

    def _arguments(
        self, logits: ArrayLike, gamma: float, layer_scores: ArrayLike, labels: ArrayLike
    ) -> tuple[Array, Array, Array, Array]:
        return (
            self._shifted(logits),
            _float64(gamma, "gamma", ()),
            _float64(layer_scores, "layer_scores", (len(BOTH), self.n_layers)),
            _float64(labels, "labels", (len(BOTH),)),
        )


@cache
def compiled(n_layers: int) -> Compiled:
    """The proved results as numpy functions, a witness for `elmo_toy.scalar_mix`.

    Raises as `derivation`. Book: chapter 4, "Four witnesses".

    >>> compiled(3).n_layers
    3
    """
    n = _layer_count(n_layers)
    x = _symbols(n)
    everything = (x.a, x.gamma, [x.c[k] for k in BOTH], [x.y[k] for k in BOTH])

    def function(arguments: tuple[Any, ...], result: Expr) -> Callable[..., Any]:
        # Down to the primitive symbols: the function computes its own weights and probabilities.
        primitive = result.xreplace(_meanings(n, _NONE))
        return sympy.lambdify(arguments, primitive, modules="numpy", cse=True)  # type: ignore[no-any-return]  # sympy has no type hints

    return Compiled(
        n_layers=n,
        _jacobian=function((x.a,), softmax_jacobian(n)),
        _logit_gradient=function(everything, logit_gradient(n)),
        _gamma_gradient=function(everything, gamma_gradient(n)),
    )


def _layer_count(n_layers: int) -> int:
    if isinstance(n_layers, bool) or not isinstance(n_layers, int | np.integer):
        raise TypeError(f"n_layers must be an integer, given {n_layers!r}")
    if n_layers not in LAYER_COUNTS:
        raise ValueError(
            f"n_layers must be {LAYER_COUNTS[0]} to {LAYER_COUNTS[-1]}, given {n_layers}"
        )
    return int(n_layers)


def _float64(values: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    array = as_numbers(values, name)
    if array.dtype != np.float64:
        raise TypeError(f"{name} must be float64, given {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, given {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, given {array}")
    return array
