"""Values of variables, as Python's own types.

| type of the variable | in Python |
|---|---|
| `bool` | `bool` |
| `i8` to `i64`, `u8` to `u64` | `int` |
| `f32`, `f64` | `float` |
| an enumeration | `Enumerated`: an `int` with a name, equal to either |
| an address | `Address`: an `int`, shown in hexadecimal |
"""

from __future__ import annotations

import numbers
from typing import SupportsFloat, SupportsIndex, TypeAlias

from quietcore.v1 import variable_pb2 as pb


class Enumerated(int):
    """A value of an enumeration: equal to its number and to its name.

    >>> mode = Enumerated(2, "RUN")
    >>> mode == 2, mode == "RUN", str(mode)
    (True, True, 'RUN')
    """

    name: str

    def __new__(cls, number: int, name: str = "") -> Enumerated:
        """Makes the value; `name` is empty if the enumeration has none for its number."""
        made = super().__new__(cls, number)
        made.name = name
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return bool(self.name) and self.name == other
        return int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __str__(self) -> str:
        return self.name or int.__repr__(self)

    def __repr__(self) -> str:
        return f"<{self.name or '?'}: {int(self)}>"


class Address(int):
    """An address in the process of the program; it can't be written."""

    def __repr__(self) -> str:
        return f"{int(self):#x}"

    __str__ = __repr__


Value: TypeAlias = bool | int | float | Enumerated | Address
"""A value as it is read."""

Writable: TypeAlias = str | SupportsIndex | SupportsFloat
"""A value as it may be written: of Python or numpy, or as a person says it (`"RUN"`, `"0x1F"`)."""


def of_message(value: pb.Value) -> Value:
    """Returns the value in a message."""
    match value.WhichOneof("kind"):
        case "boolean":
            return value.boolean
        case "signed":
            return value.signed
        case "unsigned":
            return value.unsigned
        case "single":
            return value.single
        case "double":
            return value.double
        case "enumeration":
            return Enumerated(value.enumeration.number, value.enumeration.name)
        case "address":
            return Address(value.address)
        case _:
            raise ValueError("the daemon sends a value of a kind that this version does not know")


def shown(value: Value) -> str:
    """Returns the value as a person reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_text(value: Writable) -> str:
    """Returns the value as a person writes it.

    Raises:
        TypeError: if it is neither a text nor a number nor a truth value.
    """
    if isinstance(value, str | Enumerated):
        return str(value)
    if hasattr(value, "item"):  # A scalar of numpy, whose `bool` is no `bool`.
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SupportsIndex):
        return str(value.__index__())
    if isinstance(value, numbers.Real | SupportsFloat):
        return repr(float(value))
    raise TypeError(f"a variable can't have the value {value!r}")
