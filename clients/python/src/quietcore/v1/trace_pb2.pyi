from quietcore.v1 import variable_pb2 as _variable_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TraceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRACE_STATE_UNSPECIFIED: _ClassVar[TraceState]
    TRACE_STATE_ARMED: _ClassVar[TraceState]
    TRACE_STATE_TRIGGERED: _ClassVar[TraceState]
    TRACE_STATE_COMPLETE: _ClassVar[TraceState]
    TRACE_STATE_ENDED: _ClassVar[TraceState]
TRACE_STATE_UNSPECIFIED: TraceState
TRACE_STATE_ARMED: TraceState
TRACE_STATE_TRIGGERED: TraceState
TRACE_STATE_COMPLETE: TraceState
TRACE_STATE_ENDED: TraceState

class StartTraceRequest(_message.Message):
    __slots__ = ("site", "partition", "task", "variables", "every", "trigger", "before", "after", "windows")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    EVERY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    task: int
    variables: _containers.RepeatedScalarFieldContainer[str]
    every: int
    trigger: str
    before: int
    after: int
    windows: int
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., task: _Optional[int] = ..., variables: _Optional[_Iterable[str]] = ..., every: _Optional[int] = ..., trigger: _Optional[str] = ..., before: _Optional[int] = ..., after: _Optional[int] = ..., windows: _Optional[int] = ...) -> None: ...

class StartTraceResponse(_message.Message):
    __slots__ = ("trace",)
    TRACE_FIELD_NUMBER: _ClassVar[int]
    trace: Trace
    def __init__(self, trace: _Optional[_Union[Trace, _Mapping]] = ...) -> None: ...

class StopTraceRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class StopTraceResponse(_message.Message):
    __slots__ = ("trace",)
    TRACE_FIELD_NUMBER: _ClassVar[int]
    trace: Trace
    def __init__(self, trace: _Optional[_Union[Trace, _Mapping]] = ...) -> None: ...

class ListTracesRequest(_message.Message):
    __slots__ = ("site", "partition")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ...) -> None: ...

class ListTracesResponse(_message.Message):
    __slots__ = ("traces",)
    TRACES_FIELD_NUMBER: _ClassVar[int]
    traces: _containers.RepeatedCompositeFieldContainer[Trace]
    def __init__(self, traces: _Optional[_Iterable[_Union[Trace, _Mapping]]] = ...) -> None: ...

class GetTraceRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class GetTraceResponse(_message.Message):
    __slots__ = ("trace",)
    TRACE_FIELD_NUMBER: _ClassVar[int]
    trace: Trace
    def __init__(self, trace: _Optional[_Union[Trace, _Mapping]] = ...) -> None: ...

class FetchTraceRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class FetchTraceResponse(_message.Message):
    __slots__ = ("trace", "rows")
    TRACE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    trace: Trace
    rows: TraceRows
    def __init__(self, trace: _Optional[_Union[Trace, _Mapping]] = ..., rows: _Optional[_Union[TraceRows, _Mapping]] = ...) -> None: ...

class DeleteTraceRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class DeleteTraceResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Trace(_message.Message):
    __slots__ = ("number", "site", "partition", "task", "variables", "every", "trigger", "before", "after", "windows", "state", "why", "begun", "rows", "lost", "started_by", "started_at", "utc_offset_ns", "sample_period_ns", "not_kept")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    EVERY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    BEGUN_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    UTC_OFFSET_NS_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_PERIOD_NS_FIELD_NUMBER: _ClassVar[int]
    NOT_KEPT_FIELD_NUMBER: _ClassVar[int]
    number: int
    site: str
    partition: str
    task: str
    variables: _containers.RepeatedCompositeFieldContainer[TraceVariable]
    every: int
    trigger: str
    before: int
    after: int
    windows: int
    state: TraceState
    why: str
    begun: _containers.RepeatedCompositeFieldContainer[TraceWindow]
    rows: int
    lost: int
    started_by: str
    started_at: str
    utc_offset_ns: int
    sample_period_ns: int
    not_kept: str
    def __init__(self, number: _Optional[int] = ..., site: _Optional[str] = ..., partition: _Optional[str] = ..., task: _Optional[str] = ..., variables: _Optional[_Iterable[_Union[TraceVariable, _Mapping]]] = ..., every: _Optional[int] = ..., trigger: _Optional[str] = ..., before: _Optional[int] = ..., after: _Optional[int] = ..., windows: _Optional[int] = ..., state: _Optional[_Union[TraceState, str]] = ..., why: _Optional[str] = ..., begun: _Optional[_Iterable[_Union[TraceWindow, _Mapping]]] = ..., rows: _Optional[int] = ..., lost: _Optional[int] = ..., started_by: _Optional[str] = ..., started_at: _Optional[str] = ..., utc_offset_ns: _Optional[int] = ..., sample_period_ns: _Optional[int] = ..., not_kept: _Optional[str] = ...) -> None: ...

