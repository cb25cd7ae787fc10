#!/bin/bash
# what `quietcore doctor` finds in such a machine
# kinds: rt kvm stock
set -euo pipefail
uname -rv
target/debug/quietcore doctor --json >"$OUT/doctor.json" || true
head -c 300 "$OUT/doctor.json"
