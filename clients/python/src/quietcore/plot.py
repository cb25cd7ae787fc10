"""Trends of variables, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quietcore.frames import seconds_of

try:
    import matplotlib.pyplot as plt
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "plots need matplotlib; install it with `pip install quietcore[plot]`", name=error.name
    ) from error

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of Okabe and Ito, which people with colour blindness tell apart; black is the axes'.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""The colours of a panel's variables, and so the most that it has."""

_PANEL_HEIGHT_IN = 1.7
_WIDTH_IN = 9.0


def trend(frame: pd.DataFrame, *panels: str | Sequence[str], title: str = "") -> Figure:
    """Draws variables of a data frame that `Partition.frame` has made over time.

    A value holds until the next sample, and so is drawn as steps. Names of an enumeration have a
    level each.

    Args:
        frame: the samples.
        panels: what is drawn, from the top: a column, or up to four that share an axis, such as a
            set point and what was measured. Each column has its own panel where nothing is said.
        title: the headline; none if empty.

    Raises:
        KeyError: if there is no such column.
        ValueError: if there is nothing to draw, or too much in one panel.
    """
    chosen = [(it,) if isinstance(it, str) else tuple(it) for it in panels or frame.columns]
    if not chosen or frame.empty:
        raise ValueError("there is nothing to draw: the data frame has no samples or no columns")
    for panel in chosen:
        if not 1 <= len(panel) <= len(COLOURS):
            raise ValueError(f"a panel has 1 to {len(COLOURS)} variables, not {len(panel)}")
    figure, grid = plt.subplots(
        len(chosen),
        squeeze=False,
        sharex=True,
        figsize=(_WIDTH_IN, 0.9 + _PANEL_HEIGHT_IN * len(chosen)),
        layout="constrained",
    )
    seconds = seconds_of(frame)
    for axes, panel in zip(grid[:, 0], chosen, strict=True):
        for column, colour in zip(panel, COLOURS, strict=False):
            _draw(axes, seconds, frame[column], colour)
        axes.legend(loc="upper right", frameon=False, ncols=len(panel), fontsize="small")
        axes.margins(x=0.01, y=0.25)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    grid[-1, 0].set_xlabel(f"seconds from {frame.index[0][1]:%Y-%m-%d %H:%M:%S} UTC")
    left_out = frame.attrs.get("left_out", 0)
    remark = f"{left_out} samples were left out" if left_out else ""
    if title or remark:
        figure.suptitle("; ".join(filter(None, (title, remark))), x=0.01, ha="left")
    return figure


def _draw(axes: Axes, seconds: pd.Index, values: pd.Series, colour: str) -> None:
    if values.dtype == bool:
        values = values.astype(int)
        axes.set_yticks([0, 1], ["false", "true"])
    # One sample alone would be a line without a length.
    marker = "o" if len(values) == 1 else None
    axes.step(seconds, values, where="post", color=colour, label=str(values.name), marker=marker)
