"""Data frames, curves and tables for notebooks, of a program that really runs."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from conftest import PATIENCE_S

import quietcore

mpl.use("agg")

from quietcore.frames import frame_of
from quietcore.plot import trend

OUTPUTS = ["oven_Y.temperature", "oven_Y.mode", "oven_Y.warm"]


@pytest.fixture
def frame(oven: quietcore.Partition) -> pd.DataFrame:
    # On a machine that stands still, a short time may be over before there is a value.
    for seconds in (0.3, 3.0, 10.0):
        frame = oven.frame("oven_Y.*", "oven_DW.cycles", seconds=seconds, interval=0.01)
        if len(frame):
            break
    return frame


def test_a_frame_has_a_row_for_each_sample(frame: pd.DataFrame) -> None:
    assert set(frame.columns) == {"oven_DW.cycles", *OUTPUTS}
    assert frame.index.names == ["cycle", "time"]
    assert len(frame) >= 1
    cycle = frame.index.get_level_values("cycle")
    time = frame.index.get_level_values("time")
    assert cycle.is_monotonic_increasing
    assert time.is_monotonic_increasing
    assert str(time.dtype) == "datetime64[ns, UTC]"
    assert frame["oven_Y.temperature"].dtype == float
    assert frame["oven_DW.cycles"].dtype == int
    assert frame["oven_Y.warm"].dtype == bool
    assert set(frame["oven_Y.mode"]) == {"OVEN_HEAT"}
    assert frame.attrs["left_out"] == 0
    assert frame.attrs["types"]["oven_Y.mode"] == "OvenMode"


def test_a_trend_has_a_panel_for_each_group(frame: pd.DataFrame, tmp_path: Path) -> None:
    figure = trend(frame, ("oven_Y.temperature",), "oven_Y.mode", "oven_Y.warm", title="oven")
    assert len(figure.axes) == 3
    assert figure.axes[2].get_xlabel().startswith("seconds from ")
    (line,) = figure.axes[0].get_lines()
    assert np.shape(line.get_xdata()) == (len(frame),)
    figure.savefig(tmp_path / "trend.png")
    assert (tmp_path / "trend.png").stat().st_size > 1000
    ticks = figure.axes[2].get_yticklabels()
    assert [it.get_text() for it in ticks] == ["false", "true"]
    assert len(trend(frame).axes) == len(frame.columns)
    with pytest.raises(KeyError):
        trend(frame, "oven_Y.smoke")
    with pytest.raises(ValueError, match="1 to 4 variables"):
        trend(frame, ["oven_Y.temperature"] * 5)
    with pytest.raises(ValueError, match="nothing to draw"):
        trend(frame_of([]))


def test_notebooks_show_tables(host: quietcore.Host, oven: quietcore.Partition) -> None:
    with oven.forced({"oven_U.door": True}) as applied:
        shown: list[Any] = [
            host.sites(),
            host.site(),
            oven,
            oven.variables(),
            oven.read("*"),
            applied,
            host.site().changes(),
            host.doctor("0"),
            host.check_text(""),
            next(oven.watch("*", seconds=PATIENCE_S)),
        ]
        pages = [it._repr_html_() for it in shown]
    for page in pages:
        # Each is one well-formed table, of rows that have as many cells as its head.
        root = ElementTree.fromstring(page)
        columns = len(root.findall("./thead/tr/th"))
        assert all(len(row) == columns for row in root.findall("./tbody/tr"))
        assert root.findall("./tbody/tr")
    assert "✓ running" in pages[1]
    assert ">forced<" in pages[4]
