"""Hosts, for programs that wait for each answer; their sites and partitions are in `running`.

`quietcore.aio` has the same for asyncio; what a call says and how its answer is read is in the
modules of the subjects, once for both.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from quietcore import (
    audit,
    cpus,
    machine,
    programs,
    qualification,
    site_versions,
    sites,
    traces,
)
from quietcore.audit import AuditTrail
from quietcore.calls import Call
from quietcore.cpus import Cpus
from quietcore.machine import Findings, HostInfo
from quietcore.programs import (
    BuildOutcome,
    LineSink,
    Programs,
    ProgramVersion,
    ProgramVersions,
)
from quietcore.qualification import (
    RunInfo,
    Runs,
    StandingVerdicts,
)
from quietcore.running import Partition, Site, build_with
from quietcore.site_versions import AppliedSite, Chosen, SitePlan
from quietcore.sites import CheckedSite, RunningSites
from quietcore.started import Run, Trace
from quietcore.target import choose
from quietcore.traces import Traces
from quietcore.transport import TIMEOUT_S, Transport

if TYPE_CHECKING:
    pass

Item = TypeVar("Item")


def connect(
    address: str | None = None,
    *,
    access: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    authority: str | os.PathLike[str] | None = None,
    token: str | None = None,
    timeout: float = TIMEOUT_S,
) -> Host:
    """Connects to the daemon of a machine; of this one if no address is given.

    On this machine the daemon of the same user is found as the command line finds it, by its
    socket, and the kernel tells it who calls. Another machine is reached by TLS, and the caller
    shows a certificate or a token.

    Args:
        address: `"HOST:PORT"`, or `"unix:PATH"` of a socket.
        access: folder that `quietcore auth issue` has made: certificate, key and authority.
        certificate: file with the caller's certificate (PEM), where there is no such folder.
        key: file with its key (PEM).
        authority: file with the certificate of the authority that the daemon's own is checked
            against (PEM); those of the system if none is given.
        token: a token in place of a certificate.
        timeout: the longest wait for each answer, in seconds.

    Raises:
        UnavailableError: if no daemon answers there.
        AccessError: if the caller may not.
        ValueError: if the arguments do not go together.
    """
    target = choose(
        address, access=access, certificate=certificate, key=key, authority=authority, token=token
    )
    transport = Transport(target, timeout)
    try:
        return Host(transport, transport.ask(machine.get_host()))
    except BaseException:
        transport.close()
        raise


class Host:
    """A machine, as its daemon serves it. `connect` makes one."""

    def __init__(self, transport: Transport, info: HostInfo):
        self._transport = transport
        self.info = info
        """Name and versions of the machine, as of when the connection was made."""

    def sites(self) -> RunningSites:
        """Lists the sites that run, by name."""
        return self._transport.ask(sites.list_sites())

    def site(self, name: str = "") -> Site:
        """Returns a site by name; without one the only site that runs. Asks nothing yet."""
        return Site(self._transport, name)

    def partition(self, name: str, *, site: str = "") -> Partition:
        """Returns a partition of a site, of the only one that runs if none is named."""
        return Site(self._transport, site).partition(name)

    def check(self, path: str | os.PathLike[str]) -> CheckedSite:
        """Checks a site file of this computer and returns all its problems. Starts nothing."""
        return self.check_text(Path(path).read_text(encoding="utf-8"))

    def check_text(self, toml: str) -> CheckedSite:
        """Checks the text of a site file, 1 MiB at most."""
        return self._transport.ask(sites.validate(toml))

    def plan(
        self, text_or_path: str | os.PathLike[str], programs: Chosen | None = None
    ) -> SitePlan:
        """Says what `quietcore plan` would of a text of a site. Nothing is kept of it.

        Args:
            text_or_path: the text, or the path of a file with it.
            programs: programs by partition, as in `{"axis": "servo@3"}`; where none is given for
                a partition, the text's `model` names it.
        """
        toml = site_versions.text_of(text_or_path)
        return self._transport.ask(site_versions.plan(toml, programs))

    def apply(
        self,
        text_or_path: str | os.PathLike[str],
        programs: Chosen | None = None,
        *,
        replace: bool = False,
    ) -> AppliedSite:
        """Keeps a text as a version of its site and brings it up.

        It takes the place of the site of its name that runs. If it does not come up, that one
        comes back, and the call is refused.

        Args:
            text_or_path: the text, or the path of a file with it.
            programs: programs by partition, as for a plan.
            replace: whether a site that was started otherwise, such as at a terminal, is replaced.

        Raises:
            InvalidRequestError: with each problem of the text.
            NotPossibleError: if the site did not come up.
        """
        toml = site_versions.text_of(text_or_path)
        return self._transport.ask(site_versions.apply(toml, programs, replace=replace))

    def doctor(self, cpus: str = "") -> Findings:
        """Examines the machine, as `quietcore doctor` does; takes up to some seconds.

        Args:
            cpus: CPUs of a partition that the findings are about, such as `"2-3"`; those that are
                isolated if empty, or all where none is.
        """
        return self._transport.ask(machine.examine(cpus))

    def cpus(self) -> Cpus:
        """Lists the CPUs of the machine, and who has them."""
        return self._transport.ask(cpus.list_cpus())

    def programs(self) -> Programs:
        """Lists the programs that were sent to the machine, by name."""
        return self._transport.ask(programs.list_programs())

    def versions(self, program: str) -> ProgramVersions:
        """Lists the versions of a program, the newest first."""
        return self._transport.ask(programs.list_versions(program))

    def upload(self, path: str | os.PathLike[str], *, program: str | None = None) -> ProgramVersion:
        """Sends a folder of generated code, or an archive of one, as a new version of a program.

        Files whose name begins with a dot are left out. The version is kept whole or not at all.

        Args:
            path: the folder, or a `.zip`, `.tar` or `.tar.gz`.
            program: name of the program; that of the folder, without `_ert_rtw`, if none is given.
        """
        name = programs.program_name(path) if program is None else program
        return self._transport.send(programs.upload(name, path))

    def build(self, program: str, *, version: int = 0, say: LineSink | None = None) -> BuildOutcome:
        """Builds a version in the machine's sandbox, for a process without channels.

        `Partition.build` does so with what a partition needs.

        Args:
            program: its name.
            version: number of the version; the newest if 0.
            say: gets each line of the compiler as it comes, such as `print`.

        Raises:
            BuildError: if there is no program; it has what the compiler says.
        """
        return build_with(self._transport, programs.build(program, version, ("", ""), say))

    def delete_version(self, program: str, version: int) -> None:
        """Deletes a version, unless a partition runs it."""
        self._transport.ask(programs.delete_version(program, version))

    def audit(
        self,
        *,
        since: int = 0,
        site: str = "",
        partition: str = "",
        who: str = "",
        limit: int = audit.ENTRIES,
    ) -> AuditTrail:
        """Reads the audit trail: who has changed what, the oldest entry first.

        Args:
            since: the first number wanted; that of the next one is in the answer.
            site: the site whose entries are wanted; all if empty.
            partition: the partition, likewise.
            who: the user, or the name in a certificate, likewise.
            limit: the most entries of the answer.
        """
        collected = audit.Collected(since, audit.Wanted(site, partition, who), limit)
        while (call := collected.next_call()) is not None:
            collected.add(self._transport.ask(call))
        return collected.trail()

    def qualify(
        self,
        *,
        site: str = "",
        file: str | os.PathLike[str] | None = None,
        profiles: Sequence[str] = (),
        seconds: float = 0.0,
    ) -> Run:
        """Starts a campaign, which judges a site, as `quietcore qualify` does.

        Args:
            site: a site that runs, whose site file is taken; the only one if empty. Of one that is
                down and was applied, the version that was up last.
            file: a site file of this computer, in place of `site`. It may use the probe alone: no
                program, image or network interface.
            profiles: the profiles to measure; those of the site if none is named.
            seconds: time of each profile; as the site says if 0.

        Raises:
            BusyError: while another run goes on; it says which.
        """
        measured = qualification.Measured(site, _text_of(file))
        return self._started(qualification.qualify(measured, profiles, seconds))

    def tune(
        self,
        *,
        site: str = "",
        file: str | os.PathLike[str] | None = None,
        profile: str = "",
        controls: Sequence[str] = (),
        confirm: float = 0.0,
        rounds: int = 0,
        block: float = 0.0,
        seed: int = 0,
    ) -> Run:
        """Finds out which controls of the machine a site needs, as `quietcore tune` does.

        Zero and nothing stand for the usual; times are in seconds. The rest is as in `qualify`.
        """
        measured = qualification.Measured(site, _text_of(file))
        of = qualification.Rounds(rounds, block, seed)
        return self._started(qualification.tune(measured, of, profile, controls, confirm))

    def disturb(
        self,
        *,
        site: str = "",
        file: str | os.PathLike[str] | None = None,
        partitions: Sequence[str] = (),
        aggressors: Sequence[str] = (),
        rounds: int = 0,
        block: float = 0.0,
        seed: int = 0,
    ) -> Run:
        """Finds out what each kind of neighbour does to partitions, as `quietcore disturb` does.

        Zero and nothing stand for the usual; times are in seconds. The rest is as in `qualify`.
        """
        measured = qualification.Measured(site, _text_of(file))
        of = qualification.Rounds(rounds, block, seed)
        return self._started(qualification.disturb(measured, of, partitions, aggressors))

    def _started(self, call: Call[Any, RunInfo]) -> Run:
        return Run(self._transport, self._transport.ask(call).number)

    def run(self, number: int) -> Run:
        """Returns a run by its number. Asks nothing yet."""
        return Run(self._transport, number)

    def trace(self, number: int) -> Trace:
        """Returns a trace by its number. Asks nothing yet."""
        return Trace(self._transport, number)

    def traces(self) -> Traces:
        """Lists the traces that run and those that are kept, the oldest first."""
        return self._transport.ask(traces.list_traces())

    def runs(self) -> Runs:
        """Lists the runs that are kept, the newest first."""
        return self._transport.ask(qualification.list_runs())

    def verdicts(self) -> StandingVerdicts:
        """Lists the newest verdict of each site, partition and class, and whether it holds now."""
        return self._transport.ask(qualification.list_verdicts())

    def close(self) -> None:
        """Ends the connection and all that is followed by it."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Host {self.info.name} at {self._transport.target.name}>"


def _text_of(file: str | os.PathLike[str] | None) -> str | None:
    return None if file is None else Path(file).read_text(encoding="utf-8")
