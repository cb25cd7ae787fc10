from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetTimingRequest(_message.Message):
    __slots__ = ("site", "partition")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ...) -> None: ...

class GetTimingResponse(_message.Message):
    __slots__ = ("site", "tasks", "read_at_ns", "generation")
    SITE_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    CLASS_FIELD_NUMBER: _ClassVar[int]
    READ_AT_NS_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    site: str
    tasks: _containers.RepeatedCompositeFieldContainer[TaskTiming]
    read_at_ns: int
    generation: int
    def __init__(self, site: _Optional[str] = ..., tasks: _Optional[_Iterable[_Union[TaskTiming, _Mapping]]] = ..., read_at_ns: _Optional[int] = ..., generation: _Optional[int] = ..., **kwargs) -> None: ...

class TaskTiming(_message.Message):
    __slots__ = ("name", "period_ns", "since_ns", "cycles", "missed_cycles", "overruns", "watchdog_hits", "migrations", "release", "execution", "response", "worst_releases", "worst_execution", "worst_response")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PERIOD_NS_FIELD_NUMBER: _ClassVar[int]
    SINCE_NS_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    MISSED_CYCLES_FIELD_NUMBER: _ClassVar[int]
    OVERRUNS_FIELD_NUMBER: _ClassVar[int]
    WATCHDOG_HITS_FIELD_NUMBER: _ClassVar[int]
    MIGRATIONS_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    WORST_RELEASES_FIELD_NUMBER: _ClassVar[int]
    WORST_EXECUTION_FIELD_NUMBER: _ClassVar[int]
    WORST_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    name: str
    period_ns: int
    since_ns: int
    cycles: int
    missed_cycles: int
    overruns: int
    watchdog_hits: int
    migrations: int
    release: LatencyHistogram
    execution: LatencyHistogram
    response: LatencyHistogram
    worst_releases: _containers.RepeatedCompositeFieldContainer[WorstCycle]
    worst_execution: WorstCycle
    worst_response: WorstCycle
    def __init__(self, name: _Optional[str] = ..., period_ns: _Optional[int] = ..., since_ns: _Optional[int] = ..., cycles: _Optional[int] = ..., missed_cycles: _Optional[int] = ..., overruns: _Optional[int] = ..., watchdog_hits: _Optional[int] = ..., migrations: _Optional[int] = ..., release: _Optional[_Union[LatencyHistogram, _Mapping]] = ..., execution: _Optional[_Union[LatencyHistogram, _Mapping]] = ..., response: _Optional[_Union[LatencyHistogram, _Mapping]] = ..., worst_releases: _Optional[_Iterable[_Union[WorstCycle, _Mapping]]] = ..., worst_execution: _Optional[_Union[WorstCycle, _Mapping]] = ..., worst_response: _Optional[_Union[WorstCycle, _Mapping]] = ...) -> None: ...

class LatencyHistogram(_message.Message):
    __slots__ = ("count", "min_ns", "max_ns", "p50_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "bars")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_NS_FIELD_NUMBER: _ClassVar[int]
    MAX_NS_FIELD_NUMBER: _ClassVar[int]
    P50_NS_FIELD_NUMBER: _ClassVar[int]
    P99_NS_FIELD_NUMBER: _ClassVar[int]
    P99_9_NS_FIELD_NUMBER: _ClassVar[int]
    P99_99_NS_FIELD_NUMBER: _ClassVar[int]
    BARS_FIELD_NUMBER: _ClassVar[int]
    count: int
    min_ns: int
    max_ns: int
    p50_ns: int
    p99_ns: int
    p99_9_ns: int
    p99_99_ns: int
    bars: _containers.RepeatedCompositeFieldContainer[LatencyBar]
    def __init__(self, count: _Optional[int] = ..., min_ns: _Optional[int] = ..., max_ns: _Optional[int] = ..., p50_ns: _Optional[int] = ..., p99_ns: _Optional[int] = ..., p99_9_ns: _Optional[int] = ..., p99_99_ns: _Optional[int] = ..., bars: _Optional[_Iterable[_Union[LatencyBar, _Mapping]]] = ...) -> None: ...

class LatencyBar(_message.Message):
    __slots__ = ("from_ns", "to_ns", "count")
    FROM_NS_FIELD_NUMBER: _ClassVar[int]
    TO_NS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    from_ns: int
    to_ns: int
    count: int
    def __init__(self, from_ns: _Optional[int] = ..., to_ns: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class WorstCycle(_message.Message):
    __slots__ = ("release", "at_ns", "value_ns", "wakeup_ns", "cpu")
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    VALUE_NS_FIELD_NUMBER: _ClassVar[int]
    WAKEUP_NS_FIELD_NUMBER: _ClassVar[int]
    CPU_FIELD_NUMBER: _ClassVar[int]
    release: int
    at_ns: int
    value_ns: int
    wakeup_ns: int
    cpu: int
    def __init__(self, release: _Optional[int] = ..., at_ns: _Optional[int] = ..., value_ns: _Optional[int] = ..., wakeup_ns: _Optional[int] = ..., cpu: _Optional[int] = ...) -> None: ...

class TimingClass(_message.Message):
    __slots__ = ("name", "title", "cycle_ns", "latency_ns", "jitter_ns", "jitter_definition")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CYCLE_NS_FIELD_NUMBER: _ClassVar[int]
    LATENCY_NS_FIELD_NUMBER: _ClassVar[int]
    JITTER_NS_FIELD_NUMBER: _ClassVar[int]
    JITTER_DEFINITION_FIELD_NUMBER: _ClassVar[int]
    name: str
    title: str
    cycle_ns: int
    latency_ns: int
    jitter_ns: int
    jitter_definition: str
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., cycle_ns: _Optional[int] = ..., latency_ns: _Optional[int] = ..., jitter_ns: _Optional[int] = ..., jitter_definition: _Optional[str] = ...) -> None: ...
