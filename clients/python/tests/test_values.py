"""Values, figures and addresses, without a daemon."""

import math
from pathlib import Path

import numpy as np
import pytest

from quietcore.display import Listing, duration, table
from quietcore.target import choose, local_socket
from quietcore.v1 import variable_pb2 as pb
from quietcore.values import Address, Enumerated, Writable, as_text, of_message


@pytest.mark.parametrize(
    ("message", "value", "kind"),
    [
        (pb.Value(boolean=True), True, bool),
        (pb.Value(signed=-3), -3, int),
        (pb.Value(unsigned=2**64 - 1), 2**64 - 1, int),
        (pb.Value(single=0.5), 0.5, float),
        (pb.Value(double=0.1), 0.1, float),
        (pb.Value(enumeration=pb.EnumerationValue(number=2, name="RUN")), "RUN", Enumerated),
        (pb.Value(address=16), 16, Address),
    ],
)
def test_a_value_has_the_type_of_its_variable(message: pb.Value, value: object, kind: type) -> None:
    read = of_message(message)
    assert read == value
    assert type(read) is kind


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (np.False_, "false"),
        (-7, "-7"),
        (np.uint8(200), "200"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (np.float64(3.5), "3.5"),
        (np.float32(0.1), "0.10000000149011612"),
        (math.inf, "inf"),
        ("0x1F", "0x1F"),
        (Enumerated(2, "RUN"), "RUN"),
        (Enumerated(9), "9"),
    ],
)
def test_a_value_is_written_as_a_person_writes_it(value: Writable, text: str) -> None:
    assert as_text(value) == text


def test_what_is_no_value_is_refused_before_it_is_sent() -> None:
    with pytest.raises(TypeError, match="can't have the value"):
        as_text([1.0])  # type: ignore[arg-type]


def test_a_value_of_an_enumeration_is_its_number_and_its_name() -> None:
    mode = Enumerated(2, "RUN")
    assert (mode == 2, mode == "RUN", mode != "IDLE", mode == 3) == (True, True, True, False)
    assert Enumerated(9) != ""
    assert {mode: "x"}[2] == "x"  # type: ignore[index]
    assert f"{mode}" == "RUN"


def test_a_duration_has_its_unit_and_three_digits() -> None:
    written = [duration(it) for it in (0, 999, 1000, 9_994, 999_700, 1_000_000, 12_345_678_901)]
    assert written == ["0 ns", "999 ns", "1.00 µs", "9.99 µs", "1.00 ms", "1.00 ms", "12.3 s"]


def test_a_table_escapes_what_comes_from_outside() -> None:
    made = table("<b>", ["<i>"], [["<script>"], [1234]])
    assert "<script>" not in made
    assert "&lt;script&gt;" in made
    assert "1\u202f234" in made


def test_listings_are_equal_by_kind_and_content() -> None:
    class Other(Listing[int]):
        pass

    assert Listing([1, 2]) == Listing((1, 2))
    assert Listing([1, 2]) != Other([1, 2])
    assert list(Listing([1, 2, 3])[1:]) == [2, 3]


@pytest.mark.parametrize(
    ("user", "environment", "socket"),
    [
        (0, {"XDG_RUNTIME_DIR": "/x"}, "/run/quietcore/@daemon/socket"),
        (7, {"XDG_RUNTIME_DIR": "/x"}, "/x/quietcore/@daemon/socket"),
        (7, {"XDG_RUNTIME_DIR": "x"}, "/tmp/quietcore-7/@daemon/socket"),
        (0, {"QUIETCORE_RUN_DIR": "/r"}, "/r/@daemon/socket"),
    ],
)
def test_the_socket_is_where_the_command_line_has_it(
    user: int, environment: dict[str, str], socket: str
) -> None:
    assert local_socket(environment, user) == Path(socket)


def test_arguments_that_do_not_go_together_are_refused_with_what_would() -> None:
    with pytest.raises(ValueError, match="make it an absolute path"):
        choose(environment={"QUIETCORE_RUN_DIR": "r"})
    with pytest.raises(ValueError, match="the local socket needs none"):
        choose(token="t")
    with pytest.raises(ValueError, match="say who calls"):
        choose("press:8443")
    with pytest.raises(ValueError, match="give both or none"):
        choose("press:8443", certificate="c.pem")
    with pytest.raises(ValueError, match="give no others"):
        choose("press:8443", access="anna", key="k.pem")
    with pytest.raises(FileNotFoundError, match=r"authority\.pem"):
        choose("press:8443", access="/nowhere")
    for address in ("press", "[::1]"):
        with pytest.raises(ValueError, match="name the port"):
            choose(address, token="t")
    with pytest.raises(FileNotFoundError):
        choose("press:8443", token="t", authority="/nowhere/ca.pem")


def test_a_token_is_shown_to_nobody() -> None:
    assert "secret" not in repr(choose("press:8443", token="secret"))