class TraceVariable(_message.Message):
    __slots__ = ("path", "type", "names")
    PATH_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    path: str
    type: str
    names: _containers.RepeatedCompositeFieldContainer[_variable_pb2.EnumerationValue]
    def __init__(self, path: _Optional[str] = ..., type: _Optional[str] = ..., names: _Optional[_Iterable[_Union[_variable_pb2.EnumerationValue, _Mapping]]] = ...) -> None: ...

class TraceWindow(_message.Message):
    __slots__ = ("first_row", "before", "trigger_cycle")
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_CYCLE_FIELD_NUMBER: _ClassVar[int]
    first_row: int
    before: int
    trigger_cycle: int
    def __init__(self, first_row: _Optional[int] = ..., before: _Optional[int] = ..., trigger_cycle: _Optional[int] = ...) -> None: ...

class TraceRows(_message.Message):
    __slots__ = ("first_row", "cycles", "times_ns", "columns", "gaps")
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    TIMES_NS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    GAPS_FIELD_NUMBER: _ClassVar[int]
    first_row: int
    cycles: _containers.RepeatedScalarFieldContainer[int]
    times_ns: _containers.RepeatedScalarFieldContainer[int]
    columns: _containers.RepeatedCompositeFieldContainer[TraceValues]
    gaps: _containers.RepeatedCompositeFieldContainer[TraceGap]
    def __init__(self, first_row: _Optional[int] = ..., cycles: _Optional[_Iterable[int]] = ..., times_ns: _Optional[_Iterable[int]] = ..., columns: _Optional[_Iterable[_Union[TraceValues, _Mapping]]] = ..., gaps: _Optional[_Iterable[_Union[TraceGap, _Mapping]]] = ...) -> None: ...

class TraceValues(_message.Message):
    __slots__ = ("booleans", "signed", "unsigned", "singles", "doubles")
    BOOLEANS_FIELD_NUMBER: _ClassVar[int]
    SIGNED_FIELD_NUMBER: _ClassVar[int]
    UNSIGNED_FIELD_NUMBER: _ClassVar[int]
    SINGLES_FIELD_NUMBER: _ClassVar[int]
    DOUBLES_FIELD_NUMBER: _ClassVar[int]
    booleans: _containers.RepeatedScalarFieldContainer[bool]
    signed: _containers.RepeatedScalarFieldContainer[int]
    unsigned: _containers.RepeatedScalarFieldContainer[int]
    singles: _containers.RepeatedScalarFieldContainer[float]
    doubles: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, booleans: _Optional[_Iterable[bool]] = ..., signed: _Optional[_Iterable[int]] = ..., unsigned: _Optional[_Iterable[int]] = ..., singles: _Optional[_Iterable[float]] = ..., doubles: _Optional[_Iterable[float]] = ...) -> None: ...

class TraceGap(_message.Message):
    __slots__ = ("row", "lost")
    ROW_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    row: int
    lost: int
    def __init__(self, row: _Optional[int] = ..., lost: _Optional[int] = ...) -> None: ...
