"""Connections to another machine: what the client shows, and whom it believes.

A server of grpc's stands for the daemon, and takes note of who calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

import quietcore
from quietcore.v1 import host_pb2, variable_pb2


class FakeDaemon:
    """A daemon that answers as a test tells it, by TLS."""

    def __init__(self, folder: Path):
        authority = trustme.CA()
        own = authority.issue_cert("localhost")
        caller = authority.issue_cert("anna@press")
        self.authority = folder / "authority.pem"
        self.certificate = folder / "anna.pem"
        self.key = folder / "anna.key"
        authority.cert_pem.write_to_path(self.authority)
        caller.private_key_pem.write_to_path(self.key)
        for part in caller.cert_chain_pems:
            part.write_to_path(self.certificate, append=True)
        chain = b"".join(it.bytes() for it in own.cert_chain_pems)
        pair = [(own.private_key_pem.bytes(), chain)]
        self.asked: list[tuple[dict[str, str | bytes], Mapping[str, Any]]] = []
        self.refusal: bytes | None = None
        self.samples: list[variable_pb2.SubscribeVariablesResponse] = []
        self._server = grpc.server(ThreadPoolExecutor(2))
        self._server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(
                    "quietcore.v1.HostService",
                    {
                        "GetHost": grpc.unary_unary_rpc_method_handler(
                            self._host,
                            host_pb2.GetHostRequest.FromString,
                            host_pb2.GetHostResponse.SerializeToString,
                        )
                    },
                ),
                grpc.method_handlers_generic_handler(
                    "quietcore.v1.VariableService",
                    {
                        "SubscribeVariables": grpc.unary_stream_rpc_method_handler(
                            lambda request, context: iter(self.samples),
                            variable_pb2.SubscribeVariablesRequest.FromString,
                            variable_pb2.SubscribeVariablesResponse.SerializeToString,
                        )
                    },
                ),
            )
        )
        # A caller without a certificate may show a token.
        credentials = grpc.ssl_server_credentials(pair, authority.cert_pem.bytes(), False)
        asking = grpc.ssl_server_credentials(pair, authority.cert_pem.bytes(), True)
        self.address = f"localhost:{self._server.add_secure_port('localhost:0', credentials)}"
        self.strict = f"localhost:{self._server.add_secure_port('localhost:0', asking)}"
        self._server.start()

    def stop(self) -> None:
        self._server.stop(None).wait(60)

    def _host(
        self, request: host_pb2.GetHostRequest, context: grpc.ServicerContext
    ) -> host_pb2.GetHostResponse:
        metadata = dict(context.invocation_metadata())
        self.asked.append((metadata, context.auth_context()))
        if self.refusal is not None:
            context.set_trailing_metadata((("grpc-status-details-bin", self.refusal),))
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "viewers may not; ask for a role")
        return host_pb2.GetHostResponse(name="press", version="0.1.0", kernel="6.1")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeDaemon]:
    daemon = FakeDaemon(tmp_path_factory.mktemp("daemon"))
    yield daemon
    daemon.stop()


@pytest.fixture
def daemon(started: FakeDaemon) -> FakeDaemon:
    started.refusal = None
    return started


def test_a_caller_shows_a_certificate(daemon: FakeDaemon) -> None:
    with quietcore.connect(
        daemon.strict,
        certificate=daemon.certificate,
        key=daemon.key,
        authority=daemon.authority,
    ) as host:
        assert host.info.name == "press"
    _, who = daemon.asked[-1]
    assert b"anna@press" in b" ".join(who["x509_subject_alternative_name"])


def test_a_caller_shows_a_token_to_whom_it_believes(daemon: FakeDaemon) -> None:
    with quietcore.connect(daemon.address, token="t0ken", authority=daemon.authority):
        pass
    metadata, _ = daemon.asked[-1]
    assert metadata["authorization"] == "Bearer t0ken"
    assert str(metadata["user-agent"]).startswith("quietcore-python/")
    asked = len(daemon.asked)
    with pytest.raises(quietcore.UnavailableError):
        # The system's authorities know nothing of this one.
        quietcore.connect(daemon.address, token="t0ken", timeout=10)
    assert len(daemon.asked) == asked


def test_a_call_that_an_older_daemon_does_not_know_says_so(daemon: FakeDaemon) -> None:
    with quietcore.connect(daemon.address, token="t", authority=daemon.authority) as host:
        with pytest.raises(quietcore.QuietcoreError, match="older than this client") as refused:
            host.doctor()
        assert refused.value.kind == "UNIMPLEMENTED"


def test_who_shows_no_certificate_is_turned_away(daemon: FakeDaemon) -> None:
    with pytest.raises(quietcore.UnavailableError):
        quietcore.connect(daemon.strict, token="t", authority=daemon.authority, timeout=10)


def test_a_refusal_has_its_kind_and_parts(daemon: FakeDaemon) -> None:
    info = error_details_pb2.ErrorInfo(
        reason="NO_ROLE",
        domain="quietcore",
        metadata={"what": "viewers may not", "where": "axis", "remedy": "ask for a role"},
    )
    detail = any_pb2.Any()
    detail.Pack(info)
    daemon.refusal = status_pb2.Status(code=7, details=[detail]).SerializeToString()
    with pytest.raises(quietcore.AccessError) as refused:
        quietcore.connect(daemon.address, token="t", authority=daemon.authority)
    error = refused.value
    assert str(error) == "viewers may not; ask for a role"
    assert (error.kind, error.what, error.where) == ("NO_ROLE", "viewers may not", "axis")
    assert error.remedy == "ask for a role"


@pytest.mark.parametrize("details", [b"", b"\xff\xff", b"\x1a\x02\x0a\x00"])
def test_details_that_are_none_leave_the_sentence(daemon: FakeDaemon, details: bytes) -> None:
    daemon.refusal = details
    with pytest.raises(quietcore.AccessError, match="viewers may not") as refused:
        quietcore.connect(daemon.address, token="t", authority=daemon.authority)
    assert refused.value.kind == "PERMISSION_DENIED"


def test_a_watch_tells_what_was_left_out_and_lists_variables_anew(daemon: FakeDaemon) -> None:
    def listed(*paths: str) -> variable_pb2.SubscribeVariablesResponse:
        variables = [variable_pb2.Variable(path=path, type="f64") for path in paths]
        return variable_pb2.SubscribeVariablesResponse(
            variables=variable_pb2.VariableList(variables=variables)
        )

    def sampled(
        cycle: int, left_out: int, **values: float
    ) -> variable_pb2.SubscribeVariablesResponse:
        numbers = [int(it[1:]) for it in values]
        sample = variable_pb2.Sample(
            reading=variable_pb2.Reading(cycle=cycle),
            read_at_ns=1_700_000_000_123_456_789,
            indices=numbers,
            values=[variable_pb2.Value(double=it) for it in values.values()],
            left_out=left_out,
        )
        return variable_pb2.SubscribeVariablesResponse(sample=sample)

    daemon.samples = [
        listed("x0", "x1"),
        sampled(1, 0, n0=1.0, n1=2.0),
        sampled(9, 3, n1=4.0),
        listed("y0"),
        sampled(10, 2, n0=5.0),
    ]
    with quietcore.connect(daemon.address, token="t", authority=daemon.authority) as host:
        watch = host.partition("axis").watch("*")
        samples = list(watch)
    assert [dict(it) for it in samples] == [
        {"x0": 1.0, "x1": 2.0},
        {"x0": 1.0, "x1": 4.0},
        {"y0": 5.0},
    ]
    assert [it.changed for it in samples] == [("x0", "x1"), ("x1",), ("y0",)]
    assert [it.left_out for it in samples] == [0, 3, 2]
    assert watch.left_out == 5
    assert list(watch.variables) == ["y0"]
    assert samples[0].at.isoformat() == "2023-11-14T22:13:20.123456+00:00"
