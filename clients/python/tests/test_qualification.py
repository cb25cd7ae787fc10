"""Runs by the real daemon: a campaign of the probe, followed, cancelled and found again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Ground, wait_until

import quietcore
from quietcore import RunKind, RunState

SITE = """
[site]
name = "bench"

[[partition]]
name = "probe"
class = "process-control"

[partition.vcr]
cpus = [0]

[partition.program]
period = "5 ms"
policy = "other"

[campaign]
profiles = ["tp2"]
duration = "1 s"
warm_up = "100 ms"
exceedance = 1e-3
"""


@pytest.fixture(scope="module")
def alone(built: None) -> Iterator[Ground]:
    """A daemon without a site."""
    ground = Ground()
    try:
        ground.start_daemon()
        yield ground
    finally:
        ground.end()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A site file that uses the probe alone."""
    path = tmp_path / "bench.toml"
    path.write_text(SITE)
    return path


def test_a_site_is_qualified_and_its_evidence_is_fetched(
    alone: Ground, file: Path, tmp_path: Path
) -> None:
    with quietcore.connect(alone.address) as host:
        run = host.qualify(file=file, seconds=1.0)
        said: list[str] = []
        with run.watch(say=said.append) as progress:
            seen = list(progress)
        info = run.info()
        assert info.state is RunState.COMPLETE, said
        assert seen[-1].profile == "tp2"
        assert seen[-1].fraction == 1.0
        assert any(line.startswith("evidence: ") for line in said)
        assert {it.partition for it in run.verdicts()} == {"probe"}
        assert info.verdict in {"PASS", "FAIL", "NOT PROVEN"}
        assert "<table>" in run.verdicts()._repr_html_()
        page = run.report(tmp_path / "report.html").read_text()
        assert page.lower().startswith("<!doctype html>")
        frame = run.records()
        assert frame["count"].sum() >= 150
        assert [it.number for it in host.runs()] == [run.number]
        (standing,) = host.verdicts()
        assert (standing.site, standing.partition, standing.run) == ("bench", "probe", run.number)
        for name in ("../run.json", "records/../../run.json", "/etc/passwd", ""):
            with pytest.raises(quietcore.NotFoundError):
                run.fetch(name)


def test_the_controls_that_a_site_needs_are_looked_for(
    alone: Ground, file: Path, tmp_path: Path
) -> None:
    with quietcore.connect(alone.address) as host:
        run = host.tune(
            file=file, profile="tp2", controls=["interrupts"], confirm=0.2, rounds=2, block=0.2
        )
        said: list[str] = []
        ended = run.wait(say=said.append)
        if os.geteuid() != 0:
            assert ended.state is RunState.FAILED, "only root changes settings of the machine"
            return
        assert (ended.kind, ended.state) == (RunKind.TUNE, RunState.COMPLETE), said
        assert ended.verdict == ""
        assert "interrupts" in run.report(tmp_path / "report.html").read_text()
        ended = host.tune(file=file, controls=["interupts"]).wait(say=said.append)
        assert ended.state is RunState.FAILED
        assert "did you mean `interrupts`?" in ended.why + "".join(said)


def test_what_a_neighbour_does_to_a_site_is_measured(
    alone: Ground, file: Path, tmp_path: Path
) -> None:
    with quietcore.connect(alone.address) as host:
        run = host.disturb(
            file=file, partitions=["probe"], aggressors=["timer"], rounds=2, block=0.2
        )
        said: list[str] = []
        ended = run.wait(say=said.append)
        assert (ended.kind, ended.state) == (RunKind.DISTURB, RunState.COMPLETE), said
        assert "expirations/s" in run.report(tmp_path / "report.html").read_text()


def test_a_run_outlives_the_daemon_and_is_cancelled_by_the_next(alone: Ground, file: Path) -> None:
    with quietcore.connect(alone.address) as host:
        number = host.qualify(file=file, seconds=60.0).number
        with pytest.raises(quietcore.BusyError, match=f"run {number} goes on"):
            host.qualify(file=file)
    alone.kill_daemon()
    alone.start_daemon()
    with quietcore.connect(alone.address) as host:
        run = host.run(number)
        assert run.info().state is RunState.RUNNING
        run.cancel()
        ended = run.wait()
        assert ended.state is RunState.INTERRUPTED
        assert ended.cancelled_by
        with pytest.raises(quietcore.NotPossibleError):
            run.cancel()


def test_a_site_file_that_is_wrong_or_leads_out_is_refused(alone: Ground, file: Path) -> None:
    with quietcore.connect(alone.address) as host:
        before = len(host.runs())
        file.write_text(SITE.replace('"5 ms"', '"5 parsecs"').replace("[0]", "[]"))
        with pytest.raises(quietcore.InvalidRequestError, match=r"(?s)period.*|cpus.*"):
            host.qualify(file=file)
        file.write_text(SITE.replace("[partition.program]", '[partition.program]\nmodel = "/etc"'))
        with pytest.raises(quietcore.InvalidRequestError, match="may use the probe alone"):
            host.qualify(file=file)
        assert len(host.runs()) == before


def test_a_run_that_cannot_measure_says_why(alone: Ground, file: Path) -> None:
    file.write_text(SITE.replace("[0]", "[511]"))
    with quietcore.connect(alone.address) as host:
        run = host.qualify(file=file)
        said: list[str] = []
        wait_until(lambda: run.info().is_over, "it ends")
        ended = run.wait(say=said.append)
        assert ended.state in {RunState.FAILED, RunState.INTERRUPTED}
        assert said
