"""Who may import whom: a module knows the ones above it in the flow, and no others."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import elmo_toy

PACKAGE = Path(elmo_toy.__file__).parent
MIX = {"_checks", "layer_norm", "scalar_mix"}
#: A line for each module or subpackage, in the order of the flow: what it may import of the others.
#: What stands in nobody's set, `figures` above all, is imported by nobody.
MAY_IMPORT: dict[str, set[str]] = {
    "_checks": set(),
    "layer_norm": {"_checks"},
    "scalar_mix": {"_checks", "layer_norm"},
    "__init__": MIX,
    "worked_example": MIX,
    "gradient_check": {"_checks"},
    "symbolic": {"_checks"},
    "geometry": {"_checks"},
    "influence": MIX,
    "descent": MIX | {"worked_example"},
    "check": set(),  # tries what it imports, by name, and has to run without any of it
    "elmo_scalar_mix_demo": set(),  # runs alone, without the package
    "text": set(),
    "toy_language": {"text"},
    "bilm": {"_checks", "text", "toy_language"},  # toy_language: what the senses are
    "extractor": MIX | {"text", "bilm"},
    "task": MIX | {"text", "toy_language", "bilm"},  # its layers are arrays: no extractor
    "similarity": {"_checks", "text"},
    "our_sentences": set(),
    "attention": MIX | {"text"},
    "transformer": {"_checks", "text", "attention"},
    "masked_lm": {"_checks", "text", "bilm", "transformer"},
    "masked_training": {"_checks", "text", "toy_language", "bilm", "masked_lm"},
    "two_sources": MIX | {"text", "toy_language", "bilm", "worked_example"},
    "predecessors": {"_checks", "text", "toy_language", "bilm"},
    "experiments": {"_checks", "text", "toy_language", "bilm", "task", "predecessors"},
    "tables": set(),
    "reported": {"tables"},
    "exercises": MIX
    | {"worked_example", "descent", "gradient_check", "reported", "similarity", "bilm"},
    "quiz": MIX | {"worked_example", "descent", "reported", "exercises"},
    "figures": MIX
    | {"worked_example", "gradient_check", "geometry", "influence", "descent", "similarity"},
    "widgets": MIX
    | {"worked_example", "gradient_check", "descent", "text", "bilm", "experiments"}
    | {"similarity", "our_sentences"},
}
#: Packages that take long to import, and the modules that are about them.
HEAVY: dict[str, set[str]] = {
    "sympy": {"symbolic"},
    "matplotlib": {"figures"},
    "h5py": {"bilm", "extractor"},
    "ipywidgets": {"widgets"},
}


def imported(path: Path) -> set[str]:
    """Full dotted names, ``a.b`` also for ``from a import b``; imports inside functions count."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            names |= {f"{dots}{node.module or ''}.{alias.name}" for alias in node.names}
    return names


def violations(package: Path, may_import: Mapping[str, set[str]]) -> list[str]:
    found = []
    files = {path: path.relative_to(package).parts[0] for path in sorted(package.rglob("*.py"))}
    modules = {path: part.removesuffix(".py") for path, part in files.items()}
    for path, module in modules.items():
        if module not in may_import:
            found.append(f"{module} needs its line in MAY_IMPORT: what may it import?")
            continue
        for name in imported(path):
            top, _, rest = name.partition(".")
            target = rest.partition(".")[0]
            if name.startswith("."):
                found.append(f"{module} imports {name}: write the name out")
            elif top == package.name:
                # `from elmo_toy import softmax` asks the package itself.
                target = target if target in modules.values() else "__init__"
                if target != module and target not in may_import[module]:
                    found.append(f"{module} imports {target}")
            elif top in HEAVY and module not in HEAVY[top]:
                found.append(f"{module} imports {top}")
    return found


def test_every_module_keeps_to_its_line() -> None:
    assert violations(PACKAGE, MAY_IMPORT) == []


def test_every_line_names_only_lines_above_it() -> None:
    above: set[str] = set()
    for module, allowed in MAY_IMPORT.items():
        assert allowed <= above, module
        above.add(module)
    assert set(MAY_IMPORT) <= {path.stem for path in PACKAGE.iterdir()}, "a line without a module"


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("scalar_mix.py", "from elmo_toy.worked_example import LAYERS", "scalar_mix imports worke"),
        ("scalar_mix.py", "import elmo_toy.worked_example", "scalar_mix imports worked_example"),
        ("scalar_mix.py", "from elmo_toy import worked_example", "scalar_mix imports worked_exa"),
        ("scalar_mix.py", "def f():\n    import elmo_toy.figures.a", "scalar_mix imports figures"),
        ("scalar_mix.py", "from elmo_toy import softmax", "scalar_mix imports __init__"),
        ("scalar_mix.py", "from . import worked_example", "scalar_mix imports ..worked_example: w"),
        ("scalar_mix.py", "import matplotlib.pyplot as plt", "scalar_mix imports matplotlib"),
        ("figures/a.py", "from sympy import exp", "figures imports sympy"),
        ("figures/b/c.py", "import h5py", "figures imports h5py"),
        ("unlisted/cell.py", "import numpy", "unlisted needs its line in MAY_IMPORT"),
        ("unlisted.py", "", "unlisted needs its line in MAY_IMPORT"),
    ],
)
def test_each_way_to_break_the_rule_is_found(
    tmp_path: Path, path: str, source: str, expected: str
) -> None:
    package = tmp_path / "elmo_toy"
    good = {
        "__init__.py": "from elmo_toy.scalar_mix import softmax",
        "scalar_mix.py": "import numpy\nfrom elmo_toy._checks import Array",
        "_checks.py": "",
        "descent.py": "",
        "worked_example.py": "from elmo_toy.scalar_mix import softmax",
        "figures/a.py": "import matplotlib, elmo_toy.descent\nfrom elmo_toy.figures.b import c",
        "figures/b/c.py": "",
    }

    def write(name: str, text: str) -> None:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")

    for name, text in good.items():
        write(name, text)
    assert violations(package, MAY_IMPORT) == []
    write(path, source)
    found = violations(package, MAY_IMPORT)
    assert len(found) == 1
    assert found[0].startswith(expected)


def test_importing_the_package_leaves_the_heavy_ones_alone() -> None:
    def loaded_after(statement: str) -> list[str]:
        code = f"{statement}; import sys; print(*sorted(set(sys.modules) & set({list(HEAVY)})))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=PACKAGE.parent,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout.split()

    assert loaded_after("import elmo_toy") == []
    assert loaded_after("import elmo_toy.symbolic") == ["sympy"]  # it would be seen
