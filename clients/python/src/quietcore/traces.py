"""Traces: variables cycle by cycle around a trigger, which go on without their client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from quietcore.calls import Call, Stream, named
from quietcore.display import Listing, count
from quietcore.errors import TimedOutError
from quietcore.v1 import trace_pb2 as pb
from quietcore.values import Address, Enumerated, Value

_SERVICE = "quietcore.v1.TraceService"


class TraceState(StrEnum):
    """The state of a trace."""

    ARMED = "armed"
    """It waits for its first trigger."""
    TRIGGERED = "triggered"
    """A window has begun, and others may follow."""
    COMPLETE = "complete"
    """It has all rows."""
    ENDED = "ended"
    """It has ended before that; `why` says the reason."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TraceVariable:
    """A variable of a trace."""

    path: str
    type: str
    names: Mapping[int, str]
    """The names of an enumeration's values; empty for any other type."""

    def __str__(self) -> str:
        return f"{self.path}: {self.type}"


@dataclass(frozen=True, slots=True)
class TraceWindow:
    """The rows of a trace around one trigger."""

    first_row: int
    """Number of its first row, from 0."""
    before: int
    """Rows from before the trigger; the one after them is the trigger's."""
    trigger_cycle: int

    @property
    def trigger_row(self) -> int:
        """Number of the trigger's row."""
        return self.first_row + self.before


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """A trace with its progress, as it was at one instant."""

    number: int
    site: str
    partition: str
    task: str
    variables: tuple[TraceVariable, ...]
    every: int
    """Cycles from one sample to the next."""
    trigger: str
    before: int
    after: int
    windows: int
    """The number of windows that were asked for."""
    state: TraceState
    why: str
    """The reason for its end, where it has ended before it was complete."""
    begun: tuple[TraceWindow, ...]
    """The windows that have begun; none in a list of traces."""
    rows: int
    lost: int
    """The number of samples that were overwritten before they were read."""
    started_by: str
    started_at: datetime
    utc_offset_ns: int
    """To be added to the time of a row for nanoseconds since 1970, UTC."""
    sample_period_ns: int
    """Time between two samples; zero for a task without a period."""
    not_kept: str
    """The reason why it ends with the daemon though it has ended; else empty."""

    @property
    def is_over(self) -> bool:
        """True if no row comes any more."""
        return self.state in (TraceState.COMPLETE, TraceState.ENDED)

    def __str__(self) -> str:
        of = f"trace {self.number} of {self.site}/{self.partition}"
        return f"{of}: {self.state}, {count(self.rows)} rows" + (
            f", {self.why}" if self.why else ""
        )


class Traces(Listing[TraceInfo]):
    """The traces that run and those that are kept, the oldest first."""

    _columns = (
        ("trace", lambda it: it.number),
        ("site", lambda it: it.site),
        ("partition", lambda it: it.partition),
        ("trigger", lambda it: it.trigger),
        ("state", lambda it: it.state),
        ("rows", lambda it: count(it.rows)),
        ("started", lambda it: f"{it.started_at:%Y-%m-%d %H:%M}"),
        ("by", lambda it: it.started_by),
    )


@dataclass(frozen=True, slots=True)
class TraceRows:
    """The rows of a trace, column by column, with the trace as it was when they were fetched."""

    info: TraceInfo
    cycles: tuple[int, ...]
    times_ns: tuple[int, ...]
    """The instant of each row, in nanoseconds since 1970, UTC."""
    values: Mapping[str, tuple[Value, ...]]
    """The values of each variable, by path."""
    gaps: Mapping[int, int]
    """The number of samples that were lost right before a row, by its number."""

    def __len__(self) -> int:
        return len(self.cycles)

    def __getitem__(self, path: str) -> tuple[Value, ...]:
        return self.values[path]


class RowsReader:
    """Reads the messages of a trace that is fetched, and joins its rows."""

    def __init__(self) -> None:
        self._info: TraceInfo | None = None
        self._cycles: list[int] = []
        self._times: list[int] = []
        self._columns: list[list[Value]] = []
        self._gaps: dict[int, int] = {}

    def take(self, message: pb.FetchTraceResponse) -> int:
        """Returns the number of rows that have come so far."""
        if message.WhichOneof("content") == "trace":
            self._info = _trace(message.trace)
            self._columns = [[] for _ in self._info.variables]
            return 0
        rows = message.rows
        self._cycles.extend(rows.cycles)
        self._times.extend(rows.times_ns)
        self._gaps.update((gap.row, gap.lost) for gap in rows.gaps)
        assert self._info is not None, "the trace comes first"
        for variable, column, part in zip(
            self._info.variables, self._columns, rows.columns, strict=True
        ):
            column.extend(_values(variable, part))
        return len(self._cycles)

    def rows(self) -> TraceRows:
        """Returns all rows, after the last message."""
        assert self._info is not None, "the trace comes first"
        paths = (variable.path for variable in self._info.variables)
        offset = self._info.utc_offset_ns
        return TraceRows(
            self._info,
            tuple(self._cycles),
            tuple(time + offset for time in self._times),
            dict(zip(paths, map(tuple, self._columns), strict=True)),
            self._gaps,
        )


