"""Sends generated code to a machine, builds it there, and deploys it to a partition that runs.

A code generator calls it after it has written its files, as its post-build hook:

    python -m quietcore.deploy --partition axis ./servo_ert_rtw

Exit status: 0 the program runs, 1 it does not build or was taken back, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from quietcore.command import add_connection, connect_as, fail
from quietcore.errors import QuietcoreError
from quietcore.programs import BuildError


def main(arguments: Sequence[str] | None = None) -> int:
    """Carries out what the arguments ask for and returns the exit status."""
    asked = _parser().parse_args(arguments)
    try:
        with connect_as(asked) as host:
            partition = host.partition(asked.partition, site=asked.site)
            version = host.upload(asked.folder, program=asked.program)
            _say(f"{version} is sent")
            partition.build(version.program, version=version.number, say=_say)
            deployed = partition.deploy(
                version.program, version=version.number, wait=not asked.no_wait
            )
    except BuildError as error:
        return fail(error, 1)
    except (QuietcoreError, OSError, ValueError) as error:
        return fail(error, 2)
    print(f"{asked.partition}: {deployed}")
    for variable, why in (*deployed.not_carried.items(), *deployed.not_forced.items()):
        _say(f"{variable}: {why}")
    return 0 if deployed.is_running else 1


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m quietcore.deploy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", help="the folder of generated code, or an archive of it")
    parser.add_argument("--partition", required=True, help="the partition that shall run it")
    parser.add_argument(
        "--program", help="name of the program; the folder's, without `_ert_rtw`, if left out"
    )
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="return at its first cycle, within its probation",
    )
    add_connection(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
