"""Partitions: their states in figures, and what holds and starts their programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

from google.protobuf.message import Message

from quietcore.calls import Call, named
from quietcore.display import Figure, Listing, count, duration
from quietcore.v1 import partition_pb2 as pb

_SERVICE = "quietcore.v1.PartitionService"

RestartKind: TypeAlias = Literal["warm", "cold", "origin"]
"""What a program keeps when it starts anew.

`"warm"`: retained variables keep their values. `"cold"`: they begin anew, too. `"origin"`: as after
the first start; forced variables are let go as well.
"""


class Activity(StrEnum):
    """The activity of a partition."""

    STARTING = "starting"
    """Its program is built, its process starts, its fieldbus comes up."""
    RUNNING = "running"
    """It runs its cycles."""
    PAUSED = "paused"
    """It is held between two cycles, as it was asked to."""
    SHED = "shed"
    """It is held for a more critical partition that is late."""
    FAULT = "fault"
    """It has stopped itself; its outputs are as the site file says for a fault."""
    WAITING = "waiting"
    """It will be started again."""
    STOPPED = "stopped"
    """It will not be started again by itself."""
    UNKNOWN = "unknown"
    """A word of a later daemon."""


_SIGNS = {Activity.RUNNING: "✓", Activity.FAULT: "✗", Activity.STOPPED: "✗"}


@dataclass(frozen=True, slots=True)
class Fieldbus:
    """The fieldbus of a partition."""

    state: str
    """AL state that all SubDevices have reached, such as `"OP"`; otherwise what is wrong."""
    subdevices: int
    working_counter: int
    working_counter_expected: int
    lost_frames: int


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition in figures.

    Counters are those of its fastest task since its last reset, where nothing else is said.
    """

    name: str
    backend: str
    activity: Activity
    why: str
    """The reason for its activity; empty where there is none."""
    restart_in_ns: int
    """Time until it is started again; 0 where it is not going to be."""
    shed_by: str
    """The more critical partition that it is shed for; empty if it is not."""
    application_class: str
    """The application class that its timing is judged against."""
    period_ns: int
    cycles: int
    missed_cycles: int
    """Releases that came a whole period late or more."""
    overruns: int
    """Jobs that were not done at their deadline, of all tasks."""
    release_max_ns: int
    """The longest release latency."""
    forces: int
    """Variables that are held by force."""
    generation: int
    """Number of the build that runs, from 1."""
    restarts: int
    """Times that it was started again after a fault."""
    faults: int
    """Faults since the site is up."""
    last_fault: str
    cpu: int | None
    """The CPU of its fastest task, where it is known."""
    pid: int | None
    fieldbus: Fieldbus | None
    model_hash: str
    drift: tuple[str, ...]
    """Reservations that it does not have now, and settings that are not as they were set."""
    has_program: bool
    """False for a guest with a system of its own, which has no cycles and no variables."""

    def __str__(self) -> str:
        missed = f"{count(self.missed_cycles)} of {count(self.cycles)} cycles missed"
        latency = f"released {duration(self.release_max_ns)} late at most"
        return f"{self.name}: {self.activity}, {missed}, {latency}"

    def _repr_html_(self) -> str:
        return Partitions((self,))._repr_html_()


class Partitions(Listing[PartitionState]):
    """The partitions of a site, in the order of the site file.

    Attributes:
        drift: settings of the machine that are not as they were set for the site; a sentence each.
    """

    _columns = (
        ("partition", lambda it: it.name),
        ("state", lambda it: f"{_SIGNS.get(it.activity, '·')} {it.activity}"),
        ("class", lambda it: it.application_class),
        ("backend", lambda it: it.backend),
        ("CPU", lambda it: "" if it.cpu is None else it.cpu),
        ("period", lambda it: Figure(duration(it.period_ns))),
        ("cycles", lambda it: it.cycles),
        ("missed", lambda it: it.missed_cycles),
        ("overruns", lambda it: it.overruns),
        ("longest release latency", lambda it: Figure(duration(it.release_max_ns))),
        ("forces", lambda it: it.forces),
        ("build", lambda it: it.generation),
        ("remarks", lambda it: "; ".join(filter(None, (it.why, it.last_fault, *it.drift)))),
    )

    def __init__(self, partitions: tuple[PartitionState, ...] = (), drift: tuple[str, ...] = ()):
        super().__init__(partitions)
        self.drift = drift

    def _caption(self) -> str:
        return "\n".join(("Partitions", *(f"drift: {it}" for it in self.drift)))


