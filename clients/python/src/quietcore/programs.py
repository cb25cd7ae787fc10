"""Programs that are sent to a machine: received, built, deployed and rolled back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from quietcore.calls import Call, Stream, Upload, named
from quietcore.display import Listing, count
from quietcore.errors import QuietcoreError
from quietcore.v1 import program_pb2 as pb

_SERVICE = "quietcore.v1.ProgramService"

CHUNK_BYTES = 256 << 10
"""Bytes of a file that are sent in one message."""

DEPLOY_S = 600.0
"""The longest wait for a deployment, which includes a probation, in seconds."""

LineSink = Callable[[str], object]
"""Takes a line that a build says, as it comes; `print` is one."""

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
"""Endings of the files that are sent as an archive."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of which versions were sent."""

    name: str
    newest: int | None
    """Number of its newest version; `None` if all are deleted."""
    version_count: int

    def __str__(self) -> str:
        return f"{self.name}: version {self.newest}, {self.version_count} kept"


class Programs(Listing[Program]):
    """The programs of a machine, by name."""

    _columns = (
        ("program", lambda it: it.name),
        ("newest version", lambda it: "" if it.newest is None else it.newest),
        ("versions", lambda it: it.version_count),
    )


@dataclass(frozen=True, slots=True)
class BuiltVersion:
    """A build of a version."""

    succeeded: bool
    hash: str
    """Hash of sources, headers, compiler and options, by which a running build is known."""
    at: datetime
    by: str


class PartitionName(NamedTuple):
    """A partition of a site."""

    site: str
    partition: str


@dataclass(frozen=True, slots=True)
class ProgramVersion:
    """A version of a program, which never changes."""

    program: str
    number: int
    """From 1; a number is never used again."""
    sha256: str
    """SHA-256 of names and contents of its files, in hexadecimal digits."""
    files: int
    bytes: int
    uploaded_at: datetime
    uploaded_by: str
    last_build: BuiltVersion | None
    running_in: tuple[PartitionName, ...]
    """The partitions that run it now."""

    def __str__(self) -> str:
        size = f"{count(self.files)} files, {count(self.bytes)} bytes"
        return f"{self.program} {self.number}: {size}, by {self.uploaded_by}"


_SIGNS: dict[bool | None, str] = {None: "", True: "✓ yes", False: "✗ failed"}


class ProgramVersions(Listing[ProgramVersion]):
    """The versions of a program, the newest first."""

    _columns = (
        ("program", lambda it: it.program),
        ("version", lambda it: it.number),
        ("files", lambda it: it.files),
        ("bytes", lambda it: it.bytes),
        ("sent", lambda it: f"{it.uploaded_at:%Y-%m-%d %H:%M}"),
        ("by", lambda it: it.uploaded_by),
        ("built", lambda it: _SIGNS[None if it.last_build is None else it.last_build.succeeded]),
        ("runs in", lambda it: ", ".join(one.partition for one in it.running_in)),
    )


@dataclass(frozen=True, slots=True)
class CompilerRemark:
    """An error or a warning of the compiler."""

    is_error: bool
    file: str
    """The file, relative to the program's folder; may be empty."""
    line: int | None
    column: int | None
    message: str

    def __str__(self) -> str:
        place = ":".join(str(it) for it in (self.file, self.line, self.column) if it)
        return f"{place + ': ' if place else ''}{'error' if self.is_error else 'warning'}: " + (
            self.message
        )


@dataclass(frozen=True, slots=True)
class BuildOutcome:
    """The outcome of a build."""

    succeeded: bool
    hash: str
    """Hash of sources, headers, compiler and options; empty if there is no program."""
    compiler: str
    """The compiler's version and what it compiles for; empty if there is no program."""
    was_built_before: bool
    problems: tuple[CompilerRemark, ...]
    remarks: tuple[str, ...]
    """Remarks of the builder, a sentence each; the reason if there is no program."""
    left_out: tuple[tuple[str, str], ...]
    """Files that are no part of it, each with the reason."""
    lines_left_out: int
    """Lines that were left out because the client was slow."""

    def __str__(self) -> str:
        verdict = "there is a program" if self.succeeded else "there is no program"
        return "\n".join((*map(str, self.problems), *self.remarks, verdict))


class BuildError(QuietcoreError):
    """A build that has failed; `outcome` has what the compiler says."""

    def __init__(self, outcome: BuildOutcome):
        errors = [str(it) for it in outcome.problems if it.is_error]
        what = "; ".join((*outcome.remarks, *errors)) or "there is no program"
        super().__init__(what, kind="BUILD", what=what)
        self.outcome = outcome


