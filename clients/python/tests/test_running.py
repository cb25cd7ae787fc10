"""Calls to the real daemon, of a program that really runs."""

import contextlib
import itertools
import socket
import threading
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import PATIENCE_S, Ground, wait_until

import quietcore
from quietcore import Change

GAIN, OFFSET, TARGET = "oven_P.gain", "oven_P.offset", "oven_P.target"
DOOR, CYCLES, MODE = "oven_U.door", "oven_DW.cycles", "oven_P.mode"


def test_a_machine_tells_its_sites_and_partitions(host: quietcore.Host) -> None:
    assert host.info.version[0].isdigit()
    (site,) = host.sites()
    assert (site.name, site.partitions) == ("bakery", ("oven",))
    assert site.site_file.endswith("/oven.toml")
    (state,) = host.site().partitions()
    assert (state.name, state.backend, state.period_ns) == ("oven", "process", 5_000_000)
    assert state.has_program
    assert state.fieldbus is None
    assert host.site("bakery").partition("oven").state().cycles >= state.cycles > 0


def test_variables_come_with_type_role_and_value(oven: quietcore.Partition) -> None:
    found = {it.path: it for it in oven.variables()}
    assert found[GAIN] == quietcore.Variable(GAIN, "f32", "parameter", True)
    assert found[MODE].type == "OvenMode"
    assert {it.path for it in oven.variables("oven_U.*")} == {DOOR, "oven_U.ambient"}
    values = oven.read("oven_P.*", DOOR, "oven_DW.trays*")
    assert values.variables[GAIN] == found[GAIN]
    assert (values[TARGET], values[GAIN], values[OFFSET]) == (180.0, 0.5, 0)
    assert values[MODE] == "OVEN_HEAT"
    assert values[MODE] == 1
    assert values[DOOR] is False
    assert values["oven_DW.trays[1]"] == 7
    assert values.forced == frozenset()
    assert "oven_P.offset = 0" in str(values).splitlines()
    later = oven.read(CYCLES)
    assert later.cycle >= values.cycle


def test_a_group_is_written_between_two_cycles(oven: quietcore.Partition) -> None:
    written = oven.write({TARGET: 200, GAIN: 0.25, OFFSET: -3})
    assert [(it.old, it.new) for it in written] == [
        ("180.0", "200.0"),
        ("0.5", "0.25"),
        ("0", "-3"),
    ]
    assert written.cycle > 0
    assert str(written[1]) == "oven_P.gain set from 0.5 to 0.25"
    assert dict(oven.read(TARGET, GAIN, OFFSET)) == {TARGET: 200.0, GAIN: 0.25, OFFSET: -3}
    with pytest.raises(quietcore.InvalidRequestError):
        oven.write({TARGET: 1, OFFSET: 1e6})
    assert oven.value(TARGET) == 200.0, "all of a group or nothing"


def test_a_change_without_effect_is_warned_of_where_it_was_made(
    oven: quietcore.Partition,
) -> None:
    oven.force({DOOR: True})
    with pytest.warns(quietcore.NoEffectWarning, match="held by a force") as warned:
        (effect,) = oven.write({DOOR: False})
    assert warned[0].filename == __file__
    assert effect.without_effect is quietcore.WhyNoEffect.HELD_BY_FORCE
    with pytest.warns(quietcore.NoEffectWarning, match="was not forced"):
        oven.unforce(GAIN)


def test_forces_hold_until_they_are_let_go(oven: quietcore.Partition) -> None:
    with oven.forced({DOOR: True, "oven_U.ambient": 5}) as applied:
        assert [it.new for it in applied] == ["true", "5.0"]
        assert oven.read("oven_U.*").forced == {DOOR, "oven_U.ambient"}
        assert oven.state().forces == 2
    assert oven.read("oven_U.*").forced == frozenset()
    with pytest.raises(ZeroDivisionError), oven.forced({DOOR: True}):
        raise ZeroDivisionError
    assert oven.read(DOOR).forced == frozenset()


