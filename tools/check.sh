#!/bin/sh
# Everything that `make test` checks. Stops at the first step that fails; pytest comes last, so
# that its closing line is the last thing that a run prints.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin

# Jupyter, matplotlib and the browser write there, or complain in each notebook's outputs.
if [ ! -w "${HOME:-}" ]; then
    HOME=$PWD/.cache/home
    export HOME
    mkdir -p "$HOME"
fi

step() {
    echo
    echo "== $*"
}

step 'style'
$bin/ruff check .
$bin/ruff format --check .

# A head start for what is fetched, beside the steps that need none of it. Each of these is done
# again below, which takes no time where it succeeded here, and says what is wrong where it didn't.
{
    $bin/python tools/browser.py --install
    $bin/python tools/binder_environment.py
    $bin/python tools/epubcheck.py --install
} >/dev/null 2>&1 &

step 'types'
$bin/mypy

step 'the stand-alone script runs on Python 3.8'
$bin/vermin --no-tips --violations -t=3.8- elmo_toy/elmo_scalar_mix_demo.py

step 'book'
$bin/python tools/build_book.py

step 'browser and axe-core'
wait
ELMO_BROWSER=$($bin/python tools/browser.py --install)
export ELMO_BROWSER
$bin/python tools/npm_packages.py axe-core

# They run in the environment of Binder: a wheel of the package and nothing of this checkout.
step 'the environment of Binder'
binder=$($bin/python tools/binder_environment.py)
# No failure where it cannot be installed: its test is then skipped, and says so.
step 'EPUBCheck'
$bin/python tools/epubcheck.py --install

# Each aims at 10 s; twice that fails, since a busy machine was seen to double processor seconds.
step 'notebooks: stored as they run there, each within its time'
$bin/python tools/normalise_notebooks.py --check --execute --jobs 2 --python "$binder" \
    --budget 20 notebooks/*.ipynb

# One file's tests stay in one process: a notebook's cells share a kernel, a page its browser. Files
# keep their order, in which those of the browser, few tests but long ones, come early.
workers='-n 2 --dist loadfile --no-loadscope-reorder'

# Apart, because nbval would measure coverage inside the kernels too, and they do not start then.
step 'notebooks'
$bin/python -m pytest notebooks $workers -p no:cov \
    --nbval --nbval-sanitize-with tests/notebooks/nbval_sanitize.cfg

step 'package, tools, and the book in a browser'
exec $bin/python -m pytest $workers --cov --cov-report=term
