"""Runs: campaigns that judge a site, and experiments; their verdicts and their evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from quietcore.calls import Call, Stream, named
from quietcore.display import Listing, count, duration
from quietcore.v1 import qualification_pb2 as pb

_SERVICE = "quietcore.v1.QualificationService"

START_S = 60.0
"""The longest wait for a run to start or to be cancelled, in seconds."""

REPORT = "report.html"
"""Name of the page in a run's evidence."""

RemarkSink = Callable[[str], object]
"""Takes a remark or a result of a run, a line for persons; `print` is one."""


class RunKind(StrEnum):
    """The kind of a run."""

    QUALIFY = "qualify"
    """A campaign, which judges the site."""
    TUNE = "tune"
    """The controls of the machine that the site needs."""
    DISTURB = "disturb"
    """The effect of each kind of neighbour."""
    UNKNOWN = "unknown"


class RunState(StrEnum):
    """The state of a run."""

    RUNNING = "running"
    COMPLETE = "complete"
    """All was measured."""
    INTERRUPTED = "interrupted"
    """It was ended before: by a client, by a signal, or with the machine."""
    FAILED = "failed"
    """It has no evidence; `why` says the reason."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecordVerdict:
    """The verdict on what was measured of a partition under a profile."""

    partition: str
    profile: str
    application_class: str
    """The application class that it was judged against."""
    record: str
    """Name of the record."""
    verdict: str
    """`PASS`, `FAIL` or `NOT PROVEN`."""
    because: str
    """The reason, as a sentence with the deciding figures."""
    cycles_needed: int | None
    """Cycles that would be needed, where more would help."""

    def __str__(self) -> str:
        of = f"{self.partition} under {self.profile}, {self.application_class}"
        return f"{self.verdict}: {of}: {self.because}"


_SIGNS = {"PASS": "✓ PASS", "FAIL": "✗ FAIL", "NOT PROVEN": "? NOT PROVEN"}


class RecordVerdicts(Listing[RecordVerdict]):
    """The verdicts of a run, by record and class."""

    _columns = (
        ("verdict", lambda it: _SIGNS.get(it.verdict, it.verdict)),
        ("partition", lambda it: it.partition),
        ("profile", lambda it: it.profile),
        ("class", lambda it: it.application_class),
        ("because", lambda it: it.because),
    )


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file of a run's evidence."""

    name: str
    bytes: int

    def __str__(self) -> str:
        return f"{self.name}: {count(self.bytes)} bytes"


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as it was at one instant."""

    number: int
    kind: RunKind
    state: RunState
    site: str
    started_at: datetime
    started_by: str
    cancelled_by: str
    """Who cancelled it; empty if nobody has."""
    verdict: str
    """The verdict on the whole site; empty while there is none, and for an experiment."""
    verdicts: RecordVerdicts
    """The verdicts on its records; none in a list of runs."""
    files: tuple[RunFile, ...]
    """The files of its evidence; none in a list of runs."""
    why: str
    """The reason why it has failed."""

    @property
    def is_over(self) -> bool:
        """True if it does not go on any more."""
        return self.state is not RunState.RUNNING

    def __str__(self) -> str:
        outcome = self.verdict or self.why
        return f"run {self.number}, {self.kind} of {self.site}: {self.state}" + (
            f", {outcome}" if outcome else ""
        )

    def _repr_html_(self) -> str:
        return self.verdicts._repr_html_()


class Runs(Listing[RunInfo]):
    """The runs that are kept, the newest first."""

    _columns = (
        ("run", lambda it: it.number),
        ("kind", lambda it: it.kind),
        ("site", lambda it: it.site),
        ("state", lambda it: it.state),
        ("verdict", lambda it: _SIGNS.get(it.verdict, it.verdict)),
        ("started", lambda it: f"{it.started_at:%Y-%m-%d %H:%M}"),
        ("by", lambda it: it.started_by),
    )


@dataclass(frozen=True, slots=True)
class StandingVerdict:
    """A verdict, and its bearing on the machine as it is now."""

    site: str
    partition: str
    application_class: str
    """The application class that the partition declares."""
    verdict: str
    standing: str
    """`holds`, `expired`, `other-machine`, or `unknown-machine` of evidence that is not signed."""
    started_at: datetime
    run: int
    expired_by: tuple[str, ...]
    """What has changed since, by which it has expired."""

    def __str__(self) -> str:
        of = f"{self.site}/{self.partition}, {self.application_class}"
        return f"{self.verdict} {self.standing}: {of}, run {self.run}"


class StandingVerdicts(Listing[StandingVerdict]):
    """The newest verdict of each site, partition and class."""

    _columns = (
        ("verdict", lambda it: _SIGNS.get(it.verdict, it.verdict)),
        ("now", lambda it: it.standing),
        ("site", lambda it: it.site),
        ("partition", lambda it: it.partition),
        ("class", lambda it: it.application_class),
        ("measured", lambda it: f"{it.started_at:%Y-%m-%d %H:%M}"),
        ("run", lambda it: it.run),
        ("expired by", lambda it: "; ".join(it.expired_by)),
    )


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run."""

    profile: str
    """The profile, or the variant of an experiment, that is measured; empty before the first."""
    partitions: tuple[str, ...]
    step: str
    begun: int
    """The number of measurements that have begun."""
    fraction: float
    """The part of the whole time that has passed, from 0 to 1."""
    left_ns: int
    """The time that is left by the plan."""
    worst_ns: int | None
    """The largest release latency of this measurement so far."""

    def __str__(self) -> str:
        worst = "" if self.worst_ns is None else f", worst {duration(self.worst_ns)}"
        left = duration(self.left_ns)
        return f"{self.fraction:.0%} {self.profile} {self.step}{worst}, {left} left"


