"""Sites: those that run, site files that are checked, and events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from quietcore.calls import Call, Stream, named
from quietcore.display import Listing
from quietcore.v1 import site_pb2 as pb

_SERVICE = "quietcore.v1.SiteService"


@dataclass(frozen=True, slots=True)
class RunningSite:
    """A site that runs, whichever process started it."""

    name: str
    site_file: str
    """The absolute path of its site file; empty if its supervisor is of another version."""
    pid: int | None
    """Process number of its supervisor; `None` if that is of another version."""
    started_by: str
    """The user who started it and where, as in `"anna in terminal pts/3"`."""
    partitions: tuple[str, ...]
    """Names of its partitions, in the order of the site file."""

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(self.partitions)}"


class RunningSites(Listing[RunningSite]):
    """The sites that run, by name."""

    _columns = (
        ("site", lambda it: it.name),
        ("partitions", lambda it: ", ".join(it.partitions)),
        ("started by", lambda it: it.started_by),
        ("site file", lambda it: it.site_file),
    )

    def _caption(self) -> str:
        return "Sites that run" if self else "No site runs"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a site file. `str()` gives it as one line."""

    line: int | None
    """From 1; `None` if the problem has no place."""
    column: int | None
    key: str
    """The key, such as `"partition.vcr.cpus"`; may be empty."""
    problem: str
    remedy: str

    def __str__(self) -> str:
        place = "" if self.line is None else f"{self.line}: "
        key = f"`{self.key}`: " if self.key else ""
        return f"{place}{key}{self.problem}" + (f"; {self.remedy}" if self.remedy else "")


class CheckedSite(Listing[Problem]):
    """The problems of a site file, in its order; none if it is valid.

    Attributes:
        site: name of the site; empty while there are problems.
        left_out: number of problems beyond those that are listed.
    """

    _columns = (
        ("line", lambda it: "" if it.line is None else it.line),
        ("key", lambda it: it.key),
        ("problem", lambda it: it.problem),
        ("remedy", lambda it: it.remedy),
    )

    def __init__(self, problems: tuple[Problem, ...] = (), site: str = "", left_out: int = 0):
        super().__init__(problems)
        self.site = site
        self.left_out = left_out

    @property
    def is_valid(self) -> bool:
        """True if the site file has no problem."""
        return not self

    def _caption(self) -> str:
        if self.is_valid:
            return f"✓ {self.site} is valid"
        more = f", and {self.left_out} more" if self.left_out else ""
        return f"✗ {len(self)} problem{'s' if len(self) > 1 else ''}{more}"


class Severity(StrEnum):
    """The weight of an event."""

    INFORMATION = "information"
    WARNING = "warning"
    FAULT = "fault"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a partition. `str()` gives it as one line."""

    sequence: int
    """Its number in the life of the site, from 0; where there is a gap, some are forgotten."""
    at: datetime
    """When, in UTC."""
    partition: str
    cycle: int | None
    """The cycle in which it happened, where it is known."""
    kind: str
    """Its kind, such as `"overrun"`."""
    severity: Severity
    text: str
    by: str
    """Who asked for it; empty where nobody has."""

    def __str__(self) -> str:
        by = f", by {self.by}" if self.by else ""
        return f"{self.at:%H:%M:%S.%f} {self.partition}: {self.text}{by}"


def list_sites() -> Call[pb.ListSitesResponse, RunningSites]:
    """Lists the sites that run."""
    return Call(
        f"{_SERVICE}/ListSites",
        pb.ListSitesRequest(),
        pb.ListSitesResponse,
        lambda answer: RunningSites(map(_running, answer.sites)),
    )


def validate(toml: str) -> Call[pb.ValidateSiteResponse, CheckedSite]:
    """Checks the text of a site file."""
    return Call(
        f"{_SERVICE}/ValidateSite",
        pb.ValidateSiteRequest(toml=toml),
        pb.ValidateSiteResponse,
        lambda answer: CheckedSite(
            tuple(map(_problem, answer.problems)), answer.site, answer.left_out
        ),
    )


def watch_events(
    site: str, partition: str | None, since: int
) -> Stream[pb.WatchEventsResponse, Event]:
    """Follows the events of a site, or of one of its partitions."""
    request = pb.WatchEventsRequest(site=site, since=since)
    reader = EventReader(partition)
    return Stream(f"{_SERVICE}/WatchEvents", request, pb.WatchEventsResponse, reader)


class EventReader:
    """Reads events, of one partition if it is named."""

    def __init__(self, partition: str | None = None):
        self._partition = partition

    def take(self, message: pb.WatchEventsResponse) -> Event | None:
        """Returns the event; `None` if it is of another partition."""
        event = message.event
        if self._partition is not None and event.partition != self._partition:
            return None
        return Event(
            sequence=event.sequence,
            at=datetime.fromisoformat(event.at),
            partition=event.partition,
            cycle=event.cycle if event.HasField("cycle") else None,
            kind=event.kind,
            severity=named(Severity, pb.Severity.Name, event.severity, "SEVERITY_"),
            text=event.text,
            by=event.by,
        )


def _running(site: pb.RunningSite) -> RunningSite:
    return RunningSite(
        site.name, site.site_file, site.pid or None, site.started_by, tuple(site.partitions)
    )


def _problem(problem: pb.Problem) -> Problem:
    return Problem(
        problem.line or None,
        problem.column or None,
        problem.key,
        problem.problem,
        problem.remedy,
    )
