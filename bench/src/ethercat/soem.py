"""Runs EtherCAT cycles with SOEM when it is told to.

Usage: python -c ... INTERFACE CPU

Brings the segment to OP and prints `ready`. For each line with a number on standard input it runs
so many cycles and prints their round trips in ns on one line; a cycle without an answer has none.
"""

import os
import sys
import time

import pysoem

TIMEOUT_US = 100_000


def to_op(main_device):
    """Brings all SubDevices to OP, with process data running."""
    end = time.monotonic() + 10
    while main_device.config_init() <= 0:
        if time.monotonic() > end:
            raise SystemExit("no SubDevices found")
    main_device.config_map()
    main_device.config_dc()
    if main_device.state_check(pysoem.SAFEOP_STATE, 2_000_000) != pysoem.SAFEOP_STATE:
        raise SystemExit("not all are in SAFE-OP")
    main_device.send_processdata()
    main_device.receive_processdata(TIMEOUT_US)
    main_device.state = pysoem.OP_STATE
    main_device.write_state()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        main_device.send_processdata()
        main_device.receive_processdata(TIMEOUT_US)
        if main_device.state_check(pysoem.OP_STATE, 10_000) == pysoem.OP_STATE:
            return
    raise SystemExit("not all are in OP")


def block(main_device, cycles):
    """The round trips of so many cycles."""
    send, receive = main_device.send_processdata, main_device.receive_processdata
    now = time.perf_counter_ns
    trips = []
    for _ in range(cycles):
        begin = now()
        send()
        working_counter = receive(TIMEOUT_US)
        end = now()
        if working_counter > 0:
            trips.append(end - begin)
    return trips


def main(interface, cpu):
    """Runs all of it."""
    os.sched_setaffinity(0, [int(cpu)])
    main_device = pysoem.Master()
    main_device.open(interface)
    try:
        to_op(main_device)
        print("ready", flush=True)
        for line in sys.stdin:
            print(*block(main_device, int(line)), flush=True)
    finally:
        main_device.close()


main(*sys.argv[1:])
