"""Find a Chromium for the tests: `python tools/browser.py [--install]` prints its path.

An installed Chromium or Chrome is taken. With `--install` one is installed where there is none:
from the distribution as root on Debian and Ubuntu, by Playwright elsewhere.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from failures import explained, install_quietly

# First the one without windows: it draws a page as the others do, in half the time.
NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome-stable", "google-chrome", "chrome"),
)
PLACES = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("C:/Program Files/Google/Chrome/Application/chrome.exe"),
)
# A browser of the tests' own, that asks nobody for anything.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ADVICE = (
    "Tests and printing need Chromium or Chrome, and none was found. Install one "
    "(Debian and Ubuntu: apt-get install chromium; elsewhere: .venv/bin/playwright install "
    "chromium), or name it in the environment: ELMO_BROWSER=/path/to/chrome"
)


def find_browser() -> str | None:
    """Return the path of a Chromium or Chrome, or None."""
    if named := os.environ.get("ELMO_BROWSER"):
        return named
    for name in NAMES:
        if path := shutil.which(name):
            return path
    for place in PLACES:
        if place.is_file():
            return str(place)
    return find_playwright_browser()


def find_playwright_browser() -> str | None:
    """Return the path of the browser that Playwright downloaded, or None."""
    from playwright.sync_api import sync_playwright  # only the tests' environment has it

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def install_browser() -> str | None:
    """Install Chromium in the ways that fit this machine until there is one; return its path."""
    ways = {"Playwright": [sys.executable, "-m", "playwright", "install", "chromium"]}
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        # Ubuntu's package of Chromium needs a snap service, so Playwright stays the second way;
        # without any font a page is drawn without text; not every Debian has the first package
        get = "apt-get install -y -qq --no-install-recommends fonts-liberation"
        install = f"apt-get update -qq && {{ {get} chromium-headless-shell || {get} chromium; }}"
        ways = {"apt-get": ["sh", "-c", install], **ways}
    for name, command in ways.items():
        print(f"Installing a browser for the tests: {' '.join(command)}", file=sys.stderr)
        done = install_quietly(command)
        if path := find_browser():
            return path
        print(explained(f"{name} installed no browser", done.stdout), file=sys.stderr)
    return None


def main() -> int:
    """Print the path of a browser, or say what to install."""
    parser = argparse.ArgumentParser(description="Find a Chromium for the tests.")
    parser.add_argument("--install", action="store_true", help="install one if there is none")
    install = parser.parse_args().install
    named = os.environ.get("ELMO_BROWSER")
    if named and not shutil.which(named):
        print(f"ELMO_BROWSER names {named}, which is no program here.", file=sys.stderr)
        return 2
    path = find_browser()
    if path is None and install:
        path = install_browser()
    if path is None:
        print(ADVICE, file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
