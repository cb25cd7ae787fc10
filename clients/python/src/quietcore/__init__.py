"""Quietcore from Python: watch, tune and examine control programs that run.

    import quietcore

    with quietcore.connect() as host:
        axis = host.partition("axis")
        print(axis.read("servo_P.*"))
        axis.write({"servo_P.Kp": 0.07})
        for sample in axis.watch("servo_Y.*", interval=0.01, seconds=1):
            print(sample.cycle, sample["servo_Y.torque"])

`quietcore.aio` has the same for asyncio. Data frames need `pip install quietcore[data]`, and
`quietcore.plot` needs `quietcore[plot]`.

| module | content |
|--------|---------|
| `client`, `running` | hosts, and their sites and partitions, for programs that wait |
| `aio` | the same for asyncio |
| `machine`, `cpus`, `sites`, `site_versions` | the calls of a subject |
| `partitions`, `timing`, `programs`, `variables`, `audit` | the calls of a subject |
| `qualification`, `traces` | the calls about runs, and about traces |
| `started` | runs and traces, which go on without the program that has started them |
| `values` | values of variables as Python's own types |
| `errors` | refusals and failures as exceptions |
| `target` | the address of a daemon, and how both sides prove who they are |
| `deploy` | `python -m quietcore.deploy`, which a code generator calls after a build |
| `frames`, `plot` | samples as data frames, and as curves |
| `v1` | the messages of the contract |
"""

from quietcore.audit import AuditAuthor, AuditEntry, AuditKind, AuditTrail
from quietcore.client import Host, connect
from quietcore.cpus import Cpu, CpuOwner, Cpus, CpuUse
from quietcore.errors import (
    AccessError,
    BusyError,
    InvalidRequestError,
    LimitError,
    NoEffectWarning,
    NotFoundError,
    NotPossibleError,
    QuietcoreError,
    TimedOutError,
    UnavailableError,
)
from quietcore.machine import Finding, Findings, FindingSeverity, HostInfo
from quietcore.partitions import (
    Activity,
    Fieldbus,
    Held,
    Partitions,
    PartitionState,
    RestartKind,
)
from quietcore.programs import (
    BuildError,
    BuildOutcome,
    CompilerRemark,
    Deployed,
    Probation,
    Program,
    Programs,
    ProgramVersion,
    ProgramVersions,
)
from quietcore.qualification import (
    RecordVerdict,
    RecordVerdicts,
    RunFile,
    RunInfo,
    RunKind,
    RunProgress,
    Runs,
    RunState,
    StandingVerdict,
    StandingVerdicts,
)
from quietcore.running import Partition, Site
from quietcore.site_versions import (
    AppliedSite,
    PlanEntry,
    SitePlan,
    SiteText,
    SiteVersion,
    SiteVersions,
    SiteVersionState,
)
from quietcore.sites import CheckedSite, Event, Problem, RunningSite, RunningSites, Severity
from quietcore.started import Run, Trace
from quietcore.target import package_version
from quietcore.timing import (
    LatencyBar,
    LatencyHistogram,
    TaskTiming,
    Timing,
    TimingClass,
    WorstCycle,
)
from quietcore.traces import (
    TraceInfo,
    TraceRows,
    Traces,
    TraceState,
    TraceVariable,
    TraceWindow,
)
from quietcore.transport import Events, Watch
from quietcore.values import Address, Enumerated, Value, Writable
from quietcore.variables import (
    Applied,
    AppliedChange,
    AppliedChanges,
    Change,
    Effect,
    Sample,
    Values,
    Variable,
    Variables,
    WhyNoEffect,
)

__version__ = package_version()

__all__ = [
    "AccessError",
    "Activity",
    "Address",
    "Applied",
    "AppliedChange",
    "AppliedChanges",
    "AppliedSite",
    "AuditAuthor",
    "AuditEntry",
    "AuditKind",
    "AuditTrail",
    "BuildError",
    "BuildOutcome",
    "BusyError",
    "Change",
    "CheckedSite",
    "CompilerRemark",
    "Cpu",
    "CpuOwner",
    "CpuUse",
    "Cpus",
    "Deployed",
    "Effect",
    "Enumerated",
    "Event",
    "Events",
    "Fieldbus",
    "Finding",
    "FindingSeverity",
    "Findings",
    "Held",
    "Host",
    "HostInfo",
    "InvalidRequestError",
    "LatencyBar",
    "LatencyHistogram",
    "LimitError",
    "NoEffectWarning",
    "NotFoundError",
    "NotPossibleError",
    "Partition",
    "PartitionState",
    "Partitions",
    "PlanEntry",
    "Probation",
    "Problem",
    "Program",
    "ProgramVersion",
    "ProgramVersions",
    "Programs",
    "QuietcoreError",
    "RecordVerdict",
    "RecordVerdicts",
    "RestartKind",
    "Run",
    "RunFile",
    "RunInfo",
    "RunKind",
    "RunProgress",
    "RunState",
    "RunningSite",
    "RunningSites",
    "Runs",
    "Sample",
    "Severity",
    "Site",
    "SitePlan",
    "SiteText",
    "SiteVersion",
    "SiteVersionState",
    "SiteVersions",
    "StandingVerdict",
    "StandingVerdicts",
    "TaskTiming",
    "TimedOutError",
    "Timing",
    "TimingClass",
    "Trace",
    "TraceInfo",
    "TraceRows",
    "TraceState",
    "TraceVariable",
    "TraceWindow",
    "Traces",
    "UnavailableError",
    "Value",
    "Values",
    "Variable",
    "Variables",
    "Watch",
    "WhyNoEffect",
    "WorstCycle",
    "Writable",
    "connect",
]
