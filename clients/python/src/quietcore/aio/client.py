"""Hosts for asyncio; what each call does is told in `quietcore.client`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

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
from quietcore.aio.running import Partition, Site, build_with
from quietcore.aio.started import Run, Trace
from quietcore.aio.transport import Transport
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
from quietcore.site_versions import AppliedSite, Chosen, SitePlan
from quietcore.sites import CheckedSite, RunningSites
from quietcore.target import Target, choose
from quietcore.traces import Traces
from quietcore.transport import TIMEOUT_S

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
) -> Connecting:
    """Connects to the daemon of a machine, as `quietcore.connect` does.

    Either `async with connect() as host`, or `host = await connect()` and at its end
    `await host.close()`.
    """
    target = choose(
        address, access=access, certificate=certificate, key=key, authority=authority, token=token
    )
    return Connecting(target, timeout)


class Connecting:
    """A connection that is made when it is awaited or entered."""

    def __init__(self, target: Target, timeout: float):
        self._target = target
        self._timeout = timeout
        self._host: Host | None = None

    def __await__(self) -> Generator[Any, None, Host]:
        return self._connect().__await__()

    async def _connect(self) -> Host:
        transport = Transport(self._target, self._timeout)
        try:
            return Host(transport, await transport.ask(machine.get_host()))
        except BaseException:
            await transport.close()
            raise

    async def __aenter__(self) -> Host:
        self._host = await self._connect()
        return self._host

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._host is not None:
            await self._host.close()


class Host:
    """A machine, as its daemon serves it. `connect` makes one."""

    def __init__(self, transport: Transport, info: HostInfo):
        self._transport = transport
        self.info = info
        """Name and versions of the machine, as of when the connection was made."""

    async def sites(self) -> RunningSites:
        """Lists the sites that run, by name."""
        return await self._transport.ask(sites.list_sites())

    def site(self, name: str = "") -> Site:
        """Returns a site by name; without one the only site that runs. Asks nothing yet."""
        return Site(self._transport, name)

    def partition(self, name: str, *, site: str = "") -> Partition:
        """Returns a partition of a site, of the only one that runs if none is named."""
        return Site(self._transport, site).partition(name)

    async def check(self, path: str | os.PathLike[str]) -> CheckedSite:
        """Checks a site file of this computer and returns all its problems. Starts nothing."""
        text = await asyncio.to_thread(Path(path).read_text, encoding="utf-8")
        return await self.check_text(text)

    async def check_text(self, toml: str) -> CheckedSite:
        """Checks the text of a site file, 1 MiB at most."""
        return await self._transport.ask(sites.validate(toml))

    async def plan(
        self, text_or_path: str | os.PathLike[str], programs: Chosen | None = None
    ) -> SitePlan:
        """Says what `quietcore plan` would of a text of a site. Nothing is kept of it.

        Args:
            text_or_path: the text, or the path of a file with it.
            programs: programs by partition, as in `{"axis": "servo@3"}`; where none is given for
                a partition, the text's `model` names it.
        """
        toml = site_versions.text_of(text_or_path)
        return await self._transport.ask(site_versions.plan(toml, programs))

    async def apply(
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
        return await self._transport.ask(site_versions.apply(toml, programs, replace=replace))

    async def doctor(self, cpus: str = "") -> Findings:
        """Examines the machine, as `quietcore doctor` does; takes up to some seconds."""
        return await self._transport.ask(machine.examine(cpus))

    async def cpus(self) -> Cpus:
        """Lists the CPUs of the machine, and who has them."""
        return await self._transport.ask(cpus.list_cpus())

    async def programs(self) -> Programs:
        """Lists the programs that were sent to the machine, by name."""
        return await self._transport.ask(programs.list_programs())

    async def versions(self, program: str) -> ProgramVersions:
        """Lists the versions of a program, the newest first."""
        return await self._transport.ask(programs.list_versions(program))

    async def upload(
        self, path: str | os.PathLike[str], *, program: str | None = None
    ) -> ProgramVersion:
        """Sends a folder of generated code, or an archive of one, as a new version of a program."""
        name = programs.program_name(path) if program is None else program
        upload = await asyncio.to_thread(programs.upload, name, path)
        return await self._transport.send(upload)

    async def build(
        self, program: str, *, version: int = 0, say: LineSink | None = None
    ) -> BuildOutcome:
        """Builds a version in the machine's sandbox, for a process without channels."""
        return await build_with(self._transport, programs.build(program, version, ("", ""), say))

    async def delete_version(self, program: str, version: int) -> None:
        """Deletes a version, unless a partition runs it."""
        await self._transport.ask(programs.delete_version(program, version))

    async def audit(
        self,
        *,
        since: int = 0,
        site: str = "",
        partition: str = "",
        who: str = "",
        limit: int = audit.ENTRIES,
    ) -> AuditTrail:
        """Reads the audit trail: who has changed what, the oldest entry first."""
        collected = audit.Collected(since, audit.Wanted(site, partition, who), limit)
        while (call := collected.next_call()) is not None:
            collected.add(await self._transport.ask(call))
        return collected.trail()

    async def qualify(
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
        measured = qualification.Measured(site, await _text_of(file))
        return await self._started(qualification.qualify(measured, profiles, seconds))

    async def tune(
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
        measured = qualification.Measured(site, await _text_of(file))
        of = qualification.Rounds(rounds, block, seed)
        return await self._started(qualification.tune(measured, of, profile, controls, confirm))

    async def disturb(
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
        measured = qualification.Measured(site, await _text_of(file))
        of = qualification.Rounds(rounds, block, seed)
        return await self._started(qualification.disturb(measured, of, partitions, aggressors))

    async def _started(self, call: Call[Any, RunInfo]) -> Run:
        return Run(self._transport, (await self._transport.ask(call)).number)

    def run(self, number: int) -> Run:
        """Returns a run by its number. Asks nothing yet."""
        return Run(self._transport, number)

    def trace(self, number: int) -> Trace:
        """Returns a trace by its number. Asks nothing yet."""
        return Trace(self._transport, number)

    async def traces(self) -> Traces:
        """Lists the traces that run and those that are kept, the oldest first."""
        return await self._transport.ask(traces.list_traces())

    async def runs(self) -> Runs:
        """Lists the runs that are kept, the newest first."""
        return await self._transport.ask(qualification.list_runs())

    async def verdicts(self) -> StandingVerdicts:
        """Lists the newest verdict of each site, partition and class, and whether it holds now."""
        return await self._transport.ask(qualification.list_verdicts())

    async def close(self) -> None:
        """Ends the connection and all that is followed by it."""
        await self._transport.close()

    def __repr__(self) -> str:
        return f"<Host {self.info.name} at {self._transport.target.name}>"


async def _text_of(file: str | os.PathLike[str] | None) -> str | None:
    return None if file is None else await asyncio.to_thread(Path(file).read_text, encoding="utf-8")
