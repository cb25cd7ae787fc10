"""A running site and its daemon, both real, in folders of their own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import quietcore

HERE = Path(__file__).parent
PATIENCE_S = 60.0
"""The longest wait for something that comes within a second on a machine that has time."""


def programs() -> Path:
    """Returns the folder of the programs of Quietcore, which `./test` builds before."""
    built = os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target")
    return Path(os.environ.get("QUIETCORE_PROGRAMS", Path(built) / "debug"))


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Waits until something holds, and fails if it does not."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"{what}: not after {PATIENCE_S:g} s"
        time.sleep(0.02)


class Ground:
    """The site `bakery` and a daemon, in folders that nobody else uses."""

    def __init__(self) -> None:
        # A socket's path may not be long, as that of pytest's own folders is.
        self.folder = Path(tempfile.mkdtemp(prefix="qc-py-"))
        self.environment = {
            **os.environ,
            "QUIETCORE_RUN_DIR": str(self.folder / "run"),
            "QUIETCORE_STATE_DIR": str(self.folder / "state"),
        }
        self._log = open(self.folder / "log", "wb")  # noqa: SIM115
        shutil.copytree(HERE / "site", self.folder / "site")
        self._daemon: subprocess.Popen[bytes] | None = None
        self._site: subprocess.Popen[bytes] | None = None

    def start(
        self,
        file: Path | None = None,
        *,
        site: str = "bakery",
        partition: str = "oven",
        daemon: Sequence[str] = (),
    ) -> None:
        """Starts the daemon, then a site, and waits until the program of a partition runs."""
        self.start_daemon(*daemon)
        file = file or self.folder / "site" / "oven.toml"
        self._site = self._run("quietcore", "up", str(file))
        with quietcore.connect(self.address) as host:
            started = host.partition(partition, site=site)
            wait_until(lambda: self._is_up() and _runs(started), "the site is up")

    def start_daemon(self, *arguments: str) -> None:
        """Starts a daemon and waits until it serves."""
        assert self._daemon is None, "one runs"
        self._daemon = self._run("quietcored", *arguments)

        def serves() -> bool:
            assert self._daemon is not None
            assert self._daemon.poll() is None, self.log()
            try:
                quietcore.connect(self.address).close()
            except quietcore.UnavailableError:
                return False
            return True

        wait_until(serves, "the daemon serves")

    def kill_daemon(self) -> None:
        """Kills the daemon without a warning."""
        assert self._daemon is not None
        self._daemon.kill()
        self._daemon.wait(PATIENCE_S)
        self._daemon = None

    def stop_daemon(self) -> None:
        """Ends the daemon as systemd does."""
        assert self._daemon is not None
        self._daemon.terminate()
        assert self._daemon.wait(PATIENCE_S) == 0, self.log()
        self._daemon = None

    @property
    def address(self) -> str:
        """The address of the daemon's socket."""
        return f"unix:{self.folder / 'run' / '@daemon' / 'socket'}"

    def quietcore(self, *arguments: str) -> str:
        """Runs the command line on the site and returns what it prints."""
        line = [str(programs() / "quietcore"), *arguments]
        done = subprocess.run(
            line, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def log(self) -> str:
        """Returns what daemon and site have said."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def end(self) -> None:
        """Brings the site down and ends the daemon."""
        for process, how in ((self._site, signal.SIGINT), (self._daemon, signal.SIGTERM)):
            if process is None:
                continue
            process.send_signal(how)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
        self._log.close()
        shutil.rmtree(self.folder)

    def _is_up(self) -> bool:
        assert self._site is not None
        assert self._site.poll() is None, self.log()
        return True

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        line = [str(programs() / program), *arguments]
        return subprocess.Popen(
            line,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )


def _runs(partition: quietcore.Partition) -> bool:
    try:
        state = partition.state()
    except (quietcore.NotFoundError, quietcore.UnavailableError):
        return False
    return state.activity is quietcore.Activity.RUNNING and state.cycles > 0


@pytest.fixture(scope="session")
def ground(built: None) -> Iterator[Ground]:
    """The running site with its daemon."""
    ground = Ground()
    try:
        ground.start()
        yield ground
    finally:
        ground.end()


@pytest.fixture(scope="session")
def built() -> None:
    """Fails where the programs are not there: a test that runs none proves nothing."""
    if not (programs() / "quietcored").exists():
        pytest.fail(f"no `{programs() / 'quietcored'}`; run `cargo build --workspace --bins`")


@pytest.fixture
def host(ground: Ground) -> Iterator[quietcore.Host]:
    """A connection to the daemon."""
    with quietcore.connect(ground.address) as connected:
        yield connected


@pytest.fixture
def oven(host: quietcore.Host) -> Iterator[quietcore.Partition]:
    """The partition, whose program runs as at its first start."""
    oven = host.partition("oven", site="bakery")
    oven.unforce_all()
    oven.resume()
    oven.write({"oven_P.target": 180.0, "oven_P.gain": 0.5, "oven_P.offset": 0})
    yield oven
    oven.unforce_all()
    oven.resume()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how it went in the words that `./test` adds up."""
    stats = terminalreporter.stats
    passed, failed = len(stats.get("passed", [])), 0
    for report in stats.get("failed", []) + stats.get("error", []):
        failed += 1
        terminalreporter.write_line(f"---- {report.nodeid} stdout ----")
        crash = getattr(report.longrepr, "reprcrash", None)
        because = report.longreprtext.splitlines()[-1] if crash is None else str(crash)
        terminalreporter.write_line(f"panicked at {because}")
    verdict = "FAILED" if failed else "ok"
    terminalreporter.write_line(f"test result: {verdict}. {passed} passed; {failed} failed")
