#!/bin/bash
# a guest of a site under Debian's libvirt: defined as exported, seen to be pinned, shut down
# kinds: kvm
set -euo pipefail

# Seconds that each step may take: emulated, libvirt needs some 20 to try what QEMU can.
readonly limit=120
readonly name=line-desk
readonly quietcore=$PWD/target/debug/quietcore
[[ -x $quietcore ]] || { echo 'first: cargo build -p quietcore-cli' && exit 1; }
readonly system=$PWD/product/supervisor/tests/disk/boot.S
export LIBVIRT_DEFAULT_URI=qemu:///system
mkdir /tmp/line && cd /tmp/line

# Runs a command again and again until it succeeds, for `limit` seconds.
wait_for() {
    local last=$((SECONDS + limit))
    until "$@"; do
        ((SECONDS < last)) || { echo "not within $limit s: $*" && return 1; }
        sleep 0.2
    done
}

# Says what a command should have written, and did not.
expect() {
    local wanted=$1 found
    shift
    found=$("$@")
    [[ $found == *"$wanted"* ]] || { echo "\`$*\`: expected '$wanted', found '$found'" && exit 1; }
}

# A system of one boot sector, which says hello and waits for the power button.
gcc -c -o boot.o "$system"
ld --oformat binary -Ttext 0x7c00 -e start -o desk.img boot.o
truncate -s 1M desk.img
cat >site.toml <<'SITE'
[site]
name = "line"
[host]
housekeeping = [0]
[[partition]]
name = "desk"
class = "process-control"
backend = "qemu"
guest = { system = "disk", image = "desk.img", priority = 20 }
[partition.vcr]
cpus = [1]
memory = "64 MiB"
SITE
"$quietcore" export libvirt site.toml --out "$OUT"

# The daemon's settings and its state are this machine's own; so is the user of QEMU's processes,
# which an installation makes and which has no rights here.
for folder in /etc/libvirt /var/cache /var/lib /var/log; do
    mount -t tmpfs none "$folder"
done
mkdir /var/log/libvirt
sed '$a libvirt-qemu:x:64055:64055::/:/usr/sbin/nologin' /etc/passwd >passwd
sed '$a libvirt-qemu:x:64055:' /etc/group >group
mount --bind passwd /etc/passwd
mount --bind group /etc/group
printf 'user = "root"\ngroup = "root"\n' >/etc/libvirt/qemu.conf
virtlogd --daemon
libvirtd --daemon

answers() {
    virsh version >"$OUT/version.txt" 2>"$OUT/not-yet.txt"
}
wait_for answers
cat "$OUT/version.txt"
virsh define "$OUT/$name.xml"
# QEMU looks each second whether its terminal has a reader, and discards what is written before.
virsh start "$name" --paused
virsh dumpxml "$name" >"$OUT/running.xml"
cat "$(virsh ttyconsole "$name")" >"$OUT/console.guest" &
sleep 3
virsh resume "$name"
wait_for grep -qs 'hello from the disk' "$OUT/console.guest"

# What the site file says, as this kernel has it.
emulator=$(cat "/run/libvirt/qemu/$name.pid")
processor=$(grep -l 'CPU 0/KVM' "/proc/$emulator"/task/*/comm | cut -d / -f 5)
expect 'affinity list: 1' taskset --cpu-list --pid "$processor"
expect 'affinity list: 0' taskset --cpu-list --pid "$emulator"
expect 'SCHED_FIFO' chrt --pid "$processor"
expect 'priority: 20' chrt --pid "$processor"
locked=$(awk '$1 == "VmLck:" { print $2 }' "/proc/$emulator/status")
((locked >= 65536)) || { echo "$locked KiB are locked of 64 MiB" && exit 1; }

# The guest's own end, by its power button.
virsh shutdown "$name"
is_off() {
    [[ $(virsh domstate "$name") == 'shut off'* ]]
}
wait_for is_off
grep 'goodbye' "$OUT/console.guest"
virsh undefine "$name"
[[ -z $(virsh list --all --name) ]]
[[ ! -e /proc/$emulator ]] || { echo "QEMU is still there" && exit 1; }
