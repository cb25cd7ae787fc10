#!/usr/bin/env bash
# Runs tests of the page with a daemon and a site that really run: the servo axis of examples/.
#
# Usage: real.sh PROGRAMS     the folder of `quietcore` and `quietcored`
set -euo pipefail
programs=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
started=()
end() {
    kill "${started[@]}" 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap end EXIT

export QUIETCORE_RUN_DIR=$folder/run QUIETCORE_STATE_DIR=$folder/state
"$programs/quietcore" up ../examples/servo.toml >"$folder/site.log" 2>&1 &
started+=($!)
"$programs/quietcored" --page 0 >"$folder/daemon.log" 2>&1 &
started+=($!)

runs() {
    "$programs/quietcored" link >/dev/null 2>&1 &&
        "$programs/quietcore" ps servo 2>/dev/null | grep running >/dev/null
}
for ((tries = 0; ; tries += 1)); do
    ! runs || break
    if ((tries == 600)); then
        echo 'the site or the daemon does not run'
        tail -n 20 "$folder/site.log" "$folder/daemon.log"
        exit 1
    fi
    sleep 0.1
done
# A shell reads the command; the path may have a blank.
export QUIETCORE_DAEMON=$programs/quietcored
QUIETCORE_SOCKET=$QUIETCORE_RUN_DIR/@daemon/socket QUIETCORE_PAGE_LINK='"$QUIETCORE_DAEMON" link --role' \
    node test.mjs login site variables changes timing control qualification
