"""Runs and traces for asyncio; what each call does is told in `quietcore.started`."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from quietcore import qualification, traces
from quietcore.aio.transport import Following, Transport
from quietcore.qualification import RecordVerdicts, RemarkSink, RunInfo, RunProgress
from quietcore.started import LOOK_S
from quietcore.traces import TraceInfo, TraceRows

if TYPE_CHECKING:
    import pandas as pd


class Run:
    """A run: a campaign or an experiment. `Host.qualify`, `tune`, `disturb` and `run` make one.

    It goes on when this process or the daemon ends; `Host.run` finds it again by its number.
    """

    def __init__(self, transport: Transport, number: int):
        self._transport = transport
        self.number = number

    async def info(self) -> RunInfo:
        """Returns its state, its verdicts and the files of its evidence."""
        return await self._transport.ask(qualification.get_run(self.number))

    def watch(self, *, say: RemarkSink | None = None) -> Following[RunProgress]:
        """Follows its progress to its end.

        Args:
            say: gets each remark and result from the start on, such as `print`.
        """
        reader = qualification.WatchReader(say)
        return Following(self._transport, qualification.watch(self.number, reader), None)

    async def wait(self, *, say: RemarkSink | None = None) -> RunInfo:
        """Waits for its end, and returns it with verdicts and files."""
        async with self.watch(say=say) as progress:
            async for _ in progress:
                pass
        return await self.info()

    async def cancel(self) -> None:
        """Ends it as Ctrl-C does. What was measured is kept, and is marked as partial."""
        await self._transport.ask(qualification.cancel(self.number))

    async def verdicts(self) -> RecordVerdicts:
        """Returns the verdicts on its records; none before its end, and of an experiment."""
        return (await self.info()).verdicts

    async def fetch(self, name: str) -> bytes:
        """Fetches a file of its evidence, as `info().files` names it."""
        async with Following(
            self._transport, qualification.fetch(self.number, name), None
        ) as parts:
            return b"".join([part async for part in parts])

    async def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes its report, one HTML page, into a file of this computer."""
        file = Path(path)
        page = await self.fetch(qualification.REPORT)
        await asyncio.to_thread(file.write_bytes, page)
        return file

    async def records(self) -> pd.DataFrame:
        """Returns the histograms of its records, as `quietcore.frames.histograms_of` makes them.

        Needs pandas (`pip install quietcore[data]`).
        """
        from quietcore.frames import histograms_of

        names = qualification.record_names(await self.info())
        read = [qualification.record(await self.fetch(name)) for name in names]
        return histograms_of(read)

    def __repr__(self) -> str:
        return f"<Run {self.number}>"


class Trace:
    """A trace. `Partition.trace` starts one."""

    def __init__(self, transport: Transport, number: int):
        self._transport = transport
        self.number = number

    async def info(self) -> TraceInfo:
        """Returns its state and progress."""
        return await self._transport.ask(traces.get(self.number))

    async def wait(self, *, timeout: float | None = None) -> TraceInfo:
        """Waits until no row comes any more: it is complete, was stopped, or has ended."""
        end = None if timeout is None else time.monotonic() + timeout
        while not (info := await self.info()).is_over:
            if timeout is not None and end is not None and time.monotonic() > end:
                raise traces.not_over(info, timeout)
            await asyncio.sleep(LOOK_S)
        return info

    async def rows(self) -> TraceRows:
        """Fetches the rows that it has kept so far, whether or not it goes on."""
        reader = traces.RowsReader()
        async with Following(self._transport, traces.fetch(self.number, reader), None) as parts:
            async for _ in parts:
                pass
        return reader.rows()

    async def frame(self) -> pd.DataFrame:
        """Fetches its rows as a data frame, as `quietcore.frames.frame_of_trace` makes one."""
        from quietcore.frames import frame_of_trace

        return frame_of_trace(await self.rows())

    async def stop(self) -> TraceInfo:
        """Ends it. The rows that it has kept until then stay."""
        return await self._transport.ask(traces.stop(self.number))

    async def delete(self) -> None:
        """Removes it with its rows."""
        await self._transport.ask(traces.delete(self.number))

    def __repr__(self) -> str:
        return f"<Trace {self.number}>"
