"""Traces of a program that really runs, which go on without the client that has started them."""

import asyncio
import itertools

import pandas as pd
import pytest
from conftest import PATIENCE_S, Ground

import quietcore
import quietcore.aio
from quietcore import TraceState, traces
from quietcore.v1 import trace_pb2 as pb
from quietcore.v1.variable_pb2 import EnumerationValue

DOOR, CYCLES, MODE = "oven_U.door", "oven_DW.cycles", "oven_Y.mode"


def test_a_trace_is_fetched_by_another_client_with_each_cycle(ground: Ground) -> None:
    with quietcore.connect(ground.address) as host:
        oven = host.partition("oven")
        oven.write({DOOR: False})
        trace = oven.trace(CYCLES, MODE, trigger=f"rising {DOOR}", before=10, after=40)
        assert trace.info().state is TraceState.ARMED
        number = trace.number
    with quietcore.connect(ground.address) as host:
        host.partition("oven").write({DOOR: True})
        trace = host.trace(number)
        info = trace.wait(timeout=PATIENCE_S)
        assert (info.state, info.rows, info.why, info.lost) == (TraceState.COMPLETE, 50, "", 0)
        rows = trace.rows()
        assert [it.path for it in info.variables] == [CYCLES, MODE, DOOR]
        row = info.begun[0].trigger_row
        assert (rows[DOOR][row - 1], rows[DOOR][row]) == (False, True)
        assert rows.cycles[row] == info.begun[0].trigger_cycle
        assert all(later == one + 1 for one, later in itertools.pairwise(rows.cycles))
        assert all(later > one for one, later in itertools.pairwise(rows.times_ns))
        assert {str(it) for it in rows[MODE]} <= {"OVEN_HEAT", "OVEN_HOLD", "OVEN_OFF"}
        assert number in [it.number for it in host.traces()]
        assert "<table" in host.traces()._repr_html_()
        trace.delete()
        with pytest.raises(quietcore.NotFoundError, match="there is no trace"):
            trace.info()
        host.partition("oven").write({DOOR: False})


def test_a_trace_becomes_a_data_frame(oven: quietcore.Partition) -> None:
    trace = oven.trace(CYCLES, MODE, after=5, windows=2, trigger=f"changing {CYCLES}")
    trace.wait(timeout=PATIENCE_S)
    frame = trace.frame()
    assert frame.index.names == ["window", "cycle", "time"]
    assert list(frame.index.get_level_values("window")) == [0] * 5 + [1] * 5
    assert str(frame.index.get_level_values("time").dtype) == "datetime64[ns, UTC]"
    now = pd.Timestamp.now(tz="UTC")
    assert abs(now - frame.index.get_level_values("time")[0]) < pd.Timedelta(PATIENCE_S, "s")
    assert frame[CYCLES].dtype == int
    assert (frame[CYCLES].diff().iloc[1:5] == 1).all()
    assert frame.attrs["triggers"] == [0, 5]
    assert frame.attrs["types"][MODE] == "OvenMode"
    trace.delete()


def test_a_partition_has_one_trace_at_a_time_and_a_stopped_one_keeps_its_rows(
    oven: quietcore.Partition,
) -> None:
    trace = oven.trace(CYCLES, after=100_000)
    with pytest.raises(quietcore.BusyError, match="another client records it"):
        oven.trace(CYCLES, after=5)
    with pytest.raises(quietcore.TimedOutError, match=f"trace {trace.number}: it is "):
        trace.wait(timeout=0.0)
    stopped = trace.stop()
    assert stopped.state is TraceState.ENDED
    assert stopped.why.startswith("stopped by ")
    assert len(trace.rows()) == stopped.rows
    assert [it.number for it in oven.traces()][-1] == trace.number
    trace.delete()
    with pytest.raises(quietcore.InvalidRequestError, match="kept at most"):
        oven.trace(CYCLES, after=1_000_000)


def test_asyncio_has_traces_too(ground: Ground) -> None:
    async def play() -> None:
        async with quietcore.aio.connect(ground.address) as host:
            trace = await host.partition("oven").trace(CYCLES, after=20)
            info = await trace.wait(timeout=PATIENCE_S)
            assert (info.state, len(await trace.rows())) == (TraceState.COMPLETE, 20)
            assert len(await trace.frame()) == 20
            await host.trace(trace.number).delete()
            assert trace.number not in [it.number for it in await host.traces()]

    asyncio.run(play())


def test_gaps_and_kinds_of_values_are_read_as_they_were_sent() -> None:
    names = [EnumerationValue(number=it, name=name) for it, name in enumerate(("IDLE", "RUN"))]
    variables = [
        pb.TraceVariable(path="mode", type="Mode", names=names),
        pb.TraceVariable(path="place", type="address"),
        pb.TraceVariable(path="flow", type="f32"),
    ]
    at = "2026-11-24T00:00:00Z"
    reader = traces.RowsReader()
    trace = pb.Trace(number=1, variables=variables, started_at=at, utc_offset_ns=1000)
    reader.take(pb.FetchTraceResponse(trace=trace))
    rows = pb.TraceRows(
        cycles=[7, 9],
        times_ns=[1, 2],
        columns=[
            pb.TraceValues(signed=[1, 5]),
            pb.TraceValues(unsigned=[16, 17]),
            pb.TraceValues(singles=[0.5, -1.0]),
        ],
        gaps=[pb.TraceGap(row=1, lost=1)],
    )
    assert reader.take(pb.FetchTraceResponse(rows=rows)) == 2
    read = reader.rows()
    assert (read.times_ns, read.gaps) == ((1001, 1002), {1: 1})
    assert [str(it) for it in read["mode"]] == ["RUN", "5"]
    assert [str(it) for it in read["place"]] == ["0x10", "0x11"]
    assert read["flow"] == (0.5, -1.0)
