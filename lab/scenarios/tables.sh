#!/bin/bash
# tables 1 and 2 of kong2021 and the routines of scordino2020 from a guest, each with a report
# kinds: kvm
set -euo pipefail
quietcore=target/release/quietcore
if ! [[ -x $quietcore && -x target/release/quietcore-runtime ]]; then
    echo 'first: cargo build --release -p quietcore-cli'
    exit 1
fi
"$quietcore" probe irq --out "$OUT/irq"
# As often as was published, and some more; by default it is a million times, half an hour here.
"$quietcore" probe osek --backend kvm --loops 100,20000 --out "$OUT/osek"
"$quietcore" probe latency --backend kvm --period 1ms --duration 30s --out "$OUT/latency"
