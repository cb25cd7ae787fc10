#!/bin/bash
# sites as services of systemd, as exported: odd paths, a program given up, CPUs that are not allowed
# kinds: kvm
set -euo pipefail

# Mounts of its own: `/run` becomes systemd's, and the machine's results are in there.
[[ -n ${apart-} ]] || exec env apart=1 unshare --mount bash "$0"
mkdir /tmp/results
mount --bind "$OUT" /tmp/results
OUT=/tmp/results

# Seconds that each step may take.
readonly limit=120
readonly quietcore=$PWD/target/debug/quietcore
[[ -x $quietcore ]] || { echo 'first: cargo build -p quietcore-cli' && exit 1; }

# Runs a command again and again until it succeeds, for `limit` seconds.
wait_for() {
    local last=$((SECONDS + limit))
    until "$@"; do
        ((SECONDS < last)) || { echo "not within $limit s: $*" && dmesg | tail -n 20 && return 1; }
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

# Writes a site file with a model of one C file, whose step is the second argument.
site() {
    mkdir -p "$1/model"
    printf 'void model_initialize(void) {}\nvoid model_step(void) { %s }\n' "$2" >"$1/model/model.c"
    printf 'void model_initialize(void);\nvoid model_step(void);\n' >"$1/model/model.h"
    cat >"$1/site.toml" <<SITE
[site]
name = "$3"
[host]
housekeeping = [0]
[[partition]]
name = "axis"
class = "process-control"
[partition.vcr]
cpus = [1]
[partition.program]
model = "model"
period = "100 ms"
[partition.program.restart]
limit = 1
wait = "100 ms"
SITE
}

# A name with all that systemd gives a meaning to: words, specifiers, variables, quotes, escapes.
readonly odd=$'/tmp/a b %h $HOME "c" \'d\' \\e'
site "$odd" '' odd
site /tmp/crash '*(volatile int *)0 = 1;' crash

# Of systemd's own units only these are there, so that it starts nothing of this machine.
for folder in /lib/systemd/system /lib/systemd/system-generators /etc/systemd/system; do
    mount -t tmpfs none "$folder"
done
for target in sysinit basic network shutdown multi-user umount; do
    printf '[Unit]\nDefaultDependencies=no\n' >"/etc/systemd/system/$target.target"
done
mkdir /etc/systemd/system/service.d
printf '[Service]\nStandardOutput=append:%s/services.txt\nStandardError=inherit\n' "$OUT" \
    >/etc/systemd/system/service.d/output.conf
mount -t tmpfs none /var/lib
"$quietcore" export systemd "$odd/site.toml" --out /etc/systemd/system
"$quietcore" export systemd /tmp/crash/site.toml --out /etc/systemd/system
for unit in odd crash; do
    cp "/etc/systemd/system/quietcore-$unit.service" "$OUT"
    systemd-analyze verify "/etc/systemd/system/quietcore-$unit.service" 2>"$OUT/$unit.verify"
    [[ ! -s $OUT/$unit.verify ]] || { cat "$OUT/$unit.verify" && exit 1; }
done

# The first process of a container, which is told so.
mkdir /sys/fs/cgroup/services
mount -t tmpfs none /run
(
    echo $BASHPID >/sys/fs/cgroup/services/cgroup.procs
    container=lab exec unshare --pid --fork --cgroup --mount-proc /lib/systemd/systemd \
        --system --unit=multi-user.target --log-target=kmsg
) &
readonly outside=$!
# Runs a command among the processes of systemd, which answers only those that it sees.
inside() {
    nsenter --target "$(pgrep --parent "$outside")" --mount --pid "$@"
}
answers() {
    inside systemctl show --property=SystemState >"$OUT/system.txt" 2>&1
}
wait_for answers
cat "$OUT/system.txt"
systemctl --version | head -n 1

# The odd path reaches `quietcore up` as it is.
inside systemctl start quietcore-odd
runs() {
    inside "$quietcore" ps | grep -q ' running '
}
wait_for runs
inside "$quietcore" ps
arguments=$(tr '\0' '|' <"/proc/$(pgrep --full --oldest 'up --until-stopped')/cmdline")
[[ $arguments == *"|up|--until-stopped|$odd/site.toml|" ]] || { echo "$arguments" && exit 1; }
inside systemctl stop quietcore-odd
expect 'inactive' inside systemctl show quietcore-odd --property=ActiveState
expect 'Result=success' inside systemctl show quietcore-odd --property=Result

# A program that is given up ends the service, which is started again as often as its unit says.
inside systemctl start quietcore-crash
is_given_up() {
    [[ $(inside systemctl show quietcore-crash --property=ActiveState) == *failed ]]
}
wait_for is_given_up
expect 'NRestarts=5' inside systemctl show quietcore-crash --property=NRestarts
expect 'ExecMainStatus=1' inside systemctl show quietcore-crash --property=ExecMainStatus

# A service that may not use the partition's CPU is refused, and says so.
mkdir /etc/systemd/system/quietcore-odd.service.d
printf '[Service]\nAllowedCPUs=0\nRestart=no\n' >/etc/systemd/system/quietcore-odd.service.d/cpus.conf
inside systemctl daemon-reload
inside systemctl start quietcore-odd || true
is_refused() {
    [[ $(inside systemctl show quietcore-odd --property=ActiveState) == *failed ]]
}
wait_for is_refused
expect 'ExecMainStatus=2' inside systemctl show quietcore-odd --property=ExecMainStatus
grep 'may use CPU 0 only, and not CPU 1' "$OUT/services.txt"