class WatchReader:
    """Reads a run as it goes on: passes its remarks on, and keeps its end."""

    def __init__(self, say: RemarkSink | None):
        self._say = say
        self.ended: RunInfo | None = None
        """The run, when it has ended."""

    def take(self, message: pb.WatchRunResponse) -> RunProgress | None:
        """Returns the progress; `None` for a remark and the end."""
        match message.WhichOneof("content"):
            case "line":
                if self._say is not None:
                    self._say(message.line)
            case "ended":
                self.ended = _run(message.ended)
            case "progress":
                it = message.progress
                return RunProgress(
                    it.profile,
                    tuple(it.partitions),
                    it.step,
                    it.begun,
                    it.fraction,
                    it.left_ns,
                    it.worst_ns if it.HasField("worst_ns") else None,
                )
        return None


class FileReader:
    """Reads the parts of a file."""

    def take(self, message: pb.FetchFileResponse) -> bytes:
        """Returns the next part."""
        return message.chunk


@dataclass(frozen=True, slots=True)
class Measured:
    """A site that is measured: one that runs, by its name, or the text of a site file."""

    site: str = ""
    toml: str | None = None

    def request(self, kind: pb.RunKind) -> pb.StartRunRequest:
        """Begins the request of a run."""
        if self.toml is None:
            return pb.StartRunRequest(kind=kind, site=self.site)
        return pb.StartRunRequest(kind=kind, toml=self.toml)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of an experiment; zero stands for the usual."""

    rounds: int = 0
    block: float = 0.0
    """Length of a block in seconds."""
    seed: int = 0

    def into(self, request: pb.StartRunRequest) -> None:
        """Writes them into a request."""
        request.rounds = self.rounds
        request.seed = self.seed
        request.duration_ms = milliseconds(self.block)


def milliseconds(seconds: float) -> int:
    """Returns seconds in milliseconds, and never the zero that stands for the usual time.

    >>> milliseconds(0.0001), milliseconds(1.5), milliseconds(0)
    (1, 1500, 0)
    """
    return max(1, round(seconds * 1000)) if seconds > 0 else 0


def qualify(
    measured: Measured, profiles: Sequence[str], seconds: float
) -> Call[pb.StartRunResponse, RunInfo]:
    """Starts a campaign."""
    request = measured.request(pb.RUN_KIND_QUALIFY)
    request.profiles.extend(profiles)
    request.duration_ms = milliseconds(seconds)
    return _start(request)


def tune(
    measured: Measured, rounds: Rounds, profile: str, controls: Sequence[str], confirm: float
) -> Call[pb.StartRunResponse, RunInfo]:
    """Starts the search for the controls that a site needs."""
    request = measured.request(pb.RUN_KIND_TUNE)
    rounds.into(request)
    request.profiles.extend([profile] if profile else [])
    request.controls.extend(controls)
    request.confirm_ms = milliseconds(confirm)
    return _start(request)


def disturb(
    measured: Measured, rounds: Rounds, partitions: Sequence[str], aggressors: Sequence[str]
) -> Call[pb.StartRunResponse, RunInfo]:
    """Starts the measurement beside neighbours."""
    request = measured.request(pb.RUN_KIND_DISTURB)
    rounds.into(request)
    request.partitions.extend(partitions)
    request.aggressors.extend(aggressors)
    return _start(request)


def _start(request: pb.StartRunRequest) -> Call[pb.StartRunResponse, RunInfo]:
    return Call(
        f"{_SERVICE}/StartRun",
        request,
        pb.StartRunResponse,
        lambda answer: _run(answer.run),
        START_S,
    )


def cancel(number: int) -> Call[pb.CancelRunResponse, None]:
    """Ends a run as Ctrl-C does."""
    return Call(
        f"{_SERVICE}/CancelRun",
        pb.CancelRunRequest(number=number),
        pb.CancelRunResponse,
        lambda _: None,
        START_S,
    )


def watch(number: int, reader: WatchReader) -> Stream[pb.WatchRunResponse, RunProgress]:
    """Follows a run to its end."""
    request = pb.WatchRunRequest(number=number)
    return Stream(f"{_SERVICE}/WatchRun", request, pb.WatchRunResponse, reader)


def list_runs() -> Call[pb.ListRunsResponse, Runs]:
    """Lists the runs that are kept, the newest first."""
    return Call(
        f"{_SERVICE}/ListRuns",
        pb.ListRunsRequest(),
        pb.ListRunsResponse,
        lambda answer: Runs(map(_run, answer.runs)),
    )


def get_run(number: int) -> Call[pb.GetRunResponse, RunInfo]:
    """Returns a run with its verdicts and files."""
    return Call(
        f"{_SERVICE}/GetRun",
        pb.GetRunRequest(number=number),
        pb.GetRunResponse,
        lambda answer: _run(answer.run),
    )


def list_verdicts() -> Call[pb.ListVerdictsResponse, StandingVerdicts]:
    """Lists the newest verdicts, and whether they hold."""
    return Call(
        f"{_SERVICE}/ListVerdicts",
        pb.ListVerdictsRequest(),
        pb.ListVerdictsResponse,
        lambda answer: StandingVerdicts(map(_standing, answer.verdicts)),
        START_S,
    )


def fetch(number: int, name: str) -> Stream[pb.FetchFileResponse, bytes]:
    """Fetches a file of a run's evidence, part by part."""
    request = pb.FetchFileRequest(number=number, name=name)
    return Stream(f"{_SERVICE}/FetchFile", request, pb.FetchFileResponse, FileReader())


