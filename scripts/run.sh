#!/usr/bin/env bash
# Runs the release build's daemon in the foreground, on a socket and a state directory of its own, until Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/trestle-run}
folder=${folder:-/tmp/trestle-run-$UID}
[[ -d $folder ]] || mkdir -m 700 "$folder"
# In /tmp another user may have created it first, and would own the files in it.
[[ -O $folder && ! -L $folder ]] || {
    echo "$folder belongs to another user: set XDG_RUNTIME_DIR to a folder of your own" >&2
    exit 1
}

cat <<TEXT
The daemon runs here until Ctrl-C. In a second terminal:

    .build/release/trestle --socket $folder/bridge.sock call Echo hello=world

TEXT
exec .build/release/trestled --socket "$folder/bridge.sock" --state-dir "$folder/state" "$@"
