"""Binder's environment: what repo2docker makes of `.binder/`, and what the notebooks find in it."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tools import binder_environment as tool
from tools import setup_cells

ROOT = tool.ROOT


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone of the repository holds."""
    folder = tmp_path_factory.mktemp("clone") / "elmo-companion"
    tool.copy_repository(folder)
    return folder


@pytest.fixture(scope="module")
def dockerfile(clone: Path) -> str:
    """The Dockerfile that Binder would build."""
    return tool.dockerfile(clone)


@pytest.fixture(scope="module")
def python() -> Path:
    """The Python of the replayed environment; a run of all checks has made it by now."""
    assert tool.main() == 0
    return tool.python_of(tool.ENVIRONMENT)


def apart(python: Path, folder: Path, *arguments: str, **environment: str) -> str:
    """Run that Python in `folder`, knowing nothing of this checkout; return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_copy_is_what_a_clone_has(clone: Path, tmp_path: Path) -> None:
    copied = {path.relative_to(clone).as_posix() for path in clone.rglob("*") if path.is_file()}
    assert {".binder/requirements.txt", "notebooks/04_gradient.ipynb", "_config.yml"} <= copied
    assert not {name for name in copied if name.startswith((".venv", "_build", ".cache"))}
    # a download, which has no history, is copied as it is
    download = tmp_path / "download"
    tool.copy_repository(download, root=clone)
    assert copied == {
        path.relative_to(download).as_posix() for path in download.rglob("*") if path.is_file()
    }


def test_dockerfile_has_the_python_that_binder_is_asked_for(dockerfile: str, clone: Path) -> None:
    asked = (clone / ".binder" / "runtime.txt").read_text().strip()
    assert asked == "python-3.11"
    # its name in the lock's path is escaped: environment.py-3.11-linux-64.lock
    assert "environment-2epy-2d3-2e11-2dlinux-2d64-2elock" in dockerfile


def test_dockerfile_copies_the_repository_before_it_installs(dockerfile: str) -> None:
    """The requirements name files outside `.binder/`, and the package itself."""
    copied = dockerfile.index("COPY --chown=0:0 src/ ${REPO_DIR}/")
    assert copied < dockerfile.index("bin/pip install")
    assert tool.pip_arguments(dockerfile) == ["-r", ".binder/requirements.txt"]


def test_dockerfile_runs_nothing_else_of_ours(dockerfile: str, clone: Path) -> None:
    assert {path.name for path in (clone / ".binder").iterdir()} == {
        "requirements.txt",
        "runtime.txt",
    }
    assert "/postBuild" not in dockerfile
    assert "/start" not in dockerfile


@pytest.mark.parametrize("lines", [0, 2])
def test_a_dockerfile_of_another_kind_is_named(lines: int) -> None:
    text = "RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install -r a.txt\n" * lines
    with pytest.raises(tool.BinderError, match=f"one line for pip, it has {lines}"):
        tool.pip_arguments(text)


def test_what_repo2docker_refuses_is_said_in_its_words(tmp_path: Path) -> None:
    (tmp_path / ".binder").mkdir()
    (tmp_path / ".binder" / "runtime.txt").write_text("python-three\n")
    with pytest.raises(tool.BinderError, match="repo2docker makes no Dockerfile"):
        tool.dockerfile(tmp_path)


def test_a_failing_install_leaves_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "ENVIRONMENT", tmp_path / "binder")
    monkeypatch.setattr(tool, "copy_repository", lambda target: target.mkdir())
    monkeypatch.setattr(tool, "dockerfile", lambda _: "")
    monkeypatch.setattr(tool, "pip_arguments", lambda _: [])
    without_pip = functools.partial(venv.create, symlinks=True)
    monkeypatch.setattr(tool.venv, "create", lambda *args, **_: without_pip(*args))
    assert tool.main() == 1
    said = capsys.readouterr()
    assert "pip could not install what .binder/requirements.txt names" in said.err
    assert "No module named pip" in said.err
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_the_package_is_there_as_a_wheel_with_all_its_files(
    python: Path, clone: Path, tmp_path: Path
) -> None:
    """Records and trained models too: they are read where the package is installed."""
    program = (
        "import json, pathlib, elmo_toy; folder = pathlib.Path(elmo_toy.__file__).parent; "
        "print(json.dumps([str(folder), sorted(p.relative_to(folder).as_posix() "
        "for p in folder.rglob('*') if p.is_file() and p.suffix != '.pyc')]))"
    )
    place, found = json.loads(apart(python, tmp_path, "-c", program))
    assert Path(place).is_relative_to(tool.ENVIRONMENT)
    package = clone / "elmo_toy"
    wanted = sorted(p.relative_to(package).as_posix() for p in package.rglob("*") if p.is_file())
    assert found == wanted


def test_the_environment_contradicts_no_requirement(python: Path, tmp_path: Path) -> None:
    assert "No broken requirements" in apart(python, tmp_path, "-m", "pip", "check")


# --- nbgitpuller, which a hub's links call ---------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=teacher", "-c", "user.email=teacher@example.org"]
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=60
    )


def test_a_students_answers_survive_the_teachers_changes(python: Path, tmp_path: Path) -> None:
    """As the page on hubs says: pulling again never replaces what a student wrote."""
    teacher, student = tmp_path / "teacher", tmp_path / "student"
    teacher.mkdir()
    git(teacher, "init", "--quiet", "--initial-branch=main")
    (teacher / "exercise.txt").write_text("question 1\nanswer:\n\n\n\nquestion 2\n")
    (teacher / "lost.txt").write_text("as it was\n")
    git(teacher, "add", ".")
    git(teacher, "commit", "--quiet", "-m", "first")
    pull = [
        "-c",
        "import sys; from nbgitpuller.pull import GitPuller; "
        "list(GitPuller(sys.argv[1], sys.argv[2], branch='main').pull())",
        *(str(teacher), str(student)),
    ]
    apart(python, tmp_path, *pull)

    (student / "exercise.txt").write_text("question 1\nanswer: 0.2\n\n\n\nquestion 2\n")
    (student / "notes.txt").write_text("mine\n")
    (student / "lost.txt").unlink()
    (teacher / "exercise.txt").write_text("question 1\nanswer: ?\n\n\n\nquestion two\n")
    (teacher / "notes.txt").write_text("the teacher's\n")
    git(teacher, "add", ".")
    git(teacher, "commit", "--quiet", "-m", "second")
    apart(python, tmp_path, *pull)

    merged = (student / "exercise.txt").read_text()
    assert merged == "question 1\nanswer: 0.2\n\n\n\nquestion two\n", "hers where both changed it"
    assert (student / "lost.txt").read_text() == "as it was\n", "a deleted file is fresh again"
    assert (student / "notes.txt").read_text() == "the teacher's\n"
    [kept] = list(student.glob("notes_*.txt"))
    assert kept.read_text() == "mine\n", "a file of the same name is renamed"


# --- the set-up cell --------------------------------------------------------------------------


def test_the_set_up_cell_installs_the_package_where_it_is_missing(
    python: Path, clone: Path, tmp_path: Path
) -> None:
    """From the public address, for which Git is told to look in a copy on this machine."""
    git(clone, "init", "--quiet", "--initial-branch=main")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "as it is")
    address = setup_cells.source().partition("git+")[2].partition("@")[0]
    redirect = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{clone.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
    }
    cell = tmp_path / "cell.ipy"
    cell.write_text(setup_cells.source() + "\nimport elmo_toy; print(elmo_toy.__version__)\n")
    stamp = tool.ENVIRONMENT / tool.STAMP
    state = stamp.read_text()
    stamp.unlink()  # whatever happens here, a broken environment does not look whole
    apart(python, tmp_path, "-m", "pip", "uninstall", "--quiet", "--yes", "elmo-toy")
    printed = apart(python, tmp_path, "-m", "IPython", "--quick", str(cell), **redirect)
    assert printed.splitlines()[-1] == "0.1.0"
    # and where it is there, the cell asks nobody: Git and pip would find no host
    nowhere = {"GIT_CONFIG_VALUE_0": "x", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    again = apart(python, tmp_path, "-m", "IPython", "--quick", str(cell), **redirect | nowhere)
    assert again == "0.1.0\n"
    stamp.write_text(state)


def test_python_of_this_system() -> None:
    assert tool.python_of(Path(sys.prefix)).is_file()
