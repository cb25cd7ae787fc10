"""Samples and histograms as data frames of pandas."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from quietcore.timing import Timing
from quietcore.traces import TraceRows
from quietcore.values import Enumerated, Value
from quietcore.variables import Sample

try:
    import pandas as pd
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "data frames need pandas; install it with `pip install quietcore[data]`", name="pandas"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Hashable


def frame_of(samples: Iterable[Sample]) -> pd.DataFrame:
    """Makes a data frame of samples: a row for each, a column for each variable.

    The index has the levels `cycle` and `time` (UTC, to the nanosecond). Values of enumerations are
    their names. `frame.attrs["left_out"]` is the number of samples that were left out because the
    client was slow, and `frame.attrs["types"]` has the type of each variable.
    """
    rows: list[dict[str, int | float | str]] = []
    cycles: list[int] = []
    times: list[int] = []
    types: dict[Hashable, str] = {}
    left_out = 0
    for sample in samples:
        rows.append({path: _cell(value) for path, value in sample.items()})
        cycles.append(sample.cycle)
        times.append(sample.read_at_ns)
        left_out += sample.left_out
        types.update({path: variable.type for path, variable in sample.variables.items()})
    time = pd.to_datetime(times, unit="ns", utc=True)
    index = pd.MultiIndex.from_arrays([cycles, time], names=["cycle", "time"])
    frame = pd.DataFrame(rows, index=index)
    frame.attrs.update(left_out=left_out, types=types)
    return frame


def frame_of_trace(rows: TraceRows) -> pd.DataFrame:
    """Makes a data frame of a trace: a row for each sample, a column for each variable.

    The index has the levels `window` (from 0), `cycle` and `time` (UTC, to the nanosecond). Values
    of enumerations are their names. `frame.attrs["triggers"]` has the number of each trigger's row,
    `frame.attrs["gaps"]` the samples that were lost right before a row, by its number, and
    `frame.attrs["types"]` the type of each variable.
    """
    first_rows = [window.first_row for window in rows.info.begun]
    windows = [bisect_right(first_rows, row) - 1 for row in range(len(rows))]
    time = pd.to_datetime(list(rows.times_ns), unit="ns", utc=True)
    names = ["window", "cycle", "time"]
    index = pd.MultiIndex.from_arrays([windows, list(rows.cycles), time], names=names)
    columns = {path: list(map(_cell, values)) for path, values in rows.values.items()}
    frame = pd.DataFrame(columns, index=index)
    frame.attrs.update(
        triggers=[window.trigger_row for window in rows.info.begun],
        gaps=dict(rows.gaps),
        types={variable.path: variable.type for variable in rows.info.variables},
    )
    return frame


def frame_of_timing(timing: Timing) -> pd.DataFrame:
    """Makes a data frame of the histograms of all tasks: a row for each bar.

    The index has the levels `task`, `time` (`release`, `execution` or `response`) and `from_ns`,
    the lower bound of the bar, and is sorted; the columns are `to_ns` and `count`.
    """
    rows = [
        ((task.name, time, bar.from_ns), (bar.to_ns, bar.count))
        for task in timing
        for time in ("release", "execution", "response")
        for bar in getattr(task, time).bars
    ]
    names = ["task", "time", "from_ns"]
    index = pd.MultiIndex.from_tuples([key for key, _ in rows], names=names)
    values = [values for _, values in rows]
    return pd.DataFrame(values, index=index, columns=["to_ns", "count"]).sort_index()


def seconds_of(frame: pd.DataFrame) -> pd.Index[float]:
    """Returns the seconds from the first sample to each one of a data frame."""
    time = frame.index.get_level_values("time")
    seconds: pd.Index[float] = (time - time[0]).total_seconds()
    return seconds


def histograms_of(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Makes a data frame of records: a row for each bin of each histogram of release latencies.

    The index has the levels `partition`, `profile`, `record` and `latency_ns`, the lower bound of
    the bin; the column is `count`. Latencies beyond the last bin are in none:
    `frame.attrs["overflow"]` has their number for each record.
    """
    rows: list[tuple[str, str, str, int]] = []
    counts: list[int] = []
    overflow: dict[str, int] = {}
    for record in records:
        histogram = record["release"]
        of = (record["partition"], record["profile"], record["name"])
        rows.extend((*of, latency) for latency, _ in histogram["bins"])
        counts.extend(number for _, number in histogram["bins"])
        overflow[record["name"]] = histogram["overflow"]
    names = ["partition", "profile", "record", "latency_ns"]
    index = pd.MultiIndex.from_tuples(rows, names=names)
    frame = pd.DataFrame({"count": counts}, index=index)
    frame.attrs["overflow"] = overflow
    return frame


def _cell(value: Value) -> int | float | str:
    return str(value) if isinstance(value, Enumerated) else value
