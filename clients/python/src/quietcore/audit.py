"""The audit trail: who has changed what."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from quietcore.calls import Call, named
from quietcore.display import Listing
from quietcore.v1 import audit_pb2 as pb

_SERVICE = "quietcore.v1.AuditService"

PAGE_SIZE = 1000
"""Entries that one call looks at."""

ENTRIES = 1000
"""Entries that are read where nothing is said."""


class AuditKind(StrEnum):
    """The kind of an entry."""

    BEGAN = "began"
    """The trail begins; it is the first, or another one was damaged and set aside."""
    INTENDED = "intended"
    """Somebody is about to change something."""
    DONE = "done"
    """The change was made."""
    REFUSED = "refused"
    """The change was refused, or has failed."""
    PRUNED = "pruned"
    """Entries at the beginning were removed, because they had been kept long enough."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AuditAuthor:
    """The author of a change."""

    user: str
    program: str
    """The client's program in its own words."""
    via: str
    """The way by which it came in, such as `"socket"`."""
    certificate: str
    """Name in the certificate or token that it has shown; empty if it has shown none."""
    role: str
    """The role that it acted in; empty where there are none."""

    def __str__(self) -> str:
        return self.certificate or self.user


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the audit trail."""

    number: int
    at: datetime
    kind: AuditKind
    of: int | None
    """Number of the intention whose outcome it is; `None` for other kinds.

    An intention without an outcome belongs to a call that is under way, or to one during which the
    daemon was killed.
    """
    who: AuditAuthor
    call: str
    """The call, such as `"VariableService/WriteVariables"`; empty for the trail's own."""
    site: str
    partition: str
    what: Any
    """Of an intention what was asked for, of an outcome the answer, with old and new values."""
    refusal_kind: str
    """The kind of a refusal, such as `"NO_VARIABLE"`; empty if it is none."""
    refusal: str
    """The sentence that the client was told."""
    text: str
    """The canonical form of the entry, which begins with the hash of the one before."""
    hash: str
    """SHA-256 of `text` in hexadecimal digits."""

    def __str__(self) -> str:
        told = self.refusal or json.dumps(self.what, ensure_ascii=False)
        place = f" {self.partition}" if self.partition else ""
        return f"{self.number} {self.at:%Y-%m-%d %H:%M:%S} {self.kind}, {self.who}:{place} {told}"


class AuditTrail(Listing[AuditEntry]):
    """A part of the audit trail, the oldest entry first.

    Attributes:
        next: the number with which the next part begins.
        at_end: true if there are no more for now.
    """

    _columns = (
        ("", lambda it: it.number),
        ("when", lambda it: f"{it.at:%Y-%m-%d %H:%M:%S}"),
        ("kind", lambda it: it.kind),
        ("who", lambda it: it.who),
        ("call", lambda it: it.call.partition("/")[2]),
        ("partition", lambda it: it.partition),
        ("what", lambda it: it.refusal or json.dumps(it.what, ensure_ascii=False)),
    )

    def __init__(
        self, entries: Iterable[AuditEntry] = (), next_number: int = 0, *, at_end: bool = True
    ):
        super().__init__(entries)
        self.next = next_number
        self.at_end = at_end

    def _caption(self) -> str:
        return "Audit trail" if self.at_end else f"Audit trail up to entry {self.next - 1}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The entries that are wanted; empty names mean all."""

    site: str
    partition: str
    who: str


def list_entries(since: int, wanted: Wanted) -> Call[pb.ListEntriesResponse, AuditTrail]:
    """Lists a page of the trail."""
    request = pb.ListEntriesRequest(
        since=since,
        page_size=PAGE_SIZE,
        site=wanted.site,
        partition=wanted.partition,
        who=wanted.who,
    )
    return Call(
        f"{_SERVICE}/ListEntries",
        request,
        pb.ListEntriesResponse,
        lambda answer: AuditTrail(map(_entry, answer.entries), answer.next, at_end=answer.at_end),
    )


class Collected:
    """Pages of the trail, until there are enough entries or no more."""

    def __init__(self, since: int, wanted: Wanted, limit: int):
        self._wanted = wanted
        self._limit = limit
        self._entries: list[AuditEntry] = []
        self._page = AuditTrail((), since, at_end=False)

    def next_call(self) -> Call[pb.ListEntriesResponse, AuditTrail] | None:
        """Returns the call for the next page; `None` if none is needed."""
        if self._page.at_end or len(self._entries) >= self._limit:
            return None
        return list_entries(self._page.next, self._wanted)

    def add(self, page: AuditTrail) -> None:
        """Adds a page."""
        self._entries.extend(page)
        self._page = page

    def trail(self) -> AuditTrail:
        """Returns the entries."""
        kept, more = self._entries[: self._limit], self._entries[self._limit :]
        if more:
            return AuditTrail(kept, more[0].number, at_end=False)
        return AuditTrail(kept, self._page.next, at_end=self._page.at_end)


def _entry(it: pb.AuditEntry) -> AuditEntry:
    return AuditEntry(
        number=it.number,
        at=datetime.fromisoformat(it.at),
        kind=named(AuditKind, pb.AuditKind.Name, it.kind, "AUDIT_KIND_"),
        of=it.of or None,
        who=AuditAuthor(it.who.user, it.who.program, it.who.via, it.who.certificate, it.who.role),
        call=it.call,
        site=it.site,
        partition=it.partition,
        what=_json(it.what),
        refusal_kind=it.refusal.kind,
        refusal=it.refusal.sentence,
        text=it.text,
        hash=it.hash,
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