def test_a_force_of_before_is_there_after_a_block(oven: quietcore.Partition) -> None:
    oven.force({GAIN: 0.1, DOOR: True})
    with oven.forced({GAIN: 0.9, OFFSET: 4}):
        assert oven.value(GAIN) == pytest.approx(0.9)
    after = oven.read(GAIN, OFFSET, DOOR)
    assert after.forced == {GAIN, DOOR}
    assert after[GAIN] == pytest.approx(0.1)
    assert len(oven.unforce_all()) == 2


def test_changes_of_several_kinds_are_one_group(oven: quietcore.Partition) -> None:
    oven.force({DOOR: True})
    changes = (Change.set(OFFSET, 2), Change.force(GAIN, 0.75), Change.unforce(DOOR))
    oven.change(*changes)
    values = oven.read(OFFSET, GAIN, DOOR)
    assert values[OFFSET] == 2
    assert values.forced == {GAIN}


def test_nan_is_written_only_if_it_is_meant(oven: quietcore.Partition) -> None:
    with pytest.raises(quietcore.InvalidRequestError):
        oven.write({"oven_U.ambient": float("nan")})
    oven.write({"oven_U.ambient": float("nan")}, allow_nan=True)
    value = oven.value("oven_U.ambient")
    assert value != value
    oven.write({"oven_U.ambient": 20})


def test_what_is_refused_comes_with_its_parts(host: quietcore.Host) -> None:
    oven = host.partition("oven")
    with pytest.raises(quietcore.NotFoundError) as refused:
        host.partition("ovn").restart()
    error = refused.value
    assert str(error) == "`ovn`: no such partition; did you mean `oven`?"
    assert (error.kind, error.where) == ("NO_PARTITION", "`ovn`")
    assert (error.what, error.remedy) == ("no such partition", "did you mean `oven`?")
    with pytest.raises(quietcore.InvalidRequestError) as bad:
        oven.write({GAIN: "much"})
    assert (bad.value.kind, bad.value.where) == ("BAD_VALUE", GAIN)
    with pytest.raises(quietcore.NotFoundError, match="oven_P"):
        oven.read("oven_Q.gain")
    with pytest.raises(quietcore.NotFoundError, match="oven_P"):
        oven.watch("oven_Q.gain")
    with pytest.raises(quietcore.NotFoundError, match="bakery"):
        host.site("bakeri").partitions()
    with pytest.raises(quietcore.NotFoundError, match="there are oven"):
        host.partition("ovn").state()
    with pytest.raises(quietcore.InvalidRequestError, match="1 ms"):
        oven.watch(GAIN, interval=0)
    with pytest.raises(ValueError, match="say one of warm"):
        oven.restart("hot")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="chooses 4 variables"):
        oven.value("oven_P.*")


def test_a_watch_tells_each_change_and_who_is_forced(oven: quietcore.Partition) -> None:
    with oven.watch("oven_P.*", DOOR, interval=0.001, seconds=PATIENCE_S) as watch:
        assert watch.variables[GAIN].type == "f32"
        first = next(watch)
        assert set(first.changed) == set(first) == {GAIN, OFFSET, TARGET, MODE, DOOR}
        assert abs((datetime.now(UTC) - first.at).total_seconds()) < 10 * PATIENCE_S
        oven.write({OFFSET: 11})
        changed = next(it for it in watch if it[OFFSET] == 11)
        assert changed.changed == (OFFSET,)
        assert changed[GAIN] == 0.5, "values that have not changed are there as well"
        assert first[OFFSET] == 0, "a sample does not change"
        oven.force({DOOR: True})
        forced = next(it for it in watch if it.forced)
        assert forced.forced == {DOOR}
        oven.unforce_all()
        assert next(it for it in watch if not it.forced).cycle > forced.cycle
    assert list(watch) == [], "it is closed"


