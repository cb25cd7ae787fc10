"""Runs and traces, which go on when the program that has started them has gone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from quietcore import qualification, traces
from quietcore.qualification import RecordVerdicts, RemarkSink, RunInfo, RunProgress
from quietcore.traces import TraceInfo, TraceRows
from quietcore.transport import Following, Transport

if TYPE_CHECKING:
    import pandas as pd

LOOK_S = 0.05
"""Time between two looks at a state that is waited for, in seconds."""


class Run:
    """A run: a campaign or an experiment. `Host.qualify`, `tune`, `disturb` and `run` make one.

    It goes on when this process or the daemon ends; `Host.run` finds it again by its number.
    """

    def __init__(self, transport: Transport, number: int):
        self._transport = transport
        self.number = number

    def info(self) -> RunInfo:
        """Returns its state, its verdicts and the files of its evidence."""
        return self._transport.ask(qualification.get_run(self.number))

    def watch(self, *, say: RemarkSink | None = None) -> Following[RunProgress]:
        """Follows its progress to its end.

        Args:
            say: gets each remark and result from the start on, such as `print`.
        """
        reader = qualification.WatchReader(say)
        return Following(self._transport, qualification.watch(self.number, reader), None)

    def wait(self, *, say: RemarkSink | None = None) -> RunInfo:
        """Waits for its end, and returns it with verdicts and files."""
        with self.watch(say=say) as progress:
            for _ in progress:
                pass
        return self.info()

    def cancel(self) -> None:
        """Ends it as Ctrl-C does. What was measured is kept, and is marked as partial."""
        self._transport.ask(qualification.cancel(self.number))

    def verdicts(self) -> RecordVerdicts:
        """Returns the verdicts on its records; none before its end, and of an experiment."""
        return self.info().verdicts

    def fetch(self, name: str) -> bytes:
        """Fetches a file of its evidence, as `info().files` names it."""
        with Following(self._transport, qualification.fetch(self.number, name), None) as parts:
            return b"".join(parts)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes its report, one HTML page, into a file of this computer."""
        file = Path(path)
        file.write_bytes(self.fetch(qualification.REPORT))
        return file

    def records(self) -> pd.DataFrame:
        """Returns the histograms of its records, as `quietcore.frames.histograms_of` makes them.

        Needs pandas (`pip install quietcore[data]`).
        """
        from quietcore.frames import histograms_of

        names = qualification.record_names(self.info())
        return histograms_of(qualification.record(self.fetch(name)) for name in names)

    def __repr__(self) -> str:
        return f"<Run {self.number}>"


class Trace:
    """A trace. `Partition.trace` starts one.

    It goes on when this process ends; `Host.trace` finds it again by its number. It ends with the
    daemon, which keeps the rows until then.
    """

    def __init__(self, transport: Transport, number: int):
        self._transport = transport
        self.number = number

    def info(self) -> TraceInfo:
        """Returns its state and progress."""
        return self._transport.ask(traces.get(self.number))

    def wait(self, *, timeout: float | None = None) -> TraceInfo:
        """Waits until no row comes any more: it is complete, was stopped, or has ended.

        Args:
            timeout: the longest wait in seconds; without it a trigger that never comes is waited
                for until the trace is stopped.

        Raises:
            TimedOutError: if it takes longer.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not (info := self.info()).is_over:
            if timeout is not None and end is not None and time.monotonic() > end:
                raise traces.not_over(info, timeout)
            time.sleep(LOOK_S)
        return info

    def rows(self) -> TraceRows:
        """Fetches the rows that it has kept so far, whether or not it goes on."""
        reader = traces.RowsReader()
        with Following(self._transport, traces.fetch(self.number, reader), None) as parts:
            for _ in parts:
                pass
        return reader.rows()

    def frame(self) -> pd.DataFrame:
        """Fetches its rows as a data frame, as `quietcore.frames.frame_of_trace` makes one.

        Needs pandas (`pip install quietcore[data]`).
        """
        from quietcore.frames import frame_of_trace

        return frame_of_trace(self.rows())

    def stop(self) -> TraceInfo:
        """Ends it. The rows that it has kept until then stay."""
        return self._transport.ask(traces.stop(self.number))

    def delete(self) -> None:
        """Removes it with its rows."""
        self._transport.ask(traces.delete(self.number))

    def __repr__(self) -> str:
        return f"<Trace {self.number}>"
