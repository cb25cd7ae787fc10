"""A small command line on the client: states, values, and values as they change."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from quietcore.client import Host
from quietcore.command import add_connection, connect_as, fail
from quietcore.errors import QuietcoreError
from quietcore.target import package_version
from quietcore.values import shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Carries out a command and returns its exit status."""
    asked = _parser().parse_args(arguments)
    try:
        with connect_as(asked) as host:
            _COMMANDS[asked.command](host, asked)
    except (QuietcoreError, OSError, ValueError) as error:
        return fail(error, 2)
    except KeyboardInterrupt:
        pass
    return 0


def _ps(host: Host, asked: argparse.Namespace) -> None:
    names = [asked.site] if asked.site else [it.name for it in host.sites()]
    for name in names:
        for partition in host.site(name).partitions():
            print(f"{name} {partition}")


def _read(host: Host, asked: argparse.Namespace) -> None:
    print(host.partition(asked.partition, site=asked.site).read(*asked.pattern))


def _watch(host: Host, asked: argparse.Namespace) -> None:
    partition = host.partition(asked.partition, site=asked.site)
    interval, seconds = asked.interval, asked.seconds
    for sample in partition.watch(*asked.pattern, interval=interval, seconds=seconds):
        changed = ", ".join(f"{path} = {shown(sample[path])}" for path in sample.changed)
        lost = f" ({sample.left_out} samples left out before)" if sample.left_out else ""
        print(f"{sample.cycle}: {changed}{lost}", flush=True)


_COMMANDS = {"ps": _ps, "read": _read, "watch": _watch}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m quietcore", description=__doc__)
    parser.add_argument("--version", action="version", version=package_version())
    add_connection(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("ps", help="the partitions that run")
    read = commands.add_parser("read", help="variables of one instant")
    watch = commands.add_parser("watch", help="variables as they change, until Ctrl-C")
    watch.add_argument("--interval", type=float, default=0.1, metavar="SECONDS")
    watch.add_argument("--seconds", type=float, metavar="SECONDS", help="when to end")
    for command in (read, watch):
        command.add_argument("partition")
        command.add_argument("pattern", nargs="+", help="a path, or a pattern such as servo_P.*")
    return parser


if __name__ == "__main__":
    sys.exit(main())
