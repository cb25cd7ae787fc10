"""Figures with units, and tables for notebooks.

Tables are plain HTML without scripts or colours of their own, so that they look right in a light
and in a dark notebook, and in print. All texts from outside are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import ClassVar, Generic, TypeVar, overload

Row = TypeVar("Row")

_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs"))
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums"
_TEXT = "text-align:left"
# A text of so many characters is not broken into lines.
_SHORT = 24


def duration(nanoseconds: int) -> str:
    """Writes a duration with its unit and three significant digits.

    >>> duration(9_864_000), duration(999), duration(12_000_000_000)
    ('9.86 ms', '999 ns', '12.0 s')
    """
    for size, unit in _UNITS:
        # What rounds to a thousand belongs to the larger unit.
        if nanoseconds >= size * 0.9995:
            value = nanoseconds / size
            decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{decimals}f} {unit}"
    return f"{nanoseconds} ns"


def count(number: int) -> str:
    """Writes a count with spaces between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Makes an HTML table; counts and figures go to the right of their column."""
    head = "".join(f'<th style="{_TEXT}">{escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    style = "caption-side:top;text-align:left;font-weight:bold;white-space:pre-line"
    return (
        f'<table><caption style="{style}">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


class Figure(str):
    """A text that is a quantity, and stands to the right in a table."""


def _cell(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and type(value) is int:
        return f'<td style="{_NUMBER}">{escape(count(value))}</td>'
    text = str(value)
    style = _NUMBER if isinstance(value, Figure) else _TEXT
    if len(text) <= _SHORT:
        style += ";white-space:nowrap"
    return f'<td style="{style}">{escape(text)}</td>'


class Listing(Sequence[Row], Generic[Row]):
    """A sequence that a notebook shows as a table."""

    _columns: ClassVar[tuple[tuple[str, Callable[..., object]], ...]] = ()

    def __init__(self, rows: Iterable[Row] = ()):
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Listing):
            return type(self) is type(other) and self._rows == other._rows
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._rows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._rows)!r})"

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _caption(self) -> str:
        return f"{type(self).__name__} ({len(self)})"

    def _repr_html_(self) -> str:
        rows = ([value(row) for _, value in self._columns] for row in self)
        return table(self._caption(), [name for name, _ in self._columns], rows)