def _values(variable: TraceVariable, part: pb.TraceValues) -> Iterator[Value]:
    if variable.names:
        yield from (Enumerated(it, variable.names.get(it, "")) for it in part.signed)
    elif variable.type == "address":
        yield from map(Address, part.unsigned)
    else:
        # All but one of them are empty.
        yield from part.booleans
        yield from part.signed
        yield from part.unsigned
        yield from part.singles
        yield from part.doubles


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a trace."""

    patterns: Sequence[str]
    trigger: str
    before: int
    after: int
    every: int
    task: int
    windows: int


def start(site: str, partition: str, of: Settings) -> Call[pb.StartTraceResponse, TraceInfo]:
    """Starts a trace."""
    request = pb.StartTraceRequest(
        site=site,
        partition=partition,
        task=of.task,
        variables=of.patterns,
        every=of.every,
        trigger=of.trigger,
        before=of.before,
        after=of.after,
        windows=of.windows,
    )
    return Call(
        f"{_SERVICE}/StartTrace", request, pb.StartTraceResponse, lambda it: _trace(it.trace)
    )


def stop(number: int) -> Call[pb.StopTraceResponse, TraceInfo]:
    """Ends a trace; its rows stay."""
    request = pb.StopTraceRequest(number=number)
    return Call(f"{_SERVICE}/StopTrace", request, pb.StopTraceResponse, lambda it: _trace(it.trace))


def delete(number: int) -> Call[pb.DeleteTraceResponse, None]:
    """Removes a trace with its rows."""
    request = pb.DeleteTraceRequest(number=number)
    return Call(f"{_SERVICE}/DeleteTrace", request, pb.DeleteTraceResponse, lambda _: None)


def get(number: int) -> Call[pb.GetTraceResponse, TraceInfo]:
    """Returns a trace with its progress."""
    request = pb.GetTraceRequest(number=number)
    return Call(f"{_SERVICE}/GetTrace", request, pb.GetTraceResponse, lambda it: _trace(it.trace))


def list_traces(site: str = "", partition: str = "") -> Call[pb.ListTracesResponse, Traces]:
    """Lists the traces of a partition, of a site, or all."""
    request = pb.ListTracesRequest(site=site, partition=partition)
    return Call(
        f"{_SERVICE}/ListTraces",
        request,
        pb.ListTracesResponse,
        lambda answer: Traces(map(_trace, answer.traces)),
    )


def fetch(number: int, reader: RowsReader) -> Stream[pb.FetchTraceResponse, int]:
    """Fetches the rows that a trace has kept so far."""
    request = pb.FetchTraceRequest(number=number)
    return Stream(f"{_SERVICE}/FetchTrace", request, pb.FetchTraceResponse, reader)


def not_over(info: TraceInfo, timeout: float) -> TimedOutError:
    """Makes the error of a wait for a trace."""
    what = f"it is {info.state}, with {info.rows} rows, after {timeout:g} s"
    where = f"trace {info.number}"
    return TimedOutError(f"{where}: {what}", kind="NOT_YET", what=what, where=where)


def _trace(it: pb.Trace) -> TraceInfo:
    return TraceInfo(
        number=it.number,
        site=it.site,
        partition=it.partition,
        task=it.task,
        variables=tuple(
            TraceVariable(one.path, one.type, {name.number: name.name for name in one.names})
            for one in it.variables
        ),
        every=it.every,
        trigger=it.trigger,
        before=it.before,
        after=it.after,
        windows=it.windows,
        state=named(TraceState, pb.TraceState.Name, it.state, "TRACE_STATE_"),
        why=it.why,
        begun=tuple(TraceWindow(one.first_row, one.before, one.trigger_cycle) for one in it.begun),
        rows=it.rows,
        lost=it.lost,
        started_by=it.started_by,
        started_at=datetime.fromisoformat(it.started_at),
        utc_offset_ns=it.utc_offset_ns,
        sample_period_ns=it.sample_period_ns,
        not_kept=it.not_kept,
    )
