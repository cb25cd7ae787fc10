"""The daemon that a connection leads to: its address, and how both sides prove who they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import grpc

SOCKET = Path("@daemon", "socket")
"""The daemon's socket, in the folder of running sites."""

# A daemon that comes back is found soon, by a client that has just missed it, too. The smallest
# backoff is left as it is: gRPC takes it for the time in which a daemon has to answer (20 s).
_RECONNECT = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
)


@dataclass(frozen=True, slots=True)
class Target:
    """The address of a daemon, with credentials and options for a channel to it."""

    name: str
    """The address for people."""
    address: str
    """The address for `grpc`."""
    credentials: grpc.ChannelCredentials | None = field(repr=False)
    """`None` for the local socket, where the kernel names the caller."""
    options: tuple[tuple[str, str | int], ...]


def choose(
    address: str | None = None,
    *,
    access: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    authority: str | os.PathLike[str] | None = None,
    token: str | None = None,
    environment: Mapping[str, str] = os.environ,
    user: int | None = None,
) -> Target:
    """Finds the daemon that the arguments of `connect` mean, and reads its files.

    Raises:
        ValueError: if the arguments do not go together.
        OSError: if a file can't be read.
    """
    if access is not None:
        if certificate is not None or key is not None:
            raise ValueError("access: the folder has certificate and key; give no others")
        certificate, key = Path(access, "certificate.pem"), Path(access, "key.pem")
        authority = authority or Path(access, "authority.pem")
    given = {"certificate": certificate, "key": key, "authority": authority, "token": token}
    if address is None or address.startswith("unix:"):
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name}: the local socket needs none; name the machine, too")
        local = local_socket(environment, user) if address is None else Path(address[5:])
        # The socket's path is no authority by the rules of HTTP/2, and grpc would send it.
        authority_option = (("grpc.default_authority", "localhost"),)
        return Target(str(local), f"unix:{local}", None, (*_options(), *authority_option))
    if (certificate is None) != (key is None):
        raise ValueError("certificate and key: give both or none of them")
    if certificate is None and token is None:
        raise ValueError(f"{address}: say who calls, by `access`, `certificate` or `token`")
    if ":" not in address.rpartition("]")[2]:
        raise ValueError(f"{address}: name the port, too, as in `{address}:PORT`")
    credentials = grpc.ssl_channel_credentials(
        root_certificates=_bytes(authority),
        private_key=_bytes(key),
        certificate_chain=_bytes(certificate),
    )
    if token is not None:
        bearer = grpc.access_token_call_credentials(token)
        credentials = grpc.composite_channel_credentials(credentials, bearer)
    return Target(address, address, credentials, _options())


def local_socket(environment: Mapping[str, str], user: int | None = None) -> Path:
    """Returns the path of the socket of this user's daemon, whether it runs or not.

    Raises:
        ValueError: if `QUIETCORE_RUN_DIR` is no absolute path.
    """
    user = os.geteuid() if user is None else user
    own = environment.get("QUIETCORE_RUN_DIR")
    if own is not None:
        if not Path(own).is_absolute():
            raise ValueError(f"`QUIETCORE_RUN_DIR` is `{own}`; make it an absolute path")
        return Path(own) / SOCKET
    if user == 0:
        return Path("/run/quietcore") / SOCKET
    # By the XDG base directory specification relative paths are ignored.
    runtime = Path(environment.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        return runtime / "quietcore" / SOCKET
    return Path(f"/tmp/quietcore-{user}") / SOCKET


def package_version() -> str:
    """Returns the version of this package, `"0"` where it runs without having been installed."""
    try:
        return version("quietcore")
    except PackageNotFoundError:
        return "0"


def _options() -> tuple[tuple[str, str | int], ...]:
    # Sites show it in their events as the program that has asked.
    return (("grpc.primary_user_agent", f"quietcore-python/{package_version()}"), *_RECONNECT)


def _bytes(path: str | os.PathLike[str] | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
