"""The CPUs of the machine, and who has them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from quietcore.calls import Call, named
from quietcore.display import Listing
from quietcore.v1 import cpu_pb2 as pb


class CpuUse(StrEnum):
    """The use of a CPU."""

    HOUSEKEEPING = "housekeeping"
    """It runs the host: no partition has it, and it is not isolated."""
    FREE = "free"
    """It is isolated, and no partition has it."""
    PARTITION = "partition"
    """One partition has it."""
    SHARED = "shared"
    """Several partitions have it."""
    OFFLINE = "offline"
    """It is not online."""
    UNKNOWN = "unknown"
    """A use that this version of the client does not know."""


@dataclass(frozen=True, slots=True)
class CpuOwner:
    """A partition that has a CPU."""

    site: str
    """Name of the site; empty for a campaign or a probe that measures."""
    partition: str
    pid: int
    """Number of its process."""
    user: str
    """The user whose process it is."""
    policy: str
    """The highest real-time policy of its threads there, such as `"SCHED_FIFO 90"`; or empty."""

    def __str__(self) -> str:
        where = f"{self.site}/{self.partition}" if self.site else self.partition
        return f"{where} {self.policy}".rstrip()


@dataclass(frozen=True, slots=True)
class Cpu:
    """A CPU of the machine."""

    number: int
    """The kernel's number of it."""
    use: CpuUse
    owners: tuple[CpuOwner, ...]
    """The partitions that have it, of those that are granted; two for a CPU that sites share."""
    isolated: bool
    """True if the scheduler leaves it alone (`isolcpus`)."""
    tickless: bool
    """True if its tick stops while one task runs (`nohz_full`)."""
    daemon: bool
    """True if threads of the daemon may run there."""
    siblings: str
    """All CPUs of the same core, this one included, such as `"2-3"`; empty if not known."""

    def __str__(self) -> str:
        owners = f": {', '.join(map(str, self.owners))}" if self.owners else ""
        return f"CPU {self.number} {self.use}{owners}"


class Cpus(Listing[Cpu]):
    """The CPUs of a machine that are present, by number."""

    _columns = (
        ("CPU", lambda it: it.number),
        ("use", lambda it: it.use),
        ("partition", lambda it: ", ".join(map(str, it.owners))),
        ("isolated", lambda it: "✓" if it.isolated else ""),
        ("tickless", lambda it: "✓" if it.tickless else ""),
        ("daemon", lambda it: "✓" if it.daemon else ""),
        ("core", lambda it: it.siblings),
    )


def list_cpus() -> Call[pb.ListCpusResponse, Cpus]:
    """Lists the CPUs of the machine."""
    return Call(
        "quietcore.v1.HostService/ListCpus",
        pb.ListCpusRequest(),
        pb.ListCpusResponse,
        lambda answer: Cpus(map(_cpu, answer.cpus)),
    )


def _cpu(it: pb.Cpu) -> Cpu:
    return Cpu(
        it.number,
        named(CpuUse, pb.CpuUse.Name, it.use, "CPU_USE_"),
        tuple(
            CpuOwner(owner.site, owner.partition, owner.pid, owner.user, owner.policy)
            for owner in it.owners
        ),
        isolated=it.isolated,
        tickless=it.tickless,
        daemon=it.daemon,
        siblings=it.siblings,
    )
