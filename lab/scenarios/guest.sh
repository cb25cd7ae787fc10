#!/bin/bash
# figures of partitions in guests, beside QEMU's microvm and a process
# kinds: kvm
set -euo pipefail
bench=target/release/quietcore-bench
if ! [[ -x $bench && -x target/release/quietcore-runtime ]]; then
    echo 'first: cargo build --release -p quietcore-bench -p quietcore-cli'
    exit 1
fi
# KVM's own counters.
mount -t debugfs none /sys/kernel/debug
# Large pages are set aside, as a host for guests does; QEMU's machines are not offered them.
echo 32 >/proc/sys/vm/nr_hugepages
# Words of the comparison may be given, for a few of its parts or fewer rounds.
# shellcheck disable=SC2086
"$bench" guest --keep "$OUT/guest.json" ${QUIETCORE_BENCH:-} | tee "$OUT/guest.txt"
# An emulated machine does not keep 1 ms, and has exits of overruns then; it keeps 10 ms.
if [[ -z ${QUIETCORE_BENCH:-} ]]; then
    "$bench" guest --only exits --period 10ms --cycles 500 --keep "$OUT/exits.json" | tee "$OUT/exits.txt"
fi