class Probation(StrEnum):
    """The outcome of a probation, as far as it was waited for."""

    PASSED = "passed"
    """The program ran through its probation."""
    RUNNING = "running"
    """It is on probation."""
    TAKEN_BACK = "taken back"
    """It failed, and the build before runs again."""
    FAILED = "failed"
    """It failed, and there was no sound build to go back to."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Deployed:
    """A changed program that ran. `is_running` tells whether it still does."""

    program: str
    version: int
    generation: int
    """Number of its build in the partition."""
    cycle: int
    """The first cycle that it ran."""
    gap_cycles: int
    """Cycles that were lost by the change."""
    release_ns: int
    """Time from its due instant until its first cycle began."""
    carried: int
    """Number of variables whose values were taken over."""
    tuned: tuple[str, ...]
    """Parameters that keep a value set by hand, whatever the program gives them."""
    not_carried_count: int
    """Number of variables that begin anew; `not_carried` has the first of them."""
    not_carried: dict[str, str]
    """Variables that begin anew, each with the reason."""
    not_forced: dict[str, str]
    """Variables that were forced and are not any more, each with the reason."""
    probation: Probation
    why: str
    """The end of a program that did not pass."""

    @property
    def is_running(self) -> bool:
        """True if it has passed its probation, or is on it."""
        return self.probation in (Probation.PASSED, Probation.RUNNING)

    def __str__(self) -> str:
        lost = f"{self.gap_cycles} cycles lost, {self.carried} values taken over"
        since = f"from cycle {count(self.cycle)}: {lost}; probation {self.probation}"
        verb, why = ("runs", "") if self.is_running else ("ran", f": {self.why}")
        return f"{self.program} {self.version} {verb} {since}{why}"


def upload(
    program: str, path: str | os.PathLike[str]
) -> Upload[pb.UploadProgramResponse, ProgramVersion]:
    """Sends a folder of sources, or an archive of one.

    Raises:
        FileNotFoundError: if there is no such folder or archive.
        ValueError: if it is a file and no archive, or a folder without files.
    """
    at = Path(path)
    parts: Iterator[pb.UploadProgramRequest]
    if at.is_dir():
        files = sorted(_files(at))
        if not files:
            raise ValueError(f"`{at}` has no files")
        parts = (part for file in files for part in _file(at, file))
    elif not at.exists():
        raise FileNotFoundError(f"there is no folder or archive `{at}`")
    elif at.name.lower().endswith(ARCHIVES):
        parts = _chunks(at)
    else:
        raise ValueError(f"`{at}` is no folder and no archive; an archive is {', '.join(ARCHIVES)}")

    def requests() -> Iterator[pb.UploadProgramRequest]:
        yield pb.UploadProgramRequest(begin=pb.UploadBegin(program=program))
        yield from parts

    return Upload(
        f"{_SERVICE}/UploadProgram",
        pb.UploadProgramRequest,
        requests,
        pb.UploadProgramResponse,
        lambda answer: _version(answer.version),
    )


def program_name(path: str | os.PathLike[str]) -> str:
    """Returns the name of the program in a folder or archive, as code generators call those.

    >>> program_name("models/servo_ert_rtw"), program_name("servo.tar.gz")
    ('servo', 'servo')
    """
    name = Path(path).resolve().name
    for ending in ARCHIVES:
        name = name.removesuffix(ending)
    return name.removesuffix("_ert_rtw").removesuffix("_grt_rtw")


def build(
    program: str, version: int, place: tuple[str, str], say: LineSink | None
) -> Stream[pb.BuildProgramResponse, BuildOutcome]:
    """Builds a version for a partition; for a process, without channels, if none is named."""
    site, partition = place
    request = pb.BuildProgramRequest(
        program=program, version=version, site=site, partition=partition
    )
    reader = BuildReader(say)
    return Stream(f"{_SERVICE}/BuildProgram", request, pb.BuildProgramResponse, reader)


class BuildReader:
    """Reads a build: passes its lines on, and keeps the outcome."""

    def __init__(self, say: LineSink | None):
        self._say = say

    def take(self, message: pb.BuildProgramResponse) -> BuildOutcome | None:
        """Returns the outcome; `None` for a line."""
        if message.WhichOneof("content") == "line":
            if self._say is not None:
                self._say(message.line)
            return None
        it = message.outcome
        return BuildOutcome(
            it.succeeded,
            it.hash,
            it.compiler,
            it.was_built_before,
            tuple(
                CompilerRemark(
                    one.is_error, one.file, one.line or None, one.column or None, one.message
                )
                for one in it.problems
            ),
            tuple(it.remarks),
            tuple((one.file, one.why) for one in it.left_out),
            it.lines_left_out,
        )


def succeeded(outcome: BuildOutcome | None) -> BuildOutcome:
    """Returns the outcome of a build that has succeeded.

    Raises:
        BuildError: if it has failed.
        QuietcoreError: if there is none, since the daemon ended the build.
    """
    if outcome is None:
        raise QuietcoreError("the build ended without an outcome", kind="NO_OUTCOME")
    if not outcome.succeeded:
        raise BuildError(outcome)
    return outcome


def list_programs() -> Call[pb.ListProgramsResponse, Programs]:
    """Lists the programs, by name."""
    return Call(
        f"{_SERVICE}/ListPrograms",
        pb.ListProgramsRequest(),
        pb.ListProgramsResponse,
        lambda answer: Programs(
            Program(it.name, it.newest or None, it.version_count) for it in answer.programs
        ),
    )


def list_versions(program: str) -> Call[pb.ListVersionsResponse, ProgramVersions]:
    """Lists the versions of a program, the newest first."""
    return Call(
        f"{_SERVICE}/ListVersions",
        pb.ListVersionsRequest(program=program),
        pb.ListVersionsResponse,
        lambda answer: ProgramVersions(map(_version, answer.versions)),
    )


def deploy(
    place: tuple[str, str], program: str, version: int, *, wait: bool
) -> Call[pb.DeployProgramResponse, Deployed]:
    """Changes a partition's program to a version while it runs."""
    site, partition = place
    request = pb.DeployProgramRequest(
        site=site, partition=partition, program=program, version=version, no_wait=not wait
    )
    return Call(
        f"{_SERVICE}/DeployProgram",
        request,
        pb.DeployProgramResponse,
        lambda answer: _deployed(program, answer.version, answer.deployed),
        DEPLOY_S,
    )


