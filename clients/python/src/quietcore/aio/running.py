"""Sites and partitions for asyncio; what each call does is told in `quietcore.running`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from quietcore import partitions, programs, site_versions, sites, timing, traces, variables
from quietcore.aio.started import Trace
from quietcore.aio.transport import Events, Following, Transport, Watch
from quietcore.calls import Stream
from quietcore.partitions import Activity, Held, Partitions, PartitionState, RestartKind
from quietcore.programs import BuildOutcome, Deployed, LineSink
from quietcore.running import find, not_at
from quietcore.site_versions import AppliedSite, SiteText, SiteVersions
from quietcore.started import LOOK_S
from quietcore.timing import Timing
from quietcore.traces import Traces
from quietcore.transport import TIMEOUT_S
from quietcore.v1 import program_pb2
from quietcore.values import Value, Writable
from quietcore.variables import (
    INTERVAL_S,
    Applied,
    AppliedChanges,
    Change,
    Values,
    Variable,
    Variables,
    the_only_one,
)

if TYPE_CHECKING:
    import pandas as pd


class Site:
    """A site that runs. `Host.site` makes one."""

    def __init__(self, transport: Transport, name: str):
        self._transport = transport
        self.name = name
        """Its name; empty for the only site that runs."""

    async def partitions(self) -> Partitions:
        """Lists its partitions in figures."""
        return await self._transport.ask(partitions.list_partitions(self.name))

    def partition(self, name: str) -> Partition:
        """Returns a partition by name. Asks nothing yet."""
        return Partition(self._transport, self.name, name)

    async def undo(self, *, before: bool = False) -> AppliedSite:
        """Brings the site down and gives all settings back, as `quietcore down` does.

        Args:
            before: whether the version before is brought up in its place.
        """
        return await self._transport.ask(site_versions.undo(self.name, before=before))

    async def versions(self) -> SiteVersions:
        """Lists the versions of the site that were applied, the newest first."""
        return await self._transport.ask(site_versions.list_versions(self.name))

    async def text(self, version: int = 0) -> SiteText:
        """Returns the text of the site that runs, or of a version."""
        return await self._transport.ask(site_versions.get(self.name, version))

    def events(self, *, since: int = 0, seconds: float | None = None) -> Events:
        """Follows its events: those that it keeps, then each as it happens."""
        return Events(self._transport, sites.watch_events(self.name, None, since), seconds)

    async def changes(self, *, since: int = 0) -> AppliedChanges:
        """Lists the changes of variables that clients have made lately, each with its author."""
        return await self._transport.ask(variables.list_changes(self.name, since))

    def __repr__(self) -> str:
        return f"<Site {self.name or 'that runs'}>"


class Partition:
    """A partition of a running site. `Site.partition` makes one."""

    def __init__(self, transport: Transport, site: str, name: str):
        self._transport = transport
        self._site = site
        self.name = name

    async def state(self) -> PartitionState:
        """Returns its state in figures."""
        return find(await self._transport.ask(partitions.list_partitions(self._site)), self.name)

    async def timing(self) -> Timing:
        """Returns its timing since its process started: histograms and worst cycles."""
        return await self._transport.ask(timing.get(self._site, self.name))

    async def variables(self, pattern: str = "") -> Variables:
        """Lists the variables of its program that a pattern chooses; all for an empty one."""
        found: list[Variable] = []
        token = ""
        while True:
            call = variables.list_variables(self._site, self.name, pattern, token)
            page = await self._transport.ask(call)
            found.extend(page.variables)
            token = page.next_token
            if not token:
                return Variables(found, page.generation)

    async def read(self, *patterns: str) -> Values:
        """Reads variables, 10 000 at most, of one instant between two cycles."""
        return await self._transport.ask(variables.read(self._site, self.name, patterns))

    async def value(self, path: str) -> Value:
        """Reads one variable."""
        return the_only_one(await self.read(path), path)

    async def write(
        self, values: Mapping[str, Writable], *, confirm: bool = False, allow_nan: bool = False
    ) -> Applied:
        """Sets variables, 64 at most, between two cycles: all of them or none."""
        return await self._change(variables.sets(values, allow_nan=allow_nan), confirm)

    async def force(
        self, values: Mapping[str, Writable], *, confirm: bool = False, allow_nan: bool = False
    ) -> Applied:
        """Holds variables at values until they are let go; otherwise as `write`."""
        return await self._change(variables.forces(values, allow_nan=allow_nan), confirm)

    async def unforce(self, *paths: str) -> Applied:
        """Lets forced variables go, 64 at most, between two cycles."""
        return await self._change(tuple(map(Change.unforce, paths)), False)

    async def unforce_all(self) -> Applied:
        """Lets all forced variables go, whoever has forced them."""
        return await self._transport.ask(variables.unforce_all(self._site, self.name))

    async def change(self, *changes: Change, confirm: bool = False) -> Applied:
        """Makes changes of several kinds, 64 at most, in one group before the same cycle."""
        return await self._change(changes, confirm)

    async def _change(self, changes: tuple[Change, ...], confirm: bool) -> Applied:
        call = variables.change(self._site, self.name, changes, confirm=confirm)
        return (await self._transport.ask(call)).warn(stacklevel=3)

    @asynccontextmanager
    async def forced(
        self, values: Mapping[str, Writable], *, allow_nan: bool = False
    ) -> AsyncIterator[Applied]:
        """Holds variables at values as long as an `async with` block runs."""
        before = await self.read(*values)
        applied = await self._change(variables.forces(values, allow_nan=allow_nan), False)
        try:
            yield applied
        finally:
            await self._change(variables.as_before(before), False)

    def watch(
        self,
        *patterns: str,
        interval: float = INTERVAL_S,
        deadband: float = 0.0,
        seconds: float | None = None,
    ) -> Watch:
        """Follows variables, 10 000 at most: a sample whenever some have changed."""
        stream, reader = variables.subscribe(self._site, self.name, patterns, interval, deadband)
        return Watch(self._transport, stream, reader, seconds)

    async def frame(
        self,
        *patterns: str,
        seconds: float,
        interval: float = INTERVAL_S,
        deadband: float = 0.0,
    ) -> pd.DataFrame:
        """Follows variables for some seconds and returns a data frame, a row for each sample."""
        from quietcore.frames import frame_of

        watch = self.watch(*patterns, interval=interval, deadband=deadband, seconds=seconds)
        async with watch as samples:
            return frame_of([sample async for sample in samples])

    async def trace(
        self,
        *patterns: str,
        after: int,
        before: int = 0,
        trigger: str = "",
        every: int = 1,
        task: int = 0,
        windows: int = 1,
    ) -> Trace:
        """Starts a trace: variables cycle by cycle, none left out, without this program."""
        of = traces.Settings(patterns, trigger, before, after, every, task, windows)
        info = await self._transport.ask(traces.start(self._site, self.name, of))
        return Trace(self._transport, info.number)

    async def traces(self) -> Traces:
        """Lists its traces, the oldest first."""
        return await self._transport.ask(traces.list_traces(self._site, self.name))

    def events(self, *, since: int = 0, seconds: float | None = None) -> Events:
        """Follows its events, as `Site.events` does those of all partitions."""
        stream = sites.watch_events(self._site, self.name, since)
        return Events(self._transport, stream, seconds)

    async def pause(self) -> Held:
        """Holds its program between two cycles; its fieldbus gets no frames meanwhile."""
        return await self._transport.ask(partitions.pause(self._site, self.name))

    async def resume(self) -> Held:
        """Lets its program go on."""
        return await self._transport.ask(partitions.resume(self._site, self.name))

    async def restart(self, kind: RestartKind = "warm") -> None:
        """Starts its program anew, and waits until it runs."""
        await self._transport.ask(partitions.restart(self._site, self.name, kind))

    async def build(
        self, program: str, *, version: int = 0, say: LineSink | None = None
    ) -> BuildOutcome:
        """Builds a version for this partition, with its backend, options and channels."""
        place = (self._site, self.name)
        return await build_with(self._transport, programs.build(program, version, place, say))

    async def deploy(self, program: str, *, version: int = 0, wait: bool = True) -> Deployed:
        """Changes its program to a version while it runs, with the values of its variables."""
        place = (self._site, self.name)
        return await self._transport.ask(programs.deploy(place, program, version, wait=wait))

    async def roll_back(self, *, wait: bool = True) -> Deployed:
        """Changes its program to the version that was deployed before the one that runs."""
        return await self._transport.ask(programs.roll_back((self._site, self.name), wait=wait))

    async def wait_for(
        self, activity: Activity | str, *, timeout: float = TIMEOUT_S
    ) -> PartitionState:
        """Waits until it is at an activity, such as `"running"`, and returns its state."""
        wanted = Activity(activity)
        end = time.monotonic() + timeout
        while True:
            state = await self.state()
            if state.activity is wanted:
                return state
            if time.monotonic() > end:
                raise not_at(state, wanted, timeout)
            await asyncio.sleep(LOOK_S)

    def __repr__(self) -> str:
        return f"<Partition {self.name}>"


async def build_with(
    transport: Transport, stream: Stream[program_pb2.BuildProgramResponse, BuildOutcome]
) -> BuildOutcome:
    """Carries a build out, as `quietcore.running.build_with` does."""
    async with Following(transport, stream, None) as outcomes:
        return programs.succeeded(await anext(outcomes, None))
