"""Refusals and failures of calls, as exceptions.

A refusal is worded once, by the site or the daemon: the text of an exception is the sentence that
the command line prints. Its parts are attributes, so that no program reads the sentence back.

| exception | when | gRPC |
|---|---|---|
| `InvalidRequestError` | the request is none, or beyond a limit | `INVALID_ARGUMENT` |
| `NotFoundError` | there is no such site, partition or variable | `NOT_FOUND` |
| `NotPossibleError` | not in the present state of the partition | `FAILED_PRECONDITION` |
| `BusyError` | somebody else is at it; try again | `ABORTED` |
| `LimitError` | too many streams | `RESOURCE_EXHAUSTED` |
| `AccessError` | another user, or a role that may not | `PERMISSION_DENIED`, `UNAUTHENTICATED` |
| `UnavailableError` | the site or the daemon has come down, or can't be reached | `UNAVAILABLE` |
| `TimedOutError` | no answer in time | `DEADLINE_EXCEEDED` |
| `QuietcoreError` | anything else; the base of all of them | |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "quietcore"
"""Domain of the kinds of refusals in the details of a status."""

_DETAILS = "grpc-status-details-bin"


class QuietcoreError(Exception):
    """A call that was not carried out; its text is a sentence for people.

    Attributes:
        kind: the kind of the refusal, such as `"NO_VARIABLE"`; that of the status if the daemon
            gives no other.
        what: the fault, without its place; the whole sentence where it has no parts.
        where: the place, such as the partition; may be empty.
        remedy: what would help; may be empty.
    """

    def __init__(self, text: str, *, kind: str, what: str = "", where: str = "", remedy: str = ""):
        super().__init__(text)
        self.kind = kind
        self.what = what or text
        self.where = where
        self.remedy = remedy


class InvalidRequestError(QuietcoreError):
    """A request that is none, or beyond a limit."""


class NotFoundError(QuietcoreError):
    """No such site, partition or variable; the text names the nearest one."""


class NotPossibleError(QuietcoreError):
    """Nothing that the partition can do in its present state."""


class BusyError(QuietcoreError):
    """Somebody else is at it; try again."""


class LimitError(QuietcoreError):
    """The daemon serves as many as it can; end a stream that is not needed."""


class AccessError(QuietcoreError):
    """The caller may not do that."""


class UnavailableError(QuietcoreError):
    """The site or the daemon has come down, or can't be reached.

    Later calls of the same connection reach the daemon that is started next.
    """


class TimedOutError(QuietcoreError):
    """No answer came in time; whether a change was made is not known."""


class NoEffectWarning(UserWarning):
    """A change that was made and has no effect on its variable, with the reason."""


_CLASSES: dict[grpc.StatusCode, type[QuietcoreError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.FAILED_PRECONDITION: NotPossibleError,
    grpc.StatusCode.ABORTED: BusyError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: LimitError,
    grpc.StatusCode.PERMISSION_DENIED: AccessError,
    grpc.StatusCode.UNAUTHENTICATED: AccessError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: TimedOutError,
}


class FailedCall(Protocol):
    """A call of `grpc` or `grpc.aio` that has failed."""

    def code(self) -> grpc.StatusCode:
        """Returns the code of its status."""

    def details(self) -> str | None:
        """Returns the text of its status."""

    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None:
        """Returns what came after the answers."""


def of_call(failed: FailedCall, daemon: str) -> QuietcoreError:
    """Makes the exception of a failed call to the daemon at `daemon`."""
    code = failed.code()
    text = failed.details() or code.name
    # `dict` would take what `grpc.aio` gives for a mapping, and fail.
    metadata = dict(iter(failed.trailing_metadata() or ()))
    made = _CLASSES.get(code, QuietcoreError)
    info = _error_info(metadata.get(_DETAILS))
    if info is not None:
        part = info.metadata
        return made(
            text,
            kind=info.reason,
            what=part.get("what", ""),
            where=part.get("where", ""),
            remedy=part.get("remedy", ""),
        )
    if code is grpc.StatusCode.UNAVAILABLE and not metadata:
        # The words of the transport, which name no daemon: nobody has answered.
        what = f"no daemon answers at {daemon} ({text})"
        remedy = "start `quietcored` there"
        return made(f"{what}; {remedy}", kind=code.name, what=what, where=daemon, remedy=remedy)
    if code is grpc.StatusCode.UNIMPLEMENTED:
        text = f"the daemon at {daemon} does not know this call; it is older than this client"
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        text = f"{daemon} has not answered in time"
    return made(text, kind=code.name)


def _error_info(details: str | bytes | None) -> error_details_pb2.ErrorInfo | None:
    if not isinstance(details, bytes):
        return None
    try:
        status = status_pb2.Status.FromString(details)
    except DecodeError:
        return None
    for detail in status.details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info) and info.domain == DOMAIN:
            return info
    return None
