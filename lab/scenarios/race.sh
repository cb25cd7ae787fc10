#!/bin/bash
# two processes count in one file without a lock, which goes wrong now and then
# kinds: stock rt
set -euo pipefail
cd /tmp

# A failure that depends on when the two take turns: each run has its own clock and random numbers,
# and a replay has those of its record.
date +'it is %F %T.%N'
cat /proc/sys/kernel/random/uuid

readonly rounds=4
echo 0 >counter
count() {
    local number
    for ((round = 1; round <= rounds; round++)); do
        read -r number <counter
        echo $((number + 1)) >counter
    done
}
count &
count &
wait
counted=$(<counter)
echo "counted $counted of $((2 * rounds))" | tee "$OUT/counted.txt"
((counted == 2 * rounds))
