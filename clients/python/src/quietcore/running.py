"""Sites and partitions that run, for programs that wait for each answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from quietcore import partitions, programs, site_versions, sites, timing, traces, variables
from quietcore.calls import Stream
from quietcore.errors import NotFoundError, TimedOutError
from quietcore.partitions import Activity, Held, Partitions, PartitionState, RestartKind
from quietcore.programs import BuildOutcome, Deployed, LineSink
from quietcore.site_versions import AppliedSite, SiteText, SiteVersions
from quietcore.started import LOOK_S, Trace
from quietcore.timing import Timing
from quietcore.traces import Traces
from quietcore.transport import TIMEOUT_S, Events, Following, Transport, Watch
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

    def partitions(self) -> Partitions:
        """Lists its partitions in figures."""
        return self._transport.ask(partitions.list_partitions(self.name))

    def partition(self, name: str) -> Partition:
        """Returns a partition by name. Asks nothing yet."""
        return Partition(self._transport, self.name, name)

    def undo(self, *, before: bool = False) -> AppliedSite:
        """Brings the site down and gives all settings back, as `quietcore down` does.

        Args:
            before: whether the version before is brought up in its place.
        """
        return self._transport.ask(site_versions.undo(self.name, before=before))

    def versions(self) -> SiteVersions:
        """Lists the versions of the site that were applied, the newest first."""
        return self._transport.ask(site_versions.list_versions(self.name))

    def text(self, version: int = 0) -> SiteText:
        """Returns the text of the site that runs, or of a version."""
        return self._transport.ask(site_versions.get(self.name, version))

    def events(self, *, since: int = 0, seconds: float | None = None) -> Events:
        """Follows its events: those that it keeps, then each as it happens.

        Args:
            since: the first number wanted, from 0.
            seconds: the end, so many seconds from now; without it the stream goes on.
        """
        return Events(self._transport, sites.watch_events(self.name, None, since), seconds)

    def changes(self, *, since: int = 0) -> AppliedChanges:
        """Lists the changes of variables that clients have made lately, each with its author.

        Args:
            since: the first number wanted, from 0; that of the next one is in the answer.
        """
        return self._transport.ask(variables.list_changes(self.name, since))

    def __repr__(self) -> str:
        return f"<Site {self.name or 'that runs'}>"

    def _repr_html_(self) -> str:
        return self.partitions()._repr_html_()


class Partition:
    """A partition of a running site. `Site.partition` makes one.

    Patterns are paths of variables with `*` and `?`, such as `"servo_P.*"`. A variable that is not
    there is refused with `NotFoundError`, which names the nearest one.
    """

    def __init__(self, transport: Transport, site: str, name: str):
        self._transport = transport
        self._site = site
        self.name = name

    def state(self) -> PartitionState:
        """Returns its state in figures."""
        found = self._transport.ask(partitions.list_partitions(self._site))
        return find(found, self.name)

    def timing(self) -> Timing:
        """Returns its timing since its process started: histograms and worst cycles.

        >>> axis.timing().task("main").release.p99_ns
        """
        return self._transport.ask(timing.get(self._site, self.name))

    def variables(self, pattern: str = "") -> Variables:
        """Lists the variables of its program that a pattern chooses; all for an empty one."""
        found: list[Variable] = []
        token = ""
        while True:
            page = self._transport.ask(
                variables.list_variables(self._site, self.name, pattern, token)
            )
            found.extend(page.variables)
            token = page.next_token
            if not token:
                return Variables(found, page.generation)

    def read(self, *patterns: str) -> Values:
        """Reads variables, 10 000 at most, of one instant between two cycles."""
        return self._transport.ask(variables.read(self._site, self.name, patterns))

    def value(self, path: str) -> Value:
        """Reads one variable."""
        return the_only_one(self.read(path), path)

    def write(
        self, values: Mapping[str, Writable], *, confirm: bool = False, allow_nan: bool = False
    ) -> Applied:
        """Sets variables, 64 at most, between two cycles: all of them or none.

        A change without effect is warned of (`NoEffectWarning`).

        Args:
            values: the values by path.
            confirm: wait until each task has run once more, so that a value that the program
                writes back at once is found.
            allow_nan: allow NaN and infinite values, which are refused otherwise.
        """
        return self._change(variables.sets(values, allow_nan=allow_nan), confirm)

    def force(
        self, values: Mapping[str, Writable], *, confirm: bool = False, allow_nan: bool = False
    ) -> Applied:
        """Holds variables at values until they are let go; otherwise as `write`."""
        return self._change(variables.forces(values, allow_nan=allow_nan), confirm)

    def unforce(self, *paths: str) -> Applied:
        """Lets forced variables go, 64 at most, between two cycles."""
        return self._change(tuple(map(Change.unforce, paths)), False)

    def unforce_all(self) -> Applied:
        """Lets all forced variables go, whoever has forced them."""
        return self._transport.ask(variables.unforce_all(self._site, self.name))

    def change(self, *changes: Change, confirm: bool = False) -> Applied:
        """Makes changes of several kinds, 64 at most, in one group before the same cycle.

        >>> axis.change(Change.set("servo_P.Kp", 3.5), Change.unforce("servo_U.enable"))
        """
        return self._change(changes, confirm)

    def _change(self, changes: tuple[Change, ...], confirm: bool) -> Applied:
        call = variables.change(self._site, self.name, changes, confirm=confirm)
        return self._transport.ask(call).warn(stacklevel=3)

    @contextmanager
    def forced(
        self, values: Mapping[str, Writable], *, allow_nan: bool = False
    ) -> Iterator[Applied]:
        """Holds variables at values as long as a `with` block runs.

        At its end they are let go; those that were forced before are forced as they were. If this
        process is killed meanwhile, they stay forced.
        """
        before = self.read(*values)
        applied = self._change(variables.forces(values, allow_nan=allow_nan), False)
        try:
            yield applied
        finally:
            self._change(variables.as_before(before), False)

    def watch(
        self,
        *patterns: str,
        interval: float = INTERVAL_S,
        deadband: float = 0.0,
        seconds: float | None = None,
    ) -> Watch:
        """Follows variables, 10 000 at most: a sample whenever some have changed.

        Args:
            patterns: paths or patterns.
            interval: time between two samples in seconds, from 0.001 to 60.
            deadband: a number is sent again only when it differs from what was sent last by more
                than this; 0 sends each change.
            seconds: the end, so many seconds from the first sample; without it the stream goes on.
        """
        stream, reader = variables.subscribe(self._site, self.name, patterns, interval, deadband)
        return Watch(self._transport, stream, reader, seconds)

    def frame(
        self,
        *patterns: str,
        seconds: float,
        interval: float = INTERVAL_S,
        deadband: float = 0.0,
    ) -> pd.DataFrame:
        """Follows variables for some seconds and returns a data frame, with a row for each sample.

        Rows are indexed by `cycle` and `time` (UTC); a column is a variable. There is no row while
        nothing changes. Needs pandas (`pip install quietcore[data]`).
        """
        from quietcore.frames import frame_of

        with self.watch(
            *patterns, interval=interval, deadband=deadband, seconds=seconds
        ) as samples:
            return frame_of(samples)

    def trace(
        self,
        *patterns: str,
        after: int,
        before: int = 0,
        trigger: str = "",
        every: int = 1,
        task: int = 0,
        windows: int = 1,
    ) -> Trace:
        """Starts a trace: variables cycle by cycle, none left out, without this program.

        Args:
            patterns: paths or patterns; they choose 64 variables at most, the trigger's included.
            trigger: the begin of a window, as `quietcore trace --trigger` has it, such as
                `"rising servo_Y.torque > 0.5"`; without one a window begins at once.
            before: the most samples of a window from before its trigger.
            after: samples from that of the trigger on.
            every: cycles from one sample to the next.
            task: number of the task whose cycles are meant; 0 is the fastest.
            windows: windows that are kept, each with a trigger of its own.

        Raises:
            BusyError: while another trace, or `quietcore trace`, records the partition.
            InvalidRequestError: if the rows would have more than 16 MiB.
        """
        of = traces.Settings(patterns, trigger, before, after, every, task, windows)
        info = self._transport.ask(traces.start(self._site, self.name, of))
        return Trace(self._transport, info.number)

    def traces(self) -> Traces:
        """Lists its traces, the oldest first."""
        return self._transport.ask(traces.list_traces(self._site, self.name))

    def events(self, *, since: int = 0, seconds: float | None = None) -> Events:
        """Follows its events, as `Site.events` does those of all partitions."""
        stream = sites.watch_events(self._site, self.name, since)
        return Events(self._transport, stream, seconds)

    def pause(self) -> Held:
        """Holds its program between two cycles; its fieldbus gets no frames meanwhile."""
        return self._transport.ask(partitions.pause(self._site, self.name))

    def resume(self) -> Held:
        """Lets its program go on."""
        return self._transport.ask(partitions.resume(self._site, self.name))

    def restart(self, kind: RestartKind = "warm") -> None:
        """Starts its program anew, and waits until it runs.

        Args:
            kind: what it keeps: `"warm"` retained variables, `"cold"` nothing but forces,
                `"origin"` nothing.
        """
        self._transport.ask(partitions.restart(self._site, self.name, kind))

    def build(self, program: str, *, version: int = 0, say: LineSink | None = None) -> BuildOutcome:
        """Builds a version for this partition, with its backend, options and channels.

        Arguments and errors are those of `Host.build`.
        """
        place = (self._site, self.name)
        return build_with(self._transport, programs.build(program, version, place, say))

    def deploy(self, program: str, *, version: int = 0, wait: bool = True) -> Deployed:
        """Changes its program to a version while it runs, with the values of its variables.

        If the program fails within its probation, the one before comes back: `Deployed.probation`
        and `why` say so.

        Args:
            program: name of the program.
            version: number of the version; the newest if 0.
            wait: wait for the end of the probation; else until the first cycle.
        """
        place = (self._site, self.name)
        return self._transport.ask(programs.deploy(place, program, version, wait=wait))

    def roll_back(self, *, wait: bool = True) -> Deployed:
        """Changes its program to the version that was deployed before the one that runs."""
        return self._transport.ask(programs.roll_back((self._site, self.name), wait=wait))

    def wait_for(self, activity: Activity | str, *, timeout: float = TIMEOUT_S) -> PartitionState:
        """Waits until it is at an activity, such as `"running"`, and returns its state.

        Raises:
            TimedOutError: after `timeout` seconds.
            ValueError: if there is no such activity.
        """
        wanted = Activity(activity)
        end = time.monotonic() + timeout
        while True:
            state = self.state()
            if state.activity is wanted:
                return state
            if time.monotonic() > end:
                raise not_at(state, wanted, timeout)
            time.sleep(LOOK_S)

    def __repr__(self) -> str:
        return f"<Partition {self.name}>"

    def _repr_html_(self) -> str:
        return self.state()._repr_html_()


def build_with(
    transport: Transport, stream: Stream[program_pb2.BuildProgramResponse, BuildOutcome]
) -> BuildOutcome:
    """Carries a build out.

    Raises:
        BuildError: if there is no program.
    """
    with Following(transport, stream, None) as outcomes:
        return programs.succeeded(next(outcomes, None))


def not_at(state: PartitionState, wanted: Activity, timeout: float) -> TimedOutError:
    """Makes the error of a wait for an activity."""
    why = f" ({state.why or state.last_fault})" if state.why or state.last_fault else ""
    what = f"it is {state.activity}{why}, and not {wanted} after {timeout:g} s"
    return TimedOutError(f"{state.name}: {what}", kind="NOT_YET", what=what, where=state.name)


def find(found: Partitions, name: str) -> PartitionState:
    """Returns the state of the partition of this name."""
    for state in found:
        if state.name == name:
            return state
    what, remedy = "no such partition", f"there are {', '.join(it.name for it in found)}"
    text = f"`{name}`: {what}; {remedy}"
    raise NotFoundError(text, kind="NO_PARTITION", what=what, where=name, remedy=remedy)
