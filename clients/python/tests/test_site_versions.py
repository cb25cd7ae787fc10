"""Sites that are planned, applied and undone by the real daemon."""

import asyncio
from collections.abc import Iterator

import pytest
from conftest import HERE, Ground, wait_until

import quietcore
import quietcore.aio
from quietcore import RunState, site_versions

SOURCES = HERE / "site" / "oven"
TEXT = (HERE / "site" / "oven.toml").read_text()
STEP = (SOURCES / "oven.c").read_text()


@pytest.fixture
def machine(built: None) -> Iterator[Ground]:
    """A daemon on which nothing runs yet."""
    ground = Ground()
    try:
        ground.start_daemon()
        yield ground
        with quietcore.connect(ground.address) as host:
            if host.sites():
                host.site("bakery").undo()
    finally:
        ground.end()


def test_a_text_is_planned_applied_watched_and_undone(machine: Ground) -> None:
    """The way of generated code with its site, from nothing to a value and back."""
    with quietcore.connect(machine.address) as host:
        host.upload(SOURCES, program="oven")
        plan = host.plan(TEXT)
        assert plan.is_possible
        assert plan.site == "bakery"
        assert any("start partition `oven`" in it.text for it in plan if it.kind == "step")
        assert "Plan of bakery" in plan._repr_html_()
        assert not host.sites(), "a plan brings nothing up"
        first = host.apply(TEXT, {"oven": "oven@1"}).version
        assert first is not None
        assert first.number == 1
        assert first.programs == {"oven": ("oven", 1)}
        oven = host.partition("oven", site="bakery")
        wait_until(lambda: oven.state().cycles > 0, "the program runs")
        sample = next(oven.watch("oven_P.target", interval=0.01))
        assert sample["oven_P.target"] == 180.0
        oven.write({"oven_P.target": 175.0})
        site = host.site("bakery")
        assert site.text().toml == TEXT
        assert site.text().version == 1

        second = host.apply(TEXT + "# second\n").version
        assert second is not None
        assert second.number == 2
        wait_until(lambda: oven.state().cycles > 0, "the second runs")
        assert oven.read("oven_P.target")["oven_P.target"] == 175.0, "it retains values"
        before = site.undo(before=True).version
        assert before is not None
        assert before.number == 1
        states = [(it.number, it.state.value) for it in site.versions()]
        assert states == [(2, "ended"), (1, "running")]

        assert site.undo().version is None
        assert not host.sites()
        calls = [it for it in host.audit() if it.call == "SiteService/ApplySite"]
        assert [it.kind.value for it in calls] == ["intended", "done"] * 2
        done = calls[-1].what["sha256"]
        assert done == {"old": first.sha256, "new": second.sha256}


def test_a_site_that_is_down_is_qualified_with_its_programs(machine: Ground) -> None:
    """Its real-time tasks have the CPUs while it is up, so it is measured before or afterwards."""
    with quietcore.connect(machine.address) as host:
        with pytest.raises(quietcore.NotFoundError):
            host.qualify(site="bakery", seconds=1.0)
        host.upload(SOURCES, program="oven")
        host.apply(TEXT, {"oven": "oven@1"})
        host.site("bakery").undo()
        run = host.qualify(site="bakery", seconds=1.0)
        said: list[str] = []
        with run.watch(say=said.append) as progress:
            for _ in progress:
                pass
        info = run.info()
        assert info.state is RunState.COMPLETE, said
        [asked, _] = [it for it in host.audit() if it.call == "QualificationService/StartRun"]
        assert asked.what["version"] == 1
        assert {it.partition for it in info.verdicts} == {"oven"}
        records = [it.name for it in info.files if it.name.startswith("records/")]
        assert records
        for name in records:
            assert b'"execution"' in run.fetch(name), "a program has times of execution"


def test_a_site_that_does_not_come_up_leaves_the_one_before(machine: Ground) -> None:
    with quietcore.connect(machine.address) as host:
        host.upload(SOURCES, program="oven")
        host.apply(TEXT)
        process = host.sites()[0].pid
        wrong = TEXT.replace("oven_P.*", "oven_P.nothing")
        with pytest.raises(quietcore.NotPossibleError, match="version 1 runs again"):
            host.apply(wrong)
        assert host.sites()[0].pid == process, "it was never brought down"
        states = [(it.number, it.state.value) for it in host.site("bakery").versions()]
        assert states == [(2, "failed"), (1, "running")]


def test_a_site_of_somebody_else_is_replaced_if_that_is_asked_for(machine: Ground) -> None:
    with quietcore.connect(machine.address) as host:
        host.upload(SOURCES, program="oven")
        machine.quietcore("up", "--detach", str(machine.folder / "site" / "oven.toml"))
        with pytest.raises(quietcore.NotPossibleError, match="did not come by a call"):
            host.apply(TEXT)
        applied = host.apply(TEXT, replace=True)
        assert applied.version is not None
        assert applied.version.number == 1


def test_what_names_a_file_of_the_machine_is_refused_with_its_place(machine: Ground) -> None:
    with quietcore.connect(machine.address) as host:
        for path in ("/etc", "../oven", "models/oven"):
            wrong = TEXT.replace('model = "oven"', f'model = "{path}"')
            for call in (host.plan, host.apply):
                with pytest.raises(quietcore.InvalidRequestError, match=r"program.model.*that was"):
                    call(wrong)
        with pytest.raises(quietcore.NotFoundError, match="no program `oven`"):
            host.apply(TEXT)
        assert not host.sites()


@pytest.mark.parametrize("step", ["kept", "down", "up"])
def test_the_daemon_is_killed_at_a_step_and_the_old_or_the_new_site_runs(
    machine: Ground, step: str
) -> None:
    """Method: a call is begun, and the daemon is killed as soon as its step is seen."""
    with quietcore.connect(machine.address) as host:
        host.upload(SOURCES, program="oven")
        host.apply(TEXT)
    version = machine.folder / "state" / "@daemon" / "sites" / "bakery" / "2"
    run = machine.folder / "run" / "bakery" / "site.json"

    def runs(number: int) -> bool:
        try:
            return f"/bakery/{number}/" in run.read_text()
        except FileNotFoundError:
            return False

    seen = {"kept": version.exists, "down": lambda: not runs(1), "up": lambda: runs(2)}

    async def apply() -> None:
        async with quietcore.aio.connect(machine.address) as host:
            call = asyncio.create_task(host.apply(TEXT + "# second\n"))
            await asyncio.to_thread(wait_until, seen[step], step)
            machine.kill_daemon()
            with pytest.raises(quietcore.QuietcoreError):
                await call

    asyncio.run(apply())
    machine.start_daemon()
    with quietcore.connect(machine.address) as host:
        site = host.site("bakery")
        wait_until(lambda: all(it.state != "begun" for it in site.versions()), "it has ended")
        assert [it.name for it in host.sites()] == ["bakery"]
        running = [it.number for it in site.versions() if it.state == "running"]
        assert running == [2] if step != "kept" else running in ([1], [2])


def test_both_ways_of_choosing_a_program_are_the_same() -> None:
    plans = [site_versions.plan("", {"axis": it}) for it in ("servo@3", ("servo", 3))]
    assert plans[0].request == plans[1].request
    newest = site_versions.plan("", {"axis": "servo"}).request
    assert newest.programs[0].version == 0  # type: ignore[attr-defined]
    assert site_versions.text_of(TEXT) == TEXT
    assert site_versions.text_of(HERE / "site" / "oven.toml") == TEXT