class Held(NamedTuple):
    """The outcome of a pause or of its end."""

    was_paused: bool
    """True if the program was held before the call."""
    has_fieldbus: bool
    """True if it has a fieldbus, which gets no frames while it is held; not told at the end."""


def list_partitions(site: str) -> Call[pb.ListPartitionsResponse, Partitions]:
    """Lists the partitions of a site in figures."""
    return Call(
        f"{_SERVICE}/ListPartitions",
        pb.ListPartitionsRequest(site=site),
        pb.ListPartitionsResponse,
        lambda answer: Partitions(tuple(map(_state, answer.partitions)), tuple(answer.drift)),
    )


def pause(site: str, partition: str) -> Call[pb.PausePartitionResponse, Held]:
    """Holds a program between two cycles."""
    return Call(
        f"{_SERVICE}/PausePartition",
        pb.PausePartitionRequest(site=site, partition=partition),
        pb.PausePartitionResponse,
        lambda answer: Held(answer.was_paused, answer.has_fieldbus),
    )


def resume(site: str, partition: str) -> Call[pb.ResumePartitionResponse, Held]:
    """Lets a program that was held go on."""
    return Call(
        f"{_SERVICE}/ResumePartition",
        pb.ResumePartitionRequest(site=site, partition=partition),
        pb.ResumePartitionResponse,
        lambda answer: Held(answer.was_paused, False),
    )


def restart(
    site: str, partition: str, kind: RestartKind
) -> Call[pb.RestartPartitionResponse, None]:
    """Starts a program anew."""
    kinds = {
        "warm": pb.RESTART_KIND_WARM,
        "cold": pb.RESTART_KIND_COLD,
        "origin": pb.RESTART_KIND_ORIGIN,
    }
    if kind not in kinds:
        raise ValueError(f"{kind!r} is no kind of restart; say one of {', '.join(kinds)}")
    request = pb.RestartPartitionRequest(site=site, partition=partition, kind=kinds[kind])
    return Call(
        f"{_SERVICE}/RestartPartition", request, pb.RestartPartitionResponse, lambda _: None
    )


def _state(it: pb.Partition) -> PartitionState:
    given = _given(it)
    return PartitionState(
        name=it.name,
        backend=it.backend,
        activity=named(Activity, pb.Activity.Name, it.activity, "ACTIVITY_"),
        why=it.why,
        restart_in_ns=it.restart_in_ns,
        shed_by=it.shed_by,
        application_class=getattr(it, "class"),
        period_ns=it.period_ns,
        cycles=it.cycles,
        missed_cycles=it.missed_cycles,
        overruns=it.overruns,
        release_max_ns=it.release_max_ns,
        forces=it.forces,
        generation=it.generation,
        restarts=it.restarts,
        faults=it.faults,
        last_fault=it.last_fault,
        cpu=given("cpu", it.cpu),
        pid=given("pid", it.pid),
        fieldbus=_fieldbus(it.fieldbus) if it.HasField("fieldbus") else None,
        model_hash=it.model_hash,
        drift=tuple(it.drift),
        has_program=it.has_program,
    )


def _given(message: Message) -> Callable[[str, int], int | None]:
    return lambda field, value: value if message.HasField(field) else None


def _fieldbus(it: pb.Fieldbus) -> Fieldbus:
    return Fieldbus(
        it.state,
        it.subdevices,
        it.working_counter,
        it.working_counter_expected,
        it.lost_frames,
    )
