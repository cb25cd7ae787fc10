from quietcore.v1 import timing_pb2 as _timing_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Activity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTIVITY_UNSPECIFIED: _ClassVar[Activity]
    ACTIVITY_STARTING: _ClassVar[Activity]
    ACTIVITY_RUNNING: _ClassVar[Activity]
    ACTIVITY_PAUSED: _ClassVar[Activity]
    ACTIVITY_SHED: _ClassVar[Activity]
    ACTIVITY_FAULT: _ClassVar[Activity]
    ACTIVITY_WAITING: _ClassVar[Activity]
    ACTIVITY_STOPPED: _ClassVar[Activity]

class RestartKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESTART_KIND_UNSPECIFIED: _ClassVar[RestartKind]
    RESTART_KIND_WARM: _ClassVar[RestartKind]
    RESTART_KIND_COLD: _ClassVar[RestartKind]
    RESTART_KIND_ORIGIN: _ClassVar[RestartKind]
ACTIVITY_UNSPECIFIED: Activity
ACTIVITY_STARTING: Activity
ACTIVITY_RUNNING: Activity
ACTIVITY_PAUSED: Activity
ACTIVITY_SHED: Activity
ACTIVITY_FAULT: Activity
ACTIVITY_WAITING: Activity
ACTIVITY_STOPPED: Activity
RESTART_KIND_UNSPECIFIED: RestartKind
RESTART_KIND_WARM: RestartKind
RESTART_KIND_COLD: RestartKind
RESTART_KIND_ORIGIN: RestartKind

class ListPartitionsRequest(_message.Message):
    __slots__ = ("site",)
    SITE_FIELD_NUMBER: _ClassVar[int]
    site: str
    def __init__(self, site: _Optional[str] = ...) -> None: ...

class ListPartitionsResponse(_message.Message):
    __slots__ = ("partitions", "drift")
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    DRIFT_FIELD_NUMBER: _ClassVar[int]
    partitions: _containers.RepeatedCompositeFieldContainer[Partition]
    drift: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, partitions: _Optional[_Iterable[_Union[Partition, _Mapping]]] = ..., drift: _Optional[_Iterable[str]] = ...) -> None: ...

class Partition(_message.Message):
    __slots__ = ("name", "backend", "activity", "why", "restart_in_ns", "shed_by", "period_ns", "cycles", "missed_cycles", "overruns", "release_max_ns", "forces", "generation", "restarts", "faults", "last_fault", "cpu", "pid", "fieldbus", "model_hash", "drift", "has_program", "criticality", "times_shed", "reactions", "absent_cycles", "last_fault_cycle", "console", "vnc")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    ACTIVITY_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    RESTART_IN_NS_FIELD_NUMBER: _ClassVar[int]
    SHED_BY_FIELD_NUMBER: _ClassVar[int]
    CLASS_FIELD_NUMBER: _ClassVar[int]
    PERIOD_NS_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    MISSED_CYCLES_FIELD_NUMBER: _ClassVar[int]
    OVERRUNS_FIELD_NUMBER: _ClassVar[int]
    RELEASE_MAX_NS_FIELD_NUMBER: _ClassVar[int]
    FORCES_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    LAST_FAULT_FIELD_NUMBER: _ClassVar[int]
    CPU_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    FIELDBUS_FIELD_NUMBER: _ClassVar[int]
    MODEL_HASH_FIELD_NUMBER: _ClassVar[int]
    DRIFT_FIELD_NUMBER: _ClassVar[int]
    HAS_PROGRAM_FIELD_NUMBER: _ClassVar[int]
    CRITICALITY_FIELD_NUMBER: _ClassVar[int]
    TIMES_SHED_FIELD_NUMBER: _ClassVar[int]
    REACTIONS_FIELD_NUMBER: _ClassVar[int]
    ABSENT_CYCLES_FIELD_NUMBER: _ClassVar[int]
    LAST_FAULT_CYCLE_FIELD_NUMBER: _ClassVar[int]
    CONSOLE_FIELD_NUMBER: _ClassVar[int]
    VNC_FIELD_NUMBER: _ClassVar[int]
    name: str
    backend: str
    activity: Activity
    why: str
    restart_in_ns: int
    shed_by: str
    period_ns: int
    cycles: int
    missed_cycles: int
    overruns: int
    release_max_ns: int
    forces: int
    generation: int
    restarts: int
    faults: int
    last_fault: str
    cpu: int
    pid: int
    fieldbus: Fieldbus
    model_hash: str
    drift: _containers.RepeatedScalarFieldContainer[str]
    has_program: bool
    criticality: str
    times_shed: int
    reactions: Reactions
    absent_cycles: int
    last_fault_cycle: int
    console: str
    vnc: str
    def __init__(self, name: _Optional[str] = ..., backend: _Optional[str] = ..., activity: _Optional[_Union[Activity, str]] = ..., why: _Optional[str] = ..., restart_in_ns: _Optional[int] = ..., shed_by: _Optional[str] = ..., period_ns: _Optional[int] = ..., cycles: _Optional[int] = ..., missed_cycles: _Optional[int] = ..., overruns: _Optional[int] = ..., release_max_ns: _Optional[int] = ..., forces: _Optional[int] = ..., generation: _Optional[int] = ..., restarts: _Optional[int] = ..., faults: _Optional[int] = ..., last_fault: _Optional[str] = ..., cpu: _Optional[int] = ..., pid: _Optional[int] = ..., fieldbus: _Optional[_Union[Fieldbus, _Mapping]] = ..., model_hash: _Optional[str] = ..., drift: _Optional[_Iterable[str]] = ..., has_program: bool = ..., criticality: _Optional[str] = ..., times_shed: _Optional[int] = ..., reactions: _Optional[_Union[Reactions, _Mapping]] = ..., absent_cycles: _Optional[int] = ..., last_fault_cycle: _Optional[int] = ..., console: _Optional[str] = ..., vnc: _Optional[str] = ..., **kwargs) -> None: ...

