"""The client and the contract: messages, calls, and the two faces."""

import inspect
import sys
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool

import quietcore
import quietcore.aio
from quietcore import (
    audit,
    cpus,
    machine,
    partitions,
    programs,
    qualification,
    site_versions,
    sites,
    timing,
    traces,
    variables,
)
from quietcore.calls import Call, Stream, Upload

HERE = Path(__file__).parents[1]

CALLS = [
    machine.get_host(),
    machine.examine("1"),
    cpus.list_cpus(),
    sites.list_sites(),
    sites.validate(""),
    sites.watch_events("", None, 0),
    site_versions.plan("", {"axis": "servo@3"}),
    site_versions.apply("", None, replace=True),
    site_versions.undo("line", before=True),
    site_versions.list_versions("line"),
    site_versions.get("line", 1),
    partitions.list_partitions(""),
    timing.get("", "axis"),
    partitions.pause("", "axis"),
    partitions.resume("", "axis"),
    partitions.restart("", "axis", "warm"),
    variables.list_variables("", "axis", "", ""),
    variables.read("", "axis", ("x",)),
    variables.change("", "axis", (), confirm=False),
    variables.unforce_all("", "axis"),
    variables.list_changes("", 0),
    variables.subscribe("", "axis", ("x",), 0.1, 0.0)[0],
    audit.list_entries(0, audit.Wanted("", "", "")),
    programs.upload("servo", HERE / "src"),
    programs.build("servo", 0, ("", ""), None),
    programs.list_programs(),
    programs.list_versions("servo"),
    programs.deploy(("", "axis"), "servo", 0, wait=True),
    programs.roll_back(("", "axis"), wait=True),
    programs.delete_version("servo", 1),
    qualification.qualify(qualification.Measured("line"), ("tp2",), 1.0),
    qualification.tune(qualification.Measured(), qualification.Rounds(), "", (), 0.0),
    qualification.disturb(qualification.Measured(toml=""), qualification.Rounds(), (), ()),
    qualification.cancel(1),
    qualification.watch(1, qualification.WatchReader(None)),
    qualification.list_runs(),
    qualification.get_run(1),
    qualification.list_verdicts(),
    qualification.fetch(1, "report.html"),
    traces.start("", "axis", traces.Settings(["x"], "", 0, 1, 1, 0, 1)),
    traces.stop(1),
    traces.delete(1),
    traces.get(1),
    traces.list_traces(),
    traces.fetch(1, traces.RowsReader()),
]


def test_the_messages_are_those_of_the_contract(tmp_path: Path) -> None:
    sys.path.insert(0, str(HERE))
    try:
        from generate import generate
    finally:
        sys.path.remove(str(HERE))
    generate(tmp_path)
    made = {it.name: it.read_text() for it in (tmp_path / "quietcore/v1").iterdir()}
    folder = HERE / "src/quietcore/v1"
    kept = {it.name: it.read_text() for it in folder.iterdir() if it.is_file()}
    assert kept == made, "run `python generate.py` in clients/python"


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.path)
def test_each_call_is_one_of_the_contract(call: Call | Stream | Upload) -> None:  # type: ignore[type-arg]
    service, _, name = call.path.partition("/")
    method = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
    assert method.input_type == call.request.DESCRIPTOR
    assert method.output_type == call.answer.DESCRIPTOR
    assert method.server_streaming == isinstance(call, Stream)
    assert method.client_streaming == isinstance(call, Upload)


@pytest.mark.parametrize("kind", ["Host", "Site", "Partition", "Run", "Trace", "Watch", "Events"])
def test_both_faces_have_the_same_methods(kind: str) -> None:
    def methods(of: type) -> dict[str, list[str]]:
        return {
            name: [str(it).partition(":")[0] for it in inspect.signature(it).parameters.values()]
            for name, it in inspect.getmembers(of, inspect.isfunction)
            if not name.startswith("_")
        }

    assert methods(getattr(quietcore, kind)) == methods(getattr(quietcore.aio, kind))


def test_a_word_of_a_later_daemon_is_unknown_and_no_error() -> None:
    from quietcore.v1 import partition_pb2 as pb

    answer = pb.ListPartitionsResponse(partitions=[pb.Partition(name="axis", activity=99)])  # type: ignore[arg-type]
    (state,) = partitions.list_partitions("").read(answer)
    assert state.activity is quietcore.Activity.UNKNOWN
    assert "unknown" in state._repr_html_()


def test_an_interval_is_sent_in_microseconds_and_never_as_the_default() -> None:
    for interval, sent in ((0.001, 1000), (0.0333333, 33333), (0.0, 1), (-1.0, 1)):
        stream, _ = variables.subscribe("", "axis", ("x",), interval, 0.0)
        assert stream.request.interval_us == sent  # type: ignore[attr-defined]
