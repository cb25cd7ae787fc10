"""Timing and CPUs of a program that really runs."""

import asyncio

import pytest
from conftest import Ground, wait_until

import quietcore
import quietcore.aio
from quietcore import timing


def test_each_cycle_is_in_the_histograms(oven: quietcore.Partition) -> None:
    wait_until(lambda: oven.timing()[0].cycles > 10, "ten cycles have run")
    found = oven.timing()
    (task,) = found
    assert (found.site, found.generation) == ("bakery", oven.state().generation)
    assert found.task(task.name) == task
    assert task.period_ns == 5_000_000
    assert 0 < task.since_ns < found.read_at_ns
    for histogram in (task.release, task.execution, task.response):
        # A release that was missed has no job.
        assert task.cycles - task.missed_cycles <= histogram.count <= task.cycles
        assert sum(bar.count for bar in histogram.bars) == histogram.count
        assert 0 < histogram.min_ns <= histogram.max_ns
    assert task.worst_releases[0].value_ns == task.release.max_ns
    assert task.worst_execution is not None
    assert task.worst_execution.value_ns == task.execution.max_ns
    later = oven.timing()[0]
    assert later.cycles >= task.cycles
    # The machine's clock of the day is read anew each time.
    assert abs(later.since_ns - task.since_ns) < 1_000_000_000
    with pytest.raises(KeyError, match=f"there are {task.name}"):
        found.task("smoke")


def test_the_histograms_are_a_data_frame_and_a_table(oven: quietcore.Partition) -> None:
    wait_until(lambda: oven.timing()[0].cycles > 10, "ten cycles have run")
    found = oven.timing()
    frame = found.frame()
    assert frame.index.names == ["task", "time", "from_ns"]
    of_release = frame.sort_index().xs((found[0].name, "release"))
    assert of_release["count"].sum() == found[0].release.count
    assert (of_release["to_ns"] > of_release.index).all()
    assert timing.Timing().frame().empty
    assert found[0].name in found._repr_html_()


def test_a_percentile_that_is_not_told_is_none() -> None:
    from quietcore.v1 import timing_pb2 as pb

    histogram = pb.LatencyHistogram(count=12, min_ns=1, max_ns=9, p50_ns=4)
    answer = pb.GetTimingResponse(tasks=[pb.TaskTiming(name="step", release=histogram)])
    (task,) = timing.get("", "axis").read(answer)
    assert (task.release.p50_ns, task.release.p99_ns) == (4, None)
    assert task.worst_execution is None


def test_each_cpu_has_its_use_and_its_owners(host: quietcore.Host, ground: Ground) -> None:
    found = host.cpus()
    numbers = [cpu.number for cpu in found]
    assert numbers == sorted(set(numbers))
    (owned,) = [cpu for cpu in found if any(it.partition == "oven" for it in cpu.owners)]
    assert (owned.number, owned.use) == (0, quietcore.CpuUse.PARTITION)
    assert owned.owners[0].site == "bakery"
    assert any(cpu.daemon for cpu in found), "the daemon runs somewhere"
    assert "<table" in found._repr_html_()

    async def same() -> quietcore.Cpus:
        async with quietcore.aio.connect(ground.address) as connected:
            assert (await connected.partition("oven").timing())[0].cycles > 0
            return await connected.cpus()

    assert [cpu.number for cpu in asyncio.run(same())] == numbers
