#!/bin/sh
# Make .venv hold what is needed to build the book (`sh tools/environment.sh book`) or to test
# (`sh tools/environment.sh test`). Does nothing when a stamp says that it does already.
set -eu
cd "$(dirname "$0")/.."

case $1 in
    book) requirements=requirements.txt ;;
    test) requirements=tests/requirements.txt ;; # these include the book's
    *) echo "usage: $0 book|test" >&2; exit 2 ;;
esac

supported='import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))'

find_python() {
    for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
        if "$name" -c "$supported" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    found=$("${PYTHON:-python3}" --version 2>/dev/null || echo 'none')
    echo "Python 3.11, 3.12 or 3.13 is needed; found: $found." >&2
    echo 'Install one of them, or name it: make book PYTHON=/path/to/python3.12' >&2
    return 1
}

if ! .venv/bin/python -c "import pip; $supported" >/dev/null 2>&1; then
    python=$(find_python)
    echo "Making .venv with $("$python" --version)."
    rm -rf .venv
    if ! "$python" -m venv .venv; then
        rm -rf .venv
        echo "$python could not make a virtual environment." >&2
        echo 'On Debian and Ubuntu: apt-get install python3-venv' >&2
        exit 1
    fi
fi

# The stamp's name changes with whatever says what to install.
hash=$(cat requirements.txt notebooks/requirements.txt tests/requirements.txt \
    tools/constraints.txt pyproject.toml | cksum)
stamp=.venv/installed-$1-${hash%% *}
[ -e "$stamp" ] && exit 0

echo "Installing $requirements into .venv. The first time this takes a minute or two."
.venv/bin/python -m pip install --disable-pip-version-check --quiet --requirement "$requirements"
.venv/bin/python -m pip install --disable-pip-version-check --quiet \
    --no-build-isolation --no-deps --editable .
rm -f .venv/installed-"$1"-*
touch "$stamp"
