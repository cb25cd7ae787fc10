"""The examples of the pages and of `examples/`, on the servo axis that they speak of."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PATIENCE_S, Ground

import quietcore

HERE = Path(__file__).parents[1]
ROOT = HERE.parents[1]

# Those that bring a site down or measure for a minute are marked `no-run`; their calls have tests
# of their own.
PAGES = (HERE / "README.md", ROOT / "docs" / "daemon.md")
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
]


def patient_servo() -> str:
    """Returns the example's site file for a machine that others use, too.

    It asks for no real-time priority and no CPU of its own, and its watchdog sleeps through a pause
    of the machine.
    """
    text = (ROOT / "examples" / "servo.toml").read_text(encoding="utf-8")
    changes = {
        "housekeeping = [0] ": "",
        "cpus = [1]": "cpus = [0]",
        "priority = 90 ": 'policy = "other" ',
        'early_wake = "adaptive"': 'early_wake = "off"',
        'watchdog = "500 us"': 'watchdog = "2 s"',
        "../models/servo": str(ROOT / "models" / "servo"),
    }
    for old, new in changes.items():
        assert old in text, f"the example has no `{old}` any more"
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def servo(built: None) -> Iterator[Ground]:
    ground = Ground()
    try:
        file = ground.folder / "servo.toml"
        file.write_text(patient_servo(), encoding="utf-8")
        ground.start(file, site="servo", partition="axis")
        yield ground
    finally:
        ground.end()


def run(ground: Ground, folder: Path, *arguments: str) -> str:
    environment = {**ground.environment, "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_an_example_of_a_page_runs(number: int, servo: Ground, tmp_path: Path) -> None:
    (tmp_path / "models").symlink_to(ROOT / "models")
    said = run(servo, tmp_path, "-c", BLOCKS[number])
    pictures = re.findall(r'savefig\("(.*?)"\)', BLOCKS[number])
    assert said or pictures
    assert all((tmp_path / picture).exists() for picture in pictures)


def test_the_step_response_is_drawn(servo: Ground, tmp_path: Path) -> None:
    said = run(servo, tmp_path, str(HERE / "examples" / "step_response.py"), "0.5", "both.png")
    assert "Kp = " in said
    assert (tmp_path / "both.png").stat().st_size > 1000
    with quietcore.connect(servo.address) as host:
        assert host.partition("axis").state().forces == 0


def test_the_command_is_a_program(servo: Ground, tmp_path: Path) -> None:
    assert run(servo, tmp_path, "-m", "quietcore", "ps").startswith("servo axis: ")