def roll_back(place: tuple[str, str], *, wait: bool) -> Call[pb.RollBackProgramResponse, Deployed]:
    """Changes a partition's program to the version that was deployed before."""
    site, partition = place
    return Call(
        f"{_SERVICE}/RollBackProgram",
        pb.RollBackProgramRequest(site=site, partition=partition, no_wait=not wait),
        pb.RollBackProgramResponse,
        lambda answer: _deployed(answer.program, answer.version, answer.deployed),
        DEPLOY_S,
    )


def delete_version(program: str, version: int) -> Call[pb.DeleteVersionResponse, None]:
    """Deletes a version."""
    return Call(
        f"{_SERVICE}/DeleteVersion",
        pb.DeleteVersionRequest(program=program, version=version),
        pb.DeleteVersionResponse,
        lambda _: None,
    )


def _files(folder: Path) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        # What version control and editors keep there is no part of a program.
        folders[:] = [it for it in folders if not it.startswith(".")]
        for name in files:
            file = Path(at, name)
            if not name.startswith(".") and file.is_file():
                yield file


def _file(folder: Path, file: Path) -> Iterator[pb.UploadProgramRequest]:
    yield pb.UploadProgramRequest(file=file.relative_to(folder).as_posix())
    yield from _chunks(file)


def _chunks(file: Path) -> Iterator[pb.UploadProgramRequest]:
    with file.open("rb") as opened:
        while chunk := opened.read(CHUNK_BYTES):
            yield pb.UploadProgramRequest(chunk=chunk)


def _version(it: pb.ProgramVersion) -> ProgramVersion:
    built = it.last_build
    return ProgramVersion(
        program=it.program,
        number=it.number,
        sha256=it.sha256,
        files=it.files,
        bytes=it.bytes,
        uploaded_at=datetime.fromisoformat(it.uploaded_at),
        uploaded_by=it.uploaded_by,
        last_build=BuiltVersion(
            built.succeeded, built.hash, datetime.fromisoformat(built.built_at), built.built_by
        )
        if it.HasField("last_build")
        else None,
        running_in=tuple(PartitionName(one.site, one.partition) for one in it.running_in),
    )


def _deployed(program: str, version: int, it: pb.DeployedBuild) -> Deployed:
    return Deployed(
        program=program,
        version=version,
        generation=it.generation,
        cycle=it.cycle,
        gap_cycles=it.gap_cycles,
        release_ns=it.release_ns,
        carried=it.carried,
        tuned=tuple(it.tuned),
        not_carried_count=it.not_carried_count,
        not_carried={one.variable: one.why for one in it.not_carried},
        not_forced={one.variable: one.why for one in it.not_forced},
        probation=named(Probation, pb.Probation.Name, it.probation, "PROBATION_"),
        why=it.why,
    )
