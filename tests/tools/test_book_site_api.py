import ast
from types import SimpleNamespace

import pytest
from book_site import api


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ('Source: us. Book: chapter 3, "By hand".', [(3, "By hand")]),
        ('Book: chapter 4, "Over\n    two lines".', [(4, "Over two lines")]),
        ('Book: chapter 3, "A", and chapter 4, "B".', [(3, "A"), (4, "B")]),
        ('Book: chapter 4, "A" and chapter 4, "B".', [(4, "A"), (4, "B")]),
        ("Book: chapter 4.", [(4, "")]),
        ("Book: chapters 3 and 4.", [(3, ""), (4, "")]),
        ('See chapter 3, "A".', []),
    ],
)
def test_places_of_a_docstring(docstring: str, expected: list[tuple[int, str]]) -> None:
    assert api.places(docstring) == expected
    linked = api.link_places(docstring)
    for chapter, title in expected:
        assert f":book:`{chapter}|{title}`" in linked
    assert linked.count(":book:") == len(expected)


def test_a_section_ends_with_its_indented_text() -> None:
    """And `Returns` becomes a field, its sentence indented; what follows is text again."""
    given = """First line.

Parameters
----------
x : int
    A number.

Returns
-------
A sentence. It has
two lines.

Source: us."""
    expected = """First line.

Parameters
----------
x : int
    A number.


:Returns:
    A sentence. It has
    two lines.


Source: us."""
    assert "\n".join(api.end_sections(given.split("\n"))) == expected


def test_an_indented_block_is_a_formula() -> None:
    """In the text before the sections; not below an item of a list, and not in a section."""
    given = """Text:

    y = 2 * x

    z = y

* an item

    of two paragraphs

Marked already::

    w = z

Parameters
----------
x
    A number.

    Another paragraph."""
    expected = given.replace("    y = 2", "::\n\n    y = 2")
    assert "\n".join(api.mark_formulas(given.split("\n"))) == expected


def test_signatures_are_those_of_the_source() -> None:
    source = (
        'class A:\n    def f(self, x: "B", *y: int, z: float = 1e-3) -> "A": ...\n    n: int = 2'
    )
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.ClassDef)
    function, field = made.body
    assert isinstance(function, ast.FunctionDef)
    assert api.written_arguments(function) == "x: B, *y: int, z: float=0.001"
    assert api.written(function.returns) == "A"
    assert isinstance(field, ast.AnnAssign)
    assert api.written_fields([field]) == "n: int = 2"


def test_where_a_name_may_be_listed() -> None:
    """Where its module takes it from, or in a package above; then what the name itself says."""
    import elmo_toy.widgets

    names = list(api.possible_names("elmo_toy.widgets", "Explorer"))
    assert names[:2] == ["elmo_toy.widgets._explorer.Explorer", "elmo_toy.widgets.Explorer"]
    assert "elmo_toy.bilm.senses" in api.possible_names("elmo_toy.bilm", "senses")
    assert elmo_toy.widgets.Explorer


def test_names_that_would_be_alike_keep_their_module() -> None:
    """Both links of a line would say the same, and lead to different entries."""
    names = {"elmo_toy.gradient_check.error": "function", "elmo_toy.figures.error": "function"}
    entries = {name: SimpleNamespace(objtype=kind) for name, kind in names.items()}
    assert api.distinct_names(entries) == ["gradient_check.error", "figures.error"]
    entries["elmo_toy.figures.line"] = SimpleNamespace(objtype="function")
    assert api.distinct_names(entries)[2] == "line"


def test_short_names() -> None:
    assert api.short_name("elmo_toy.scalar_mix.softmax", is_module=False) == "softmax"
    assert api.short_name("elmo_toy.scalar_mix.ScalarMix.step", is_module=False) == "ScalarMix.step"
    assert api.short_name("elmo_toy.bilm.lstm", is_module=True) == "bilm.lstm"
