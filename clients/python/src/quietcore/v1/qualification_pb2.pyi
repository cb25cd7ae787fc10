from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_KIND_UNSPECIFIED: _ClassVar[RunKind]
    RUN_KIND_QUALIFY: _ClassVar[RunKind]
    RUN_KIND_TUNE: _ClassVar[RunKind]
    RUN_KIND_DISTURB: _ClassVar[RunKind]

class RunState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATE_UNSPECIFIED: _ClassVar[RunState]
    RUN_STATE_RUNNING: _ClassVar[RunState]
    RUN_STATE_COMPLETE: _ClassVar[RunState]
    RUN_STATE_INTERRUPTED: _ClassVar[RunState]
    RUN_STATE_FAILED: _ClassVar[RunState]
RUN_KIND_UNSPECIFIED: RunKind
RUN_KIND_QUALIFY: RunKind
RUN_KIND_TUNE: RunKind
RUN_KIND_DISTURB: RunKind
RUN_STATE_UNSPECIFIED: RunState
RUN_STATE_RUNNING: RunState
RUN_STATE_COMPLETE: RunState
RUN_STATE_INTERRUPTED: RunState
RUN_STATE_FAILED: RunState

class StartRunRequest(_message.Message):
    __slots__ = ("kind", "site", "toml", "profiles", "duration_ms", "rounds", "seed", "confirm_ms", "controls", "partitions", "aggressors")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    TOML_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    ROUNDS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    CONFIRM_MS_FIELD_NUMBER: _ClassVar[int]
    CONTROLS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    AGGRESSORS_FIELD_NUMBER: _ClassVar[int]
    kind: RunKind
    site: str
    toml: str
    profiles: _containers.RepeatedScalarFieldContainer[str]
    duration_ms: int
    rounds: int
    seed: int
    confirm_ms: int
    controls: _containers.RepeatedScalarFieldContainer[str]
    partitions: _containers.RepeatedScalarFieldContainer[str]
    aggressors: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kind: _Optional[_Union[RunKind, str]] = ..., site: _Optional[str] = ..., toml: _Optional[str] = ..., profiles: _Optional[_Iterable[str]] = ..., duration_ms: _Optional[int] = ..., rounds: _Optional[int] = ..., seed: _Optional[int] = ..., confirm_ms: _Optional[int] = ..., controls: _Optional[_Iterable[str]] = ..., partitions: _Optional[_Iterable[str]] = ..., aggressors: _Optional[_Iterable[str]] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("number", "kind", "state", "site", "started_at", "started_by", "cancelled_by", "verdict", "verdicts", "files", "why")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_BY_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    number: int
    kind: RunKind
    state: RunState
    site: str
    started_at: str
    started_by: str
    cancelled_by: str
    verdict: str
    verdicts: _containers.RepeatedCompositeFieldContainer[RecordVerdict]
    files: _containers.RepeatedCompositeFieldContainer[RunFile]
    why: str
    def __init__(self, number: _Optional[int] = ..., kind: _Optional[_Union[RunKind, str]] = ..., state: _Optional[_Union[RunState, str]] = ..., site: _Optional[str] = ..., started_at: _Optional[str] = ..., started_by: _Optional[str] = ..., cancelled_by: _Optional[str] = ..., verdict: _Optional[str] = ..., verdicts: _Optional[_Iterable[_Union[RecordVerdict, _Mapping]]] = ..., files: _Optional[_Iterable[_Union[RunFile, _Mapping]]] = ..., why: _Optional[str] = ...) -> None: ...

class RecordVerdict(_message.Message):
    __slots__ = ("partition", "profile", "application_class", "record", "verdict", "because", "cycles_needed")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_CLASS_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    CYCLES_NEEDED_FIELD_NUMBER: _ClassVar[int]
    partition: str
    profile: str
    application_class: str
    record: str
    verdict: str
    because: str
    cycles_needed: int
    def __init__(self, partition: _Optional[str] = ..., profile: _Optional[str] = ..., application_class: _Optional[str] = ..., record: _Optional[str] = ..., verdict: _Optional[str] = ..., because: _Optional[str] = ..., cycles_needed: _Optional[int] = ...) -> None: ...

class RunFile(_message.Message):
    __slots__ = ("name", "bytes")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    name: str
    bytes: int
    def __init__(self, name: _Optional[str] = ..., bytes: _Optional[int] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchRunRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class WatchRunResponse(_message.Message):
    __slots__ = ("line", "progress", "ended")
    LINE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    line: str
    progress: RunProgress
    ended: Run
    def __init__(self, line: _Optional[str] = ..., progress: _Optional[_Union[RunProgress, _Mapping]] = ..., ended: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class RunProgress(_message.Message):
    __slots__ = ("profile", "partitions", "step", "begun", "fraction", "left_ns", "worst_ns")
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    BEGUN_FIELD_NUMBER: _ClassVar[int]
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    LEFT_NS_FIELD_NUMBER: _ClassVar[int]
    WORST_NS_FIELD_NUMBER: _ClassVar[int]
    profile: str
    partitions: _containers.RepeatedScalarFieldContainer[str]
    step: str
    begun: int
    fraction: float
    left_ns: int
    worst_ns: int
    def __init__(self, profile: _Optional[str] = ..., partitions: _Optional[_Iterable[str]] = ..., step: _Optional[str] = ..., begun: _Optional[int] = ..., fraction: _Optional[float] = ..., left_ns: _Optional[int] = ..., worst_ns: _Optional[int] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs",)
    RUNS_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class ListVerdictsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListVerdictsResponse(_message.Message):
    __slots__ = ("verdicts",)
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedCompositeFieldContainer[StandingVerdict]
    def __init__(self, verdicts: _Optional[_Iterable[_Union[StandingVerdict, _Mapping]]] = ...) -> None: ...

class StandingVerdict(_message.Message):
    __slots__ = ("site", "partition", "application_class", "verdict", "standing", "started_at", "run", "expired_by")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_CLASS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    EXPIRED_BY_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    application_class: str
    verdict: str
    standing: str
    started_at: str
    run: int
    expired_by: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., application_class: _Optional[str] = ..., verdict: _Optional[str] = ..., standing: _Optional[str] = ..., started_at: _Optional[str] = ..., run: _Optional[int] = ..., expired_by: _Optional[_Iterable[str]] = ...) -> None: ...

class FetchFileRequest(_message.Message):
    __slots__ = ("number", "name")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    number: int
    name: str
    def __init__(self, number: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class FetchFileResponse(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...
