"""The face for asyncio, on the real daemon and a program that really runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from conftest import PATIENCE_S, Ground

import quietcore
import quietcore.aio
from quietcore import Change

GAIN, OFFSET, DOOR, CYCLES = "oven_P.gain", "oven_P.offset", "oven_U.door", "oven_DW.cycles"


@asynccontextmanager
async def at_oven(ground: Ground) -> AsyncIterator[quietcore.aio.Partition]:
    async with quietcore.aio.connect(ground.address) as host:
        oven = host.partition("oven", site="bakery")
        await oven.unforce_all()
        await oven.write({GAIN: 0.5, OFFSET: 0})
        try:
            yield oven
        finally:
            await oven.unforce_all()


def run(ground: Ground, play: Callable[[quietcore.aio.Partition], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_S), at_oven(ground) as oven:
            await play(oven)

    asyncio.run(bounded())


def test_the_machine_its_sites_and_their_states(ground: Ground) -> None:
    async def play() -> None:
        host = await quietcore.aio.connect(ground.address)
        assert [it.name for it in await host.sites()] == ["bakery"]
        (state,) = await host.site().partitions()
        assert state.name == "oven"
        assert (await host.check(ground.folder / "site" / "oven.toml")).is_valid
        assert not (await host.check_text("")).is_valid
        assert len(await host.doctor("0")) > 10
        assert (await host.site().changes()).next >= 0
        await host.close()

    asyncio.run(play())


def test_variables_are_read_written_and_forced(ground: Ground) -> None:
    async def play(oven: quietcore.aio.Partition) -> None:
        assert len(await oven.variables("oven_P.*")) == 4
        applied = await oven.write({GAIN: 0.25, OFFSET: 3})
        assert [it.new for it in applied] == ["0.25", "3"]
        async with oven.forced({DOOR: True}):
            assert (await oven.read(DOOR)).forced == {DOOR}
        assert (await oven.read(DOOR)).forced == frozenset()
        await oven.force({DOOR: True})
        with pytest.warns(quietcore.NoEffectWarning) as warned:
            await oven.write({DOOR: False})
        assert warned[0].filename == __file__
        await oven.unforce(DOOR)
        await oven.change(Change.set(OFFSET, 4), Change.force(GAIN, 1))
        assert await oven.value(OFFSET) == 4
        assert (await oven.state()).forces == 1

    run(ground, play)


def test_a_program_is_held_and_started_anew(ground: Ground) -> None:
    async def play(oven: quietcore.aio.Partition) -> None:
        await oven.pause()
        await oven.wait_for("paused", timeout=PATIENCE_S)
        await oven.resume()
        await oven.wait_for("running", timeout=PATIENCE_S)
        with pytest.raises(quietcore.TimedOutError):
            await oven.wait_for("paused", timeout=0)
        await oven.write({OFFSET: 9})
        await oven.restart("cold")
        assert await oven.value(OFFSET) == 0

    run(ground, play)


def test_several_watches_run_side_by_side(ground: Ground) -> None:
    async def play(oven: quietcore.aio.Partition) -> None:
        async def see(path: str, value: float) -> quietcore.Sample:
            async with oven.watch(path, interval=0.001) as watch:
                async for sample in watch:
                    if sample[path] == value:
                        assert path in watch.variables
                        assert watch.left_out == 0
                        return sample
            raise AssertionError("the watch has ended")

        seeing = [asyncio.create_task(see(*it)) for it in ((OFFSET, 7), (GAIN, 0.125))]
        await oven.write({OFFSET: 7, GAIN: 0.125})
        first, second = await asyncio.gather(*seeing)
        assert (first[OFFSET], second[GAIN]) == (7, 0.125)
        await oven.restart()
        async with oven.events() as events:
            async for event in events:
                if "as asked" in event.text:
                    assert "quietcored for quietcore-python/" in event.by
                    break

    run(ground, play)


def test_a_watch_ends_by_its_seconds_by_close_and_with_its_task(ground: Ground) -> None:
    async def play(oven: quietcore.aio.Partition) -> None:
        # On a machine that stands still, a short time may be over before there is a value.
        for seconds in (0.1, 1.0, 10.0):
            if seen := {it[OFFSET] async for it in oven.watch(OFFSET, seconds=seconds)}:
                break
        assert seen == {0}
        watch = oven.watch(OFFSET)
        first = await anext(watch)
        asyncio.get_running_loop().call_later(0.1, watch.close)
        assert {it[OFFSET] async for it in watch} <= {first[OFFSET]}
        assert [it async for it in watch] == []

        async def forever() -> None:
            async for _ in oven.watch(OFFSET):
                pass

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(forever(), 0.1)

    run(ground, play)


def test_what_is_refused_comes_with_its_parts(ground: Ground) -> None:
    async def play(oven: quietcore.aio.Partition) -> None:
        with pytest.raises(quietcore.InvalidRequestError) as refused:
            await oven.write({GAIN: "much"})
        assert (refused.value.kind, refused.value.where) == ("BAD_VALUE", GAIN)
        with pytest.raises(quietcore.NotFoundError, match="oven_P"):
            await anext(oven.watch("oven_Q"))

    run(ground, play)


def test_a_daemon_that_is_killed_is_an_error_and_the_next_one_serves(ground: Ground) -> None:
    async def play(oven: quietcore.aio.Partition) -> None:
        before = await oven.state()
        watch = oven.watch(CYCLES, interval=0.001)
        await anext(watch)
        ground.kill_daemon()
        with pytest.raises(quietcore.UnavailableError, match="start `quietcored`"):
            async for _ in watch:
                pass
        await asyncio.to_thread(ground.start_daemon)
        while True:
            try:
                after = await oven.state()
                break
            except quietcore.UnavailableError:
                await asyncio.sleep(0.02)
        assert (after.pid, after.generation) == (before.pid, before.generation)

    run(ground, play)


def test_no_daemon_is_an_error_that_says_what_to_start(tmp_path: object) -> None:
    async def play() -> None:
        with pytest.raises(quietcore.UnavailableError, match="no daemon answers at /nowhere"):
            await quietcore.aio.connect("unix:/nowhere/socket")

    asyncio.run(play())
    with pytest.raises(quietcore.UnavailableError, match="start `quietcored`"):
        quietcore.connect("unix:/nowhere/socket")
