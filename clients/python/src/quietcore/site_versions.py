"""Texts of sites that are planned, applied and undone, and their versions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from quietcore.calls import Call, named
from quietcore.display import Listing
from quietcore.v1 import site_version_pb2 as pb

_SERVICE = "quietcore.v1.SiteService"
APPLY_S = 1000.0
"""The longest wait for a site that comes up or down, its programs built; the daemon's is less."""

Chosen = Mapping[str, str | tuple[str, int]]
"""Programs by partition: a name, a name with its version as in `"axis@3"`, or both as a pair."""


class SiteVersionState(StrEnum):
    """What became of a version of a site."""

    BEGUN = "begun"
    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SiteVersion:
    """A text of a site that was applied."""

    site: str
    number: int
    """From 1, and never used again."""
    sha256: str
    """Of the text as it was sent, in hexadecimal digits."""
    received_at: datetime
    received_by: str
    programs: dict[str, tuple[str, int]]
    """The program of each partition: name and version."""
    state: SiteVersionState
    applied_at: datetime | None
    """When it was applied last; `None` in the answer of an application."""
    applied_by: str

    def __str__(self) -> str:
        return f"{self.site} version {self.number}: {self.state}"


class SiteVersions(Listing[SiteVersion]):
    """The versions of a site, the newest first."""

    _columns = (
        ("version", lambda it: it.number),
        ("state", lambda it: it.state),
        ("programs", lambda it: ", ".join(f"{p} {n}" for p, n in it.programs.values())),
        ("applied", lambda it: "" if it.applied_at is None else f"{it.applied_at:%F %T}"),
        ("by", lambda it: it.applied_by),
        ("SHA-256", lambda it: it.sha256[:12]),
    )

    def _caption(self) -> str:
        return f"Versions of {self[0].site}" if self else "No version was applied"


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A sentence of a plan."""

    kind: str
    """`refused`, `degraded`, `shared CPU`, `step` or `watched`."""
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class SitePlan(Listing[PlanEntry]):
    """What would be done for a text, refusals first.

    Attributes:
        site: name of the site.
        document: the document of `quietcore plan --json`.
    """

    _columns = (("", lambda it: it.kind), ("plan", lambda it: it.text))

    def __init__(self, entries: Iterable[PlanEntry] = (), site: str = "", document: str = ""):
        super().__init__(entries)
        self.site = site
        self.document = document

    @property
    def is_possible(self) -> bool:
        """True if nothing keeps the site from coming up."""
        return all(it.kind != "refused" for it in self)

    def _caption(self) -> str:
        return f"{'✓' if self.is_possible else '✗'} Plan of {self.site}"


@dataclass(frozen=True, slots=True)
class AppliedSite:
    """What came of a text that was applied, or of a site that was undone."""

    version: SiteVersion | None
    """The version that runs now; `None` if the site is down."""
    lines: tuple[str, ...]
    """What was said meanwhile; the last lines if there were many."""

    def __str__(self) -> str:
        return "down" if self.version is None else str(self.version)


@dataclass(frozen=True, slots=True)
class SiteText:
    """The text of a site."""

    site: str
    toml: str
    sha256: str
    version: int | None
    """Number of the version; `None` if it did not come by a call."""

    def __str__(self) -> str:
        return self.toml


def text_of(text_or_path: str | os.PathLike[str]) -> str:
    """Returns a text as it is; the content of a file for a path, or a name that ends in `.toml`."""
    if isinstance(text_or_path, str) and not text_or_path.strip().endswith(".toml"):
        return text_or_path
    return Path(text_or_path).read_text(encoding="utf-8")


def plan(toml: str, programs: Chosen | None) -> Call[pb.PlanSiteResponse, SitePlan]:
    """Plans a text."""
    request = pb.PlanSiteRequest(toml=toml, programs=_chosen(programs))
    return Call(f"{_SERVICE}/PlanSite", request, pb.PlanSiteResponse, _plan, APPLY_S)


def apply(
    toml: str, programs: Chosen | None, *, replace: bool
) -> Call[pb.ApplySiteResponse, AppliedSite]:
    """Applies a text."""
    request = pb.ApplySiteRequest(toml=toml, programs=_chosen(programs), replace=replace)
    return Call(f"{_SERVICE}/ApplySite", request, pb.ApplySiteResponse, _applied, APPLY_S)


def undo(site: str, *, before: bool) -> Call[pb.UndoSiteResponse, AppliedSite]:
    """Brings a site down, or the version before up."""
    request = pb.UndoSiteRequest(site=site, before=before)
    return Call(f"{_SERVICE}/UndoSite", request, pb.UndoSiteResponse, _applied, APPLY_S)


def list_versions(site: str) -> Call[pb.ListSiteVersionsResponse, SiteVersions]:
    """Lists the versions of a site."""
    return Call(
        f"{_SERVICE}/ListSiteVersions",
        pb.ListSiteVersionsRequest(site=site),
        pb.ListSiteVersionsResponse,
        lambda answer: SiteVersions(map(_version, answer.versions)),
    )


def get(site: str, version: int) -> Call[pb.GetSiteResponse, SiteText]:
    """Returns the text of a site that runs, or of a version."""
    return Call(
        f"{_SERVICE}/GetSite",
        pb.GetSiteRequest(site=site, version=version),
        pb.GetSiteResponse,
        lambda it: SiteText(it.site, it.toml, it.sha256, it.version or None),
    )


def _chosen(programs: Chosen | None) -> list[pb.PartitionProgram]:
    made = []
    for partition, chosen in (programs or {}).items():
        if isinstance(chosen, str):
            name, _, written = chosen.partition("@")
            number = int(written) if written else 0
        else:
            name, number = chosen
        made.append(pb.PartitionProgram(partition=partition, program=name, version=number))
    return made


def _plan(answer: pb.PlanSiteResponse) -> SitePlan:
    kinds = (
        ("refused", answer.refused),
        ("degraded", answer.degraded),
        ("shared CPU", answer.shared_cpus),
        ("step", answer.steps),
        ("watched", answer.monitored),
    )
    entries = (PlanEntry(kind, text) for kind, texts in kinds for text in texts)
    return SitePlan(entries, answer.site, answer.document)


def _applied(answer: pb.ApplySiteResponse | pb.UndoSiteResponse) -> AppliedSite:
    version = _version(answer.version) if answer.HasField("version") else None
    return AppliedSite(version, tuple(answer.lines))


def _version(version: pb.SiteVersion) -> SiteVersion:
    applied = datetime.fromisoformat(version.applied_at) if version.applied_at else None
    return SiteVersion(
        site=version.site,
        number=version.number,
        sha256=version.sha256,
        received_at=datetime.fromisoformat(version.received_at),
        received_by=version.received_by,
        programs={it.partition: (it.program, it.version) for it in version.programs},
        state=named(
            SiteVersionState, pb.SiteVersionState.Name, version.state, "SITE_VERSION_STATE_"
        ),
        applied_at=applied,
        applied_by=version.applied_by,
    )