def test_a_deadband_leaves_out_what_is_within_it(oven: quietcore.Partition) -> None:
    with oven.watch(TARGET, interval=0.001, deadband=5, seconds=PATIENCE_S) as watch:
        assert next(watch)[TARGET] == 180
        oven.write({TARGET: 184})
        oven.write({TARGET: 190})
        told = []
        for sample in watch:
            told.append(sample[TARGET])
            if sample[TARGET] == 190:
                break
        assert 184 not in told
        assert told[-1] == 190


def test_a_watch_ends_after_its_seconds_though_nothing_changes(oven: quietcore.Partition) -> None:
    # On a machine that stands still, a short time may be over before there is a value.
    for seconds in (0.2, 2.0, 10.0):
        if seen := {it[TARGET] for it in oven.watch(TARGET, seconds=seconds)}:
            break
    assert seen == {180}


def test_a_watch_is_ended_by_another_thread(oven: quietcore.Partition) -> None:
    watch = oven.watch(TARGET)
    next(watch)
    timer = threading.Timer(0.1, watch.close)
    timer.start()
    assert all(it[TARGET] == 180 for it in watch), "it ends"
    timer.join()


def test_events_and_changes_say_who_has_asked(
    ground: Ground, host: quietcore.Host, oven: quietcore.Partition
) -> None:
    oven.write({OFFSET: 17})
    changes = host.site().changes()
    last = changes[-1]
    assert (last.partition, last.effect.new) == ("oven", "17")
    assert "quietcored for quietcore-python/" in last.by
    assert len(host.site().changes(since=changes.next)) == 0
    ground.quietcore("set", "oven", f"{OFFSET}=18")
    assert "quietcored" not in host.site().changes(since=changes.next)[0].by
    oven.restart()
    with oven.events(seconds=PATIENCE_S) as events:
        event = next(it for it in events if "as asked" in it.text)
    assert "quietcored for quietcore-python/" in event.by
    assert event.severity is quietcore.Severity.INFORMATION
    assert event.partition == "oven"
    assert event.at.tzinfo is not None
    with host.site().events(since=event.sequence, seconds=PATIENCE_S) as events:
        assert next(events) == event


def test_a_program_is_held_and_goes_on(oven: quietcore.Partition) -> None:
    assert not oven.pause().was_paused
    assert oven.pause().was_paused
    oven.wait_for("paused", timeout=PATIENCE_S)
    held = oven.value(CYCLES)
    assert oven.value(CYCLES) == held
    assert oven.resume().was_paused
    oven.wait_for(quietcore.Activity.RUNNING, timeout=PATIENCE_S)
    wait_until(lambda: oven.value(CYCLES) != held, "it goes on")
    with pytest.raises(quietcore.TimedOutError, match="it is running, and not paused"):
        oven.wait_for("paused", timeout=0)


def test_a_restart_keeps_what_its_kind_says(oven: quietcore.Partition) -> None:
    oven.write({OFFSET: 5})
    oven.force({DOOR: True})
    before = oven.state().generation
    oven.restart()
    oven.wait_for("running", timeout=PATIENCE_S)
    assert oven.state().generation == before + 1
    assert oven.value(OFFSET) == 5
    assert oven.read(DOOR).forced == {DOOR}
    oven.restart("cold")
    oven.wait_for("running", timeout=PATIENCE_S)
    assert oven.value(OFFSET) == 0
    assert oven.read(DOOR).forced == {DOOR}
    oven.restart("origin")
    oven.wait_for("running", timeout=PATIENCE_S)
    assert oven.read(DOOR).forced == frozenset()


def test_a_watch_goes_on_through_a_restart(oven: quietcore.Partition) -> None:
    with oven.watch(CYCLES, interval=0.001, seconds=PATIENCE_S) as watch:
        generation = next(watch).generation
        oven.restart()
        assert any(it.generation == generation + 1 for it in watch)


def test_a_site_file_is_checked_with_all_its_problems(ground: Ground, host: quietcore.Host) -> None:
    good = host.check(ground.folder / "site" / "oven.toml")
    assert good.is_valid
    assert good.site == "bakery"
    bad = host.check_text('[site]\nnam = "x"\n')
    assert not bad.is_valid
    (problem,) = (it for it in bad if it.key == "site.nam")
    assert (problem.line, problem.remedy) == (2, "did you mean `name`?")
    assert str(problem).startswith("2: `site.nam`: ")


