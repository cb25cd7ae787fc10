"""The machine itself: its name, and its fitness for real-time work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from quietcore.calls import Call, named
from quietcore.display import Listing
from quietcore.v1 import host_pb2 as pb

_SERVICE = "quietcore.v1.HostService"


@dataclass(frozen=True, slots=True)
class HostInfo:
    """Name and versions of a machine with its daemon."""

    name: str
    version: str
    """Version of Quietcore, such as `"0.1.0"`."""
    kernel: str
    """Release of the machine's kernel."""


class FindingSeverity(StrEnum):
    """The weight of a finding."""

    OK = "ok"
    """As it should be."""
    ADVICE = "advice"
    """Better otherwise."""
    UNKNOWN = "unknown"
    """It could not be found out."""
    CONFORMANCE = "conformance"
    """A requirement that is not met."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A property of the machine that matters to real-time work."""

    id: str
    """Its name for programs, such as `"preemption-model"`."""
    area: str
    """The part of the machine that it is about, such as `"scheduler"`."""
    severity: FindingSeverity
    subject: str
    """The subject, for people; the device if there are several."""
    read: str
    """The value that was read."""
    right: str
    """The value that would be right."""
    effect: str
    """The cost for real-time work as it is."""
    fix: str
    """The remedy and how to make it permanent; empty where nothing is to be done."""

    def __str__(self) -> str:
        return f"{_SIGNS[self.severity]}: {self.subject}: {self.read}"


_SIGNS = {
    FindingSeverity.OK: "✓ ok",
    FindingSeverity.ADVICE: "! advice",
    FindingSeverity.UNKNOWN: "? unknown",
    FindingSeverity.CONFORMANCE: "✗ not met",
}


class Findings(Listing[Finding]):
    """What `quietcore doctor` finds on a machine."""

    _columns = (
        ("", lambda it: _SIGNS[it.severity]),
        ("subject", lambda it: it.subject),
        ("read", lambda it: it.read),
        ("right", lambda it: it.right),
        ("cost", lambda it: it.effect),
        ("remedy", lambda it: it.fix),
    )

    @property
    def unmet(self) -> Findings:
        """Those that are not as they should be: requirements and advice."""
        severities = (FindingSeverity.CONFORMANCE, FindingSeverity.ADVICE)
        return Findings(it for it in self if it.severity in severities)

    def _caption(self) -> str:
        unmet = sum(it.severity is FindingSeverity.CONFORMANCE for it in self)
        advice = sum(it.severity is FindingSeverity.ADVICE for it in self)
        return f"{len(self)} findings, of them requirements not met: {unmet}, advice: {advice}"


def get_host() -> Call[pb.GetHostResponse, HostInfo]:
    """Asks for the name and the versions of the machine."""
    return Call(
        f"{_SERVICE}/GetHost",
        pb.GetHostRequest(),
        pb.GetHostResponse,
        lambda answer: HostInfo(answer.name, answer.version, answer.kernel),
    )


def examine(cpus: str) -> Call[pb.ExamineHostResponse, Findings]:
    """Examines the machine, as `quietcore doctor` does."""
    return Call(
        f"{_SERVICE}/ExamineHost",
        pb.ExamineHostRequest(cpus=cpus),
        pb.ExamineHostResponse,
        lambda answer: Findings(map(_finding, answer.findings)),
    )


def _finding(it: pb.Finding) -> Finding:
    severity = named(FindingSeverity, pb.FindingSeverity.Name, it.severity, "FINDING_SEVERITY_")
    return Finding(it.id, it.area, severity, it.subject, it.read, it.right, it.effect, it.fix)