class Reactions(_message.Message):
    __slots__ = ("count", "ns_last", "ns_min", "ns_median", "ns_max")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    NS_LAST_FIELD_NUMBER: _ClassVar[int]
    NS_MIN_FIELD_NUMBER: _ClassVar[int]
    NS_MEDIAN_FIELD_NUMBER: _ClassVar[int]
    NS_MAX_FIELD_NUMBER: _ClassVar[int]
    count: int
    ns_last: int
    ns_min: int
    ns_median: int
    ns_max: int
    def __init__(self, count: _Optional[int] = ..., ns_last: _Optional[int] = ..., ns_min: _Optional[int] = ..., ns_median: _Optional[int] = ..., ns_max: _Optional[int] = ...) -> None: ...

class Fieldbus(_message.Message):
    __slots__ = ("state", "subdevices", "working_counter", "working_counter_expected", "lost_frames")
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUBDEVICES_FIELD_NUMBER: _ClassVar[int]
    WORKING_COUNTER_FIELD_NUMBER: _ClassVar[int]
    WORKING_COUNTER_EXPECTED_FIELD_NUMBER: _ClassVar[int]
    LOST_FRAMES_FIELD_NUMBER: _ClassVar[int]
    state: str
    subdevices: int
    working_counter: int
    working_counter_expected: int
    lost_frames: int
    def __init__(self, state: _Optional[str] = ..., subdevices: _Optional[int] = ..., working_counter: _Optional[int] = ..., working_counter_expected: _Optional[int] = ..., lost_frames: _Optional[int] = ...) -> None: ...

class RestartPartitionRequest(_message.Message):
    __slots__ = ("site", "partition", "kind")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    kind: RestartKind
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., kind: _Optional[_Union[RestartKind, str]] = ...) -> None: ...

class RestartPartitionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PausePartitionRequest(_message.Message):
    __slots__ = ("site", "partition")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ...) -> None: ...

class PausePartitionResponse(_message.Message):
    __slots__ = ("was_paused", "has_fieldbus")
    WAS_PAUSED_FIELD_NUMBER: _ClassVar[int]
    HAS_FIELDBUS_FIELD_NUMBER: _ClassVar[int]
    was_paused: bool
    has_fieldbus: bool
    def __init__(self, was_paused: bool = ..., has_fieldbus: bool = ...) -> None: ...

class ResumePartitionRequest(_message.Message):
    __slots__ = ("site", "partition")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ...) -> None: ...

class ResumePartitionResponse(_message.Message):
    __slots__ = ("was_paused",)
    WAS_PAUSED_FIELD_NUMBER: _ClassVar[int]
    was_paused: bool
    def __init__(self, was_paused: bool = ...) -> None: ...
