#!/bin/bash
# a domain of Xen from its start to its end: seen to run, pinned, and gone
# kinds: xen
set -euo pipefail

# Seconds that each step may take: emulated, the domain needs some 10 until it runs, and minutes
# beside other work.
readonly limit=200
readonly name=guest
readonly console=/var/log/xen/console/guest-$name.log
cd /tmp

# An entry of an archive `newc`, which is what a kernel reads: name, mode, and file with its content.
entry() {
    local size=0
    [[ -z ${3:-} ]] || size=$(stat -c %s "$3")
    printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\0' \
        1 "$2" 1 0 0 0 "$size" 0 0 0 0 $((${#1} + 1)) 0 "$1"
    # Header and name fill whole words of 4 bytes, and so does the content.
    head -c $((3 - (110 + ${#1}) % 4)) /dev/zero
    [[ -z ${3:-} ]] || cat "$3"
    head -c $(((4 - size % 4) % 4)) /dev/zero
}

# Runs a command again and again until it succeeds, for `limit` seconds.
wait_for() {
    local last=$((SECONDS + limit))
    until "$@"; do
        ((SECONDS < last)) || { echo "not within $limit s: $*" && return 1; }
        sleep 0.2
    done
}

# All that is in the domain: a first process that says so and waits. To shut down, the domain's
# kernel starts `/sbin/poweroff`, and does nothing where there is none; here it is the same program.
# In assembly, because a compiler for C takes half a minute here.
cat >init.s <<'S'
        .globl _start
_start: mov $39, %eax           # getpid()
        syscall
        cmp $1, %eax
        jne off
        mov $1, %eax            # write(1, text, length)
        mov $1, %edi
        mov $text, %esi
        mov $length, %edx
        syscall
wait:   mov $34, %eax           # pause()
        syscall
        jmp wait
off:    mov $169, %eax          # reboot(LINUX_REBOOT_MAGIC1, MAGIC2, CMD_POWER_OFF)
        mov $0xfee1dead, %edi
        mov $672274793, %esi
        mov $0x4321fedc, %edx
        syscall
text:   .ascii "the domain runs\n"
        .set length, . - text
S
as -o init.o init.s
ld -o init init.o
printf /init >link
{
    entry init 0100755 init
    entry sbin 0040755
    entry sbin/poweroff 0120777 link
    entry 'TRAILER!!!' 0
} >initramfs

cat >"$name.cfg" <<CFG
name = "$name"
type = "pvh"
kernel = "/boot/vmlinuz-$(uname -r)"
ramdisk = "/tmp/initramfs"
cmdline = "console=hvc0 quiet panic=-1"
memory = 128
vcpus = 1
on_poweroff = "destroy"
on_crash = "destroy"
CFG

xl info >"$OUT/info.txt"
grep '^virt_caps  *: pv hvm hap' "$OUT/info.txt"
xl cpupool-list -c >"$OUT/pools.txt"
# Both CPUs are in one pool.
grep '^Pool-0  *0,1' "$OUT/pools.txt"
xl create "$name.cfg"
wait_for grep -qs 'the domain runs' "$console"
cp "$console" "$OUT/domain.txt"
xl list | tee "$OUT/list.txt"

xl vcpu-pin "$name" 0 1
# Name, ID, VCPU, CPU, State, Time, hard / soft affinity.
xl vcpu-list "$name" | tee "$OUT/pinned.txt"
affinity=$(awk -v name="$name" '$1 == name { print $7 }' "$OUT/pinned.txt")
[[ $affinity == 1 ]] || { echo "pinned to CPU 1, and may run on $affinity" && exit 1; }

timeout "$limit" xl shutdown -w "$name"
# `xl create` has left a process that removes the domain, and ends then.
is_gone() {
    ! pgrep --exact xl
}
wait_for is_gone
xl list | tee "$OUT/left.txt"
[[ $(tail -n +2 "$OUT/left.txt" | awk '{ print $1 }') == Domain-0 ]]
[[ $(xenstore-list /local/domain) == 0 ]]
