"""What the commands of this package have in common: where they connect to, and how they fail."""

from __future__ import annotations

import argparse
import sys

from quietcore.client import Host, connect


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that say which daemon is meant, and who calls."""
    parser.add_argument("--at", metavar="HOST:PORT", help="another machine; this one if left out")
    parser.add_argument("--access", metavar="DIR", help="what `quietcore auth issue` has made")
    for name in ("certificate", "key", "authority"):
        parser.add_argument(f"--{name}", metavar="FILE", help="see `quietcore.connect`")
    parser.add_argument("--token", help="a token in place of a certificate")
    parser.add_argument("--site", default="", help="the site, if several run")


def connect_as(asked: argparse.Namespace) -> Host:
    """Connects as the arguments say."""
    return connect(
        asked.at,
        access=asked.access,
        certificate=asked.certificate,
        key=asked.key,
        authority=asked.authority,
        token=asked.token,
    )


def fail(error: Exception, status: int) -> int:
    """Tells people of an error, and returns the exit status."""
    print(f"quietcore: {error}", file=sys.stderr)
    return status