def test_the_machine_is_examined(host: quietcore.Host) -> None:
    findings = host.doctor("0")
    assert len(findings) > 10
    assert {it.severity for it in findings} <= set(quietcore.FindingSeverity)
    assert all(it.fix for it in findings.unmet if it.severity == "conformance")


def test_the_command_lists_reads_and_watches(
    ground: Ground, oven: quietcore.Partition, capsys: pytest.CaptureFixture[str]
) -> None:
    from quietcore.__main__ import main

    at = ["--at", ground.address]
    assert main([*at, "ps"]) == 0
    assert capsys.readouterr().out.startswith("bakery oven: running, ")
    assert main([*at, "read", "oven", "oven_P.*"]) == 0
    assert "oven_P.gain = 0.5\n" in capsys.readouterr().out
    assert main([*at, "watch", "--seconds", "0.1", "oven", GAIN]) == 0
    assert "oven_P.gain = 0.5" in capsys.readouterr().out
    assert main([*at, "read", "oven", "oven_Q"]) == 2
    assert capsys.readouterr().err.startswith("quietcore: there is no `oven_Q`")


def test_a_daemon_that_is_killed_is_an_error_and_the_next_one_serves(
    ground: Ground, host: quietcore.Host, oven: quietcore.Partition
) -> None:
    """Goal: the death of the daemon is told, harms nothing, and the client finds the next one."""
    oven.force({DOOR: True})
    before = oven.state()
    watch = oven.watch(CYCLES, interval=0.001)
    first = next(watch)
    ground.kill_daemon()
    with pytest.raises(quietcore.UnavailableError, match="start `quietcored`"):
        for _ in watch:
            pass
    assert list(watch) == [], "it has ended"
    with pytest.raises(quietcore.UnavailableError):
        oven.state()
    ground.start_daemon()

    def answers() -> bool:
        try:
            return oven.state().cycles > before.cycles
        except quietcore.UnavailableError:
            return False

    wait_until(answers, "the same connection reaches the new daemon")
    after = oven.state()
    assert (after.pid, after.generation) == (before.pid, before.generation)
    assert oven.read(DOOR).forced == {DOOR}
    cycles = itertools.islice(oven.watch(CYCLES, interval=0.001), 2)
    assert all(it.cycle > first.cycle for it in cycles)


def test_a_daemon_that_ends_says_so_to_who_watches(
    ground: Ground, oven: quietcore.Partition
) -> None:
    watch = oven.watch(CYCLES, interval=0.001)
    next(watch)
    ground.stop_daemon()
    try:
        with pytest.raises(quietcore.UnavailableError):
            for _ in watch:
                pass
    finally:
        ground.start_daemon()
    wait_until(lambda: _answers(oven), "the connection is there again")


def test_a_daemon_that_answers_late_is_waited_for(ground: Ground, tmp_path: Path) -> None:
    """Goal: a machine that stands still for a moment is not taken for one without a daemon.

    Method: a socket in front of the daemon's that passes nothing on for half a second.
    """

    def copy(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(1 << 16):
                sink.sendall(part)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def relay(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            client, _ = listener.accept()
            time.sleep(0.5)
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(ground.address.removeprefix("unix:"))
            for ends in ((client, daemon), (daemon, client)):
                threading.Thread(target=copy, args=ends, daemon=True).start()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "late"))
        listener.listen()
        threading.Thread(target=relay, args=(listener,), daemon=True).start()
        with quietcore.connect(f"unix:{tmp_path / 'late'}") as host:
            assert host.partition("oven").name == "oven"


def _answers(oven: quietcore.Partition) -> bool:
    try:
        oven.state()
    except quietcore.UnavailableError:
        return False
    return True


def test_warnings_can_be_made_errors(oven: quietcore.Partition) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", quietcore.NoEffectWarning)
        with pytest.raises(quietcore.NoEffectWarning):
            oven.unforce(GAIN)
