"""A call of the contract as a value: what goes there, and how the answer is read.

Nothing here waits or sends. Each module of a subject (`sites`, `partitions`, `variables`,
`programs`, `machine`, `audit`) makes such values; `client` and `aio` carry them out, each in
its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from google.protobuf.message import Message

Answer = TypeVar("Answer", bound=Message)
Result = TypeVar("Result")
Item = TypeVar("Item", covariant=True)
Taken = TypeVar("Taken", contravariant=True)
Named = TypeVar("Named", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer, Result]):
    """A call with one answer."""

    path: str
    """Service and method, as in `quietcore.v1.HostService/GetHost`."""
    request: Message
    answer: type[Answer]
    read: Callable[[Answer], Result]
    """Makes the result of the answer."""
    timeout: float | None = None
    """The longest wait in seconds, for a call that may take longer than others."""


@dataclass(frozen=True, slots=True)
class Upload(Generic[Answer, Result]):
    """A call with many requests and one answer."""

    path: str
    request: type[Message]
    requests: Callable[[], Iterator[Message]]
    """Makes the requests, once, in a thread that may wait."""
    answer: type[Answer]
    read: Callable[[Answer], Result]


class Reader(Protocol[Taken, Item]):
    """Reads the messages of a stream in their order, and keeps what the next one depends on."""

    def take(self, message: Taken) -> Item | None:
        """Returns what the message tells; `None` if that comes with a later one."""


@dataclass(frozen=True, slots=True)
class Stream(Generic[Answer, Result]):
    """A call whose answers come one after the other."""

    path: str
    request: Message
    answer: type[Answer]
    reader: Reader[Answer, Result]


def named(kind: type[Named], numbered: Callable[[int], str], number: int, prefix: str) -> Named:
    """Returns the member of `kind` for a value of the contract's enumeration.

    A value that this version does not know is `unknown`, as a later daemon may send one.
    """
    try:
        return kind(numbered(number).removeprefix(prefix).lower().replace("_", " "))
    except ValueError:
        return kind("unknown")
