"""The timing of a program that runs: histograms and worst cycles of each task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quietcore.calls import Call
from quietcore.display import Figure, Listing, count, duration
from quietcore.v1 import timing_pb2 as pb

if TYPE_CHECKING:
    import pandas as pd

_SERVICE = "quietcore.v1.PartitionService"


@dataclass(frozen=True, slots=True)
class LatencyBar:
    """A bar of a histogram, from `from_ns` to below `to_ns`."""

    from_ns: int
    to_ns: int
    count: int


@dataclass(frozen=True, slots=True)
class LatencyHistogram:
    """Times of all cycles in bars that are equally wide on a logarithmic axis.

    A percentile is `None` if fewer than ten values lie beyond it.
    """

    count: int
    min_ns: int
    max_ns: int
    p50_ns: int | None
    p99_ns: int | None
    p99_9_ns: int | None
    p99_99_ns: int | None
    bars: tuple[LatencyBar, ...]
    """From the first bar that holds values to the last.

    The first bar of the axis holds what is shorter than 100 ns as well, and the last one what is
    longer than 10 s.
    """


@dataclass(frozen=True, slots=True)
class WorstCycle:
    """A cycle that took longer than others."""

    release: int
    """Number of the release, from 0."""
    at_ns: int
    """When it was due: nanoseconds since 1970. Events of that time are those around it."""
    value_ns: int
    """The release latency, execution time or response time."""
    wakeup_ns: int | None
    """The part of a release latency until the task was awake; `None` for other times."""
    cpu: int | None
    """The CPU on which the cycle ran; `None` for other times than release latencies."""

    def __str__(self) -> str:
        on = "" if self.cpu is None else f" on CPU {self.cpu}"
        return f"cycle {self.release}: {duration(self.value_ns)}{on}"


@dataclass(frozen=True, slots=True)
class TaskTiming:
    """The timing of a task since its process has started, all of one cycle."""

    name: str
    period_ns: int
    """Time between two releases; 0 for a task that has none."""
    since_ns: int
    """When its first release was due, nanoseconds since 1970; 0 before the first release."""
    cycles: int
    missed_cycles: int
    """Releases that came a whole period late or more."""
    overruns: int
    """Jobs that were not done at their deadline."""
    watchdog_hits: int
    """Jobs that took longer than their watchdog time."""
    migrations: int
    """Cycles that began on another CPU than the one before."""
    release: LatencyHistogram
    """From the due instant to the start of the work."""
    execution: LatencyHistogram
    """From the start of the work to its end."""
    response: LatencyHistogram
    """From the due instant to the end of the work."""
    worst_releases: tuple[WorstCycle, ...]
    """The cycles of the longest release latencies, the longest first; 16 at most."""
    worst_execution: WorstCycle | None
    worst_response: WorstCycle | None

    def __str__(self) -> str:
        late = f"released {duration(self.release.max_ns)} late at most"
        return f"{self.name}: {count(self.missed_cycles)} of {count(self.cycles)} missed, {late}"


@dataclass(frozen=True, slots=True)
class TimingClass:
    """An application class and its limits; a class of the site file comes by its name alone."""

    name: str
    title: str
    cycle_ns: int | None
    latency_ns: int | None
    """The largest release latency."""
    jitter_ns: int | None
    jitter_definition: str
    """The formula of that jitter."""


class Timing(Listing[TaskTiming]):
    """The tasks of a program in the order of the program.

    A task that wrote at every try of reading it is left out.

    Attributes:
        site: name of the site.
        application_class: the class that the timing is judged against; `None` where there is none.
        read_at_ns: when it was read, nanoseconds since 1970.
        generation: number of the build that runs, from 1.
    """

    _columns = (
        ("task", lambda it: it.name),
        ("period", lambda it: Figure(duration(it.period_ns)) if it.period_ns else ""),
        ("cycles", lambda it: it.cycles),
        ("missed", lambda it: it.missed_cycles),
        ("overruns", lambda it: it.overruns),
        ("release p50", lambda it: _figure(it.release.p50_ns)),
        ("p99", lambda it: _figure(it.release.p99_ns)),
        ("p99.9", lambda it: _figure(it.release.p99_9_ns)),
        ("longest", lambda it: Figure(duration(it.release.max_ns))),
        ("longest execution", lambda it: Figure(duration(it.execution.max_ns))),
        ("longest response", lambda it: Figure(duration(it.response.max_ns))),
    )

    def __init__(
        self,
        tasks: tuple[TaskTiming, ...] = (),
        *,
        site: str = "",
        application_class: TimingClass | None = None,
        read_at_ns: int = 0,
        generation: int = 0,
    ):
        super().__init__(tasks)
        self.site = site
        self.application_class = application_class
        self.read_at_ns = read_at_ns
        self.generation = generation

    def task(self, name: str) -> TaskTiming:
        """Returns the timing of a task by name.

        Raises:
            KeyError: if there is no such task.
        """
        for it in self:
            if it.name == name:
                return it
        raise KeyError(f"there is no task `{name}`; there are {', '.join(it.name for it in self)}")

    def frame(self) -> pd.DataFrame:
        """Makes a data frame of the histograms. Needs pandas (`pip install quietcore[data]`)."""
        from quietcore.frames import frame_of_timing

        return frame_of_timing(self)

    def _caption(self) -> str:
        lines = [f"Timing of build {self.generation} since its process started"]
        if (kind := self.application_class) is not None:
            limit = (
                "" if kind.latency_ns is None else f", released {duration(kind.latency_ns)} late"
            )
            lines.append(f"class {kind.name}{limit}{' at most' if limit else ''}")
        return "\n".join(lines)


def get(site: str, partition: str) -> Call[pb.GetTimingResponse, Timing]:
    """Reads the timing of a program."""
    return Call(
        f"{_SERVICE}/GetTiming",
        pb.GetTimingRequest(site=site, partition=partition),
        pb.GetTimingResponse,
        _timing,
    )


def _figure(nanoseconds: int | None) -> str:
    return "" if nanoseconds is None else Figure(duration(nanoseconds))


def _timing(answer: pb.GetTimingResponse) -> Timing:
    of_class = _class(getattr(answer, "class")) if answer.HasField("class") else None
    return Timing(
        tuple(map(_task, answer.tasks)),
        site=answer.site,
        application_class=of_class,
        read_at_ns=answer.read_at_ns,
        generation=answer.generation,
    )


def _class(it: pb.TimingClass) -> TimingClass:
    return TimingClass(
        it.name,
        it.title,
        it.cycle_ns if it.HasField("cycle_ns") else None,
        it.latency_ns if it.HasField("latency_ns") else None,
        it.jitter_ns if it.HasField("jitter_ns") else None,
        it.jitter_definition,
    )


def _task(it: pb.TaskTiming) -> TaskTiming:
    return TaskTiming(
        name=it.name,
        period_ns=it.period_ns,
        since_ns=it.since_ns,
        cycles=it.cycles,
        missed_cycles=it.missed_cycles,
        overruns=it.overruns,
        watchdog_hits=it.watchdog_hits,
        migrations=it.migrations,
        release=_histogram(it.release),
        execution=_histogram(it.execution),
        response=_histogram(it.response),
        worst_releases=tuple(map(_worst, it.worst_releases)),
        worst_execution=_worst(it.worst_execution) if it.HasField("worst_execution") else None,
        worst_response=_worst(it.worst_response) if it.HasField("worst_response") else None,
    )


def _histogram(it: pb.LatencyHistogram) -> LatencyHistogram:
    return LatencyHistogram(
        count=it.count,
        min_ns=it.min_ns,
        max_ns=it.max_ns,
        p50_ns=it.p50_ns if it.HasField("p50_ns") else None,
        p99_ns=it.p99_ns if it.HasField("p99_ns") else None,
        p99_9_ns=it.p99_9_ns if it.HasField("p99_9_ns") else None,
        p99_99_ns=it.p99_99_ns if it.HasField("p99_99_ns") else None,
        bars=tuple(LatencyBar(bar.from_ns, bar.to_ns, bar.count) for bar in it.bars),
    )


def _worst(it: pb.WorstCycle) -> WorstCycle:
    return WorstCycle(
        it.release,
        it.at_ns,
        it.value_ns,
        it.wakeup_ns if it.HasField("wakeup_ns") else None,
        it.cpu if it.HasField("cpu") else None,
    )
