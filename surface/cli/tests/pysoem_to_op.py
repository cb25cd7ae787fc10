"""Brings a segment to OP with SOEM and checks its process data.

Usage: pysoem_to_op.py INTERFACE [idle]

SOEM is an EtherCAT main device that shares no code with this project. The segment must be the one
that `quietcore segment` simulates without a file: one SubDevice of each kind; or, with `idle`, the
same SubDevices made from their ESI file, which do nothing. Prints `passed` at the end; everything
else is a failure.
"""

import struct
import sys
import time

import pysoem

EXPECTED = [
    "QC-COUPLER",
    "QC-DI8",
    "QC-DO8",
    "QC-AI4",
    "QC-AO4",
    "QC-SERVO",
]
CYCLES = 500
TIMEOUT_US = 100_000


def exchange(main_device):
    """One cycle; returns the working counter."""
    main_device.send_processdata()
    return main_device.receive_processdata(TIMEOUT_US)


def to_op(main_device):
    """Brings all SubDevices to OP, with process data running."""
    main_device.config_map()
    main_device.config_dc()
    if main_device.state_check(pysoem.SAFEOP_STATE, 2_000_000) != pysoem.SAFEOP_STATE:
        raise SystemExit("not all are in SAFE-OP: " + states(main_device))
    exchange(main_device)
    main_device.state = pysoem.OP_STATE
    main_device.write_state()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        exchange(main_device)
        if main_device.state_check(pysoem.OP_STATE, 10_000) == pysoem.OP_STATE:
            return
    raise SystemExit("not all are in OP: " + states(main_device))


def states(main_device):
    """AL states and codes, for messages."""
    main_device.read_state()
    return ", ".join(f"{one.name} {one.state:#x} {one.al_status:#06x}" for one in main_device.slaves)


def drive_status(drive):
    """The CiA 402 statusword, which is the first of the drive's inputs."""
    return struct.unpack_from("<H", drive.input)[0]


def command_drive(main_device, drive, control, mask, expected):
    """Writes the controlword until the statusword is as expected."""
    for _ in range(CYCLES):
        drive.output = struct.pack("<H", control) + drive.output[2:]
        exchange(main_device)
        if drive_status(drive) & mask == expected:
            return
    raise SystemExit(f"controlword {control:#06x}: statusword {drive_status(drive):#06x}")


def check_process_data(main_device, is_idle):
    """Working counters over many cycles, and a drive that is switched on unless it is idle."""
    outputs, drive = main_device.slaves[2], main_device.slaves[5]
    outputs.output = bytes([0xA5])
    # Inputs of three SubDevices count 1, outputs of three count 2.
    found = {exchange(main_device) for _ in range(CYCLES)}
    if found != {main_device.expected_wkc} or main_device.expected_wkc != 9:
        raise SystemExit(f"working counters {found}, expected {main_device.expected_wkc}")
    if is_idle:
        return
    command_drive(main_device, drive, 0x0006, 0x006F, 0x0021)
    command_drive(main_device, drive, 0x0007, 0x006F, 0x0023)
    command_drive(main_device, drive, 0x000F, 0x006F, 0x0027)


def check_mailbox(main_device):
    """Names and identities through SDOs: expedited and normal uploads."""
    drive = main_device.slaves[5]
    product = struct.unpack("<I", drive.sdo_read(0x1018, 2))[0]
    if product != drive.id:
        raise SystemExit(f"product {product:#x} in the dictionary, {drive.id:#x} in the SII")
    if not drive.sdo_read(0x1008, 0):
        raise SystemExit("the drive has no name")


def main(interface, is_idle):
    """Runs all of it."""
    main_device = pysoem.Master()
    main_device.open(interface)
    try:
        end = time.monotonic() + 10
        while main_device.config_init() != len(EXPECTED):
            if time.monotonic() > end:
                raise SystemExit(f"{len(main_device.slaves)} SubDevices found")
        found = [one.name for one in main_device.slaves]
        print("found", *found)
        to_op(main_device)
        check_process_data(main_device, is_idle)
        check_mailbox(main_device)
        main_device.state = pysoem.INIT_STATE
        main_device.write_state()
    finally:
        main_device.close()
    print("passed")


main(sys.argv[1], sys.argv[2:] == ["idle"])
