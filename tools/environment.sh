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
# There while .venv changes, with the process that changes it: what was killed half-way can look
# whole to pip, and what another one is at must not be taken away from it.
unfinished=.venv/unfinished

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

check_writable() {
    [ -w "$1" ] && return
    echo "Nothing can be written in $1: use a copy of the repository that is yours." >&2
    exit 1
}

mark_unfinished() {
    (set -C && echo $$ >$unfinished) 2>/dev/null && return
    check_alone
    { echo $$ >$unfinished; } 2>/dev/null || : # on a full disk it is there without the number
}

check_alone() {
    read -r other <$unfinished || return 0
    [ "$other" = $$ ] && return
    kill -0 "$other" 2>/dev/null || return 0
    case $(cat "/proc/$other/stat" 2>/dev/null) in *') Z '*) return ;; esac # dead, not yet reaped
    echo "Process $other is installing into .venv: try again when it has ended." >&2
    echo 'If it is another program, start anew: make clean ALL=1' >&2
    exit 1
}

make_environment() {
    check_writable "$PWD"
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        echo "$python cannot make a virtual environment: it has no module venv or ensurepip." >&2
        echo 'On Debian and Ubuntu: apt-get install python3-venv' >&2
        exit 1
    fi
    echo "Making .venv with $("$python" --version)."
    rm -rf .venv
    mkdir .venv
    mark_unfinished
    if ! said=$("$python" -m venv .venv 2>&1); then
        # ensurepip, a process of venv's own, keeps the reason to itself
        (head -c 4000000 /dev/zero >.venv/room) 2>/dev/null || said='No space left on device'
        rm -rf .venv
        echo "$said" | "$python" tools/failures.py 'The virtual environment was not made' >&2
        exit 1
    fi
}

# Warnings of a success are shown; a failure is told in a sentence where its reason is known.
install() {
    if said=$(.venv/bin/python -m pip install --disable-pip-version-check --quiet \
        --retries "${PIP_RETRIES:-2}" "$@" 2>&1); then
        [ -z "$said" ] || echo "$said" >&2
        return
    fi
    sentence=$(echo "$said" |
        .venv/bin/python tools/failures.py "pip could not install $requirements")
    echo "$sentence" >&2
    case $said$sentence in # then nothing was changed yet; else half a package may be there
        *'No matching distribution'* | *'no host could be reached'*) rm $unfinished ;;
    esac
    exit 1
}

if [ -e $unfinished ]; then
    check_alone
    echo 'The last installation was not finished, so .venv is made anew.'
    make_environment
elif ! .venv/bin/python -c "import pip; $supported" >/dev/null 2>&1; then
    make_environment
fi

# The stamp's name changes with whatever says what to install.
hash=$(cat requirements.txt notebooks/requirements.txt tests/requirements.txt \
    tools/constraints.txt pyproject.toml | cksum)
hash=${hash%% *}
stamp=.venv/installed-$1-$hash
[ -e "$stamp" ] && [ ! -e $unfinished ] && exit 0

check_writable "$PWD/.venv"
echo "Installing $requirements into .venv. The first time this takes a minute or two."
mark_unfinished
install --requirement "$requirements"
install --no-build-isolation --no-deps --editable .
for old in .venv/installed-*; do # other versions than they say are there now
    case $old in *-"$hash") ;; *) rm -f "$old" ;; esac
done
touch "$stamp"
rm $unfinished