def record_names(info: RunInfo) -> list[str]:
    """Returns the names of the files that are records."""
    return [it.name for it in info.files if it.name.startswith("records/")]


def record(text: bytes) -> dict[str, Any]:
    """Reads a record, whose raw histograms are pairs of a bin's lower bound and its count."""
    read: dict[str, Any] = json.loads(text)
    return read


def _run(it: pb.Run) -> RunInfo:
    return RunInfo(
        number=it.number,
        kind=named(RunKind, pb.RunKind.Name, it.kind, "RUN_KIND_"),
        state=named(RunState, pb.RunState.Name, it.state, "RUN_STATE_"),
        site=it.site,
        started_at=datetime.fromisoformat(it.started_at),
        started_by=it.started_by,
        cancelled_by=it.cancelled_by,
        verdict=it.verdict,
        verdicts=RecordVerdicts(map(_verdict, it.verdicts)),
        files=tuple(RunFile(one.name, one.bytes) for one in it.files),
        why=it.why,
    )


def _verdict(it: pb.RecordVerdict) -> RecordVerdict:
    return RecordVerdict(
        it.partition,
        it.profile,
        it.application_class,
        it.record,
        it.verdict,
        it.because,
        it.cycles_needed or None,
    )


def _standing(it: pb.StandingVerdict) -> StandingVerdict:
    return StandingVerdict(
        it.site,
        it.partition,
        it.application_class,
        it.verdict,
        it.standing,
        datetime.fromisoformat(it.started_at),
        it.run,
        tuple(it.expired_by),
    )
