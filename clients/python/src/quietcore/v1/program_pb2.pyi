from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Probation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROBATION_UNSPECIFIED: _ClassVar[Probation]
    PROBATION_PASSED: _ClassVar[Probation]
    PROBATION_RUNNING: _ClassVar[Probation]
    PROBATION_TAKEN_BACK: _ClassVar[Probation]
    PROBATION_FAILED: _ClassVar[Probation]
PROBATION_UNSPECIFIED: Probation
PROBATION_PASSED: Probation
PROBATION_RUNNING: Probation
PROBATION_TAKEN_BACK: Probation
PROBATION_FAILED: Probation

class UploadProgramRequest(_message.Message):
    __slots__ = ("begin", "chunk", "file")
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    begin: UploadBegin
    chunk: bytes
    file: str
    def __init__(self, begin: _Optional[_Union[UploadBegin, _Mapping]] = ..., chunk: _Optional[bytes] = ..., file: _Optional[str] = ...) -> None: ...

class UploadBegin(_message.Message):
    __slots__ = ("program",)
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    program: str
    def __init__(self, program: _Optional[str] = ...) -> None: ...

class UploadProgramResponse(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: ProgramVersion
    def __init__(self, version: _Optional[_Union[ProgramVersion, _Mapping]] = ...) -> None: ...

class ProgramVersion(_message.Message):
    __slots__ = ("program", "number", "sha256", "files", "bytes", "uploaded_at", "uploaded_by", "last_build", "running_in")
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    UPLOADED_AT_FIELD_NUMBER: _ClassVar[int]
    UPLOADED_BY_FIELD_NUMBER: _ClassVar[int]
    LAST_BUILD_FIELD_NUMBER: _ClassVar[int]
    RUNNING_IN_FIELD_NUMBER: _ClassVar[int]
    program: str
    number: int
    sha256: str
    files: int
    bytes: int
    uploaded_at: str
    uploaded_by: str
    last_build: BuiltVersion
    running_in: _containers.RepeatedCompositeFieldContainer[PartitionName]
    def __init__(self, program: _Optional[str] = ..., number: _Optional[int] = ..., sha256: _Optional[str] = ..., files: _Optional[int] = ..., bytes: _Optional[int] = ..., uploaded_at: _Optional[str] = ..., uploaded_by: _Optional[str] = ..., last_build: _Optional[_Union[BuiltVersion, _Mapping]] = ..., running_in: _Optional[_Iterable[_Union[PartitionName, _Mapping]]] = ...) -> None: ...

class BuiltVersion(_message.Message):
    __slots__ = ("succeeded", "hash", "built_at", "built_by")
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    BUILT_AT_FIELD_NUMBER: _ClassVar[int]
    BUILT_BY_FIELD_NUMBER: _ClassVar[int]
    succeeded: bool
    hash: str
    built_at: str
    built_by: str
    def __init__(self, succeeded: bool = ..., hash: _Optional[str] = ..., built_at: _Optional[str] = ..., built_by: _Optional[str] = ...) -> None: ...

class PartitionName(_message.Message):
    __slots__ = ("site", "partition")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ...) -> None: ...

class BuildProgramRequest(_message.Message):
    __slots__ = ("program", "version", "site", "partition")
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    program: str
    version: int
    site: str
    partition: str
    def __init__(self, program: _Optional[str] = ..., version: _Optional[int] = ..., site: _Optional[str] = ..., partition: _Optional[str] = ...) -> None: ...

class BuildProgramResponse(_message.Message):
    __slots__ = ("line", "outcome")
    LINE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    line: str
    outcome: BuildOutcome
    def __init__(self, line: _Optional[str] = ..., outcome: _Optional[_Union[BuildOutcome, _Mapping]] = ...) -> None: ...

class BuildOutcome(_message.Message):
    __slots__ = ("succeeded", "hash", "compiler", "was_built_before", "problems", "remarks", "left_out", "lines_left_out")
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    COMPILER_FIELD_NUMBER: _ClassVar[int]
    WAS_BUILT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    REMARKS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    LINES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    succeeded: bool
    hash: str
    compiler: str
    was_built_before: bool
    problems: _containers.RepeatedCompositeFieldContainer[CompilerRemark]
    remarks: _containers.RepeatedScalarFieldContainer[str]
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOutFile]
    lines_left_out: int
    def __init__(self, succeeded: bool = ..., hash: _Optional[str] = ..., compiler: _Optional[str] = ..., was_built_before: bool = ..., problems: _Optional[_Iterable[_Union[CompilerRemark, _Mapping]]] = ..., remarks: _Optional[_Iterable[str]] = ..., left_out: _Optional[_Iterable[_Union[LeftOutFile, _Mapping]]] = ..., lines_left_out: _Optional[int] = ...) -> None: ...

class CompilerRemark(_message.Message):
    __slots__ = ("is_error", "file", "line", "column", "message")
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    is_error: bool
    file: str
    line: int
    column: int
    message: str
    def __init__(self, is_error: bool = ..., file: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class LeftOutFile(_message.Message):
    __slots__ = ("file", "why")
    FILE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    file: str
    why: str
    def __init__(self, file: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class ListProgramsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListProgramsResponse(_message.Message):
    __slots__ = ("programs",)
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    programs: _containers.RepeatedCompositeFieldContainer[Program]
    def __init__(self, programs: _Optional[_Iterable[_Union[Program, _Mapping]]] = ...) -> None: ...

class Program(_message.Message):
    __slots__ = ("name", "newest", "version_count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NEWEST_FIELD_NUMBER: _ClassVar[int]
    VERSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    newest: int
    version_count: int
    def __init__(self, name: _Optional[str] = ..., newest: _Optional[int] = ..., version_count: _Optional[int] = ...) -> None: ...

class ListVersionsRequest(_message.Message):
    __slots__ = ("program",)
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    program: str
    def __init__(self, program: _Optional[str] = ...) -> None: ...

class ListVersionsResponse(_message.Message):
    __slots__ = ("versions",)
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    versions: _containers.RepeatedCompositeFieldContainer[ProgramVersion]
    def __init__(self, versions: _Optional[_Iterable[_Union[ProgramVersion, _Mapping]]] = ...) -> None: ...

class DeployProgramRequest(_message.Message):
    __slots__ = ("site", "partition", "program", "version", "no_wait")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NO_WAIT_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    program: str
    version: int
    no_wait: bool
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., program: _Optional[str] = ..., version: _Optional[int] = ..., no_wait: bool = ...) -> None: ...

class DeployProgramResponse(_message.Message):
    __slots__ = ("version", "deployed")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DEPLOYED_FIELD_NUMBER: _ClassVar[int]
    version: int
    deployed: DeployedBuild
    def __init__(self, version: _Optional[int] = ..., deployed: _Optional[_Union[DeployedBuild, _Mapping]] = ...) -> None: ...

class DeployedBuild(_message.Message):
    __slots__ = ("generation", "cycle", "gap_cycles", "release_ns", "carried", "tuned", "not_carried_count", "not_carried", "not_forced", "probation", "probation_cycles", "probation_ns", "why", "taken_back_to")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    GAP_CYCLES_FIELD_NUMBER: _ClassVar[int]
    RELEASE_NS_FIELD_NUMBER: _ClassVar[int]
    CARRIED_FIELD_NUMBER: _ClassVar[int]
    TUNED_FIELD_NUMBER: _ClassVar[int]
    NOT_CARRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOT_CARRIED_FIELD_NUMBER: _ClassVar[int]
    NOT_FORCED_FIELD_NUMBER: _ClassVar[int]
    PROBATION_FIELD_NUMBER: _ClassVar[int]
    PROBATION_CYCLES_FIELD_NUMBER: _ClassVar[int]
    PROBATION_NS_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    TAKEN_BACK_TO_FIELD_NUMBER: _ClassVar[int]
    generation: int
    cycle: int
    gap_cycles: int
    release_ns: int
    carried: int
    tuned: _containers.RepeatedScalarFieldContainer[str]
    not_carried_count: int
    not_carried: _containers.RepeatedCompositeFieldContainer[VariableReason]
    not_forced: _containers.RepeatedCompositeFieldContainer[VariableReason]
    probation: Probation
    probation_cycles: int
    probation_ns: int
    why: str
    taken_back_to: int
    def __init__(self, generation: _Optional[int] = ..., cycle: _Optional[int] = ..., gap_cycles: _Optional[int] = ..., release_ns: _Optional[int] = ..., carried: _Optional[int] = ..., tuned: _Optional[_Iterable[str]] = ..., not_carried_count: _Optional[int] = ..., not_carried: _Optional[_Iterable[_Union[VariableReason, _Mapping]]] = ..., not_forced: _Optional[_Iterable[_Union[VariableReason, _Mapping]]] = ..., probation: _Optional[_Union[Probation, str]] = ..., probation_cycles: _Optional[int] = ..., probation_ns: _Optional[int] = ..., why: _Optional[str] = ..., taken_back_to: _Optional[int] = ...) -> None: ...

class VariableReason(_message.Message):
    __slots__ = ("variable", "why")
    VARIABLE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    variable: str
    why: str
    def __init__(self, variable: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class RollBackProgramRequest(_message.Message):
    __slots__ = ("site", "partition", "no_wait")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    NO_WAIT_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    no_wait: bool
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., no_wait: bool = ...) -> None: ...

class RollBackProgramResponse(_message.Message):
    __slots__ = ("program", "version", "deployed")
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DEPLOYED_FIELD_NUMBER: _ClassVar[int]
    program: str
    version: int
    deployed: DeployedBuild
    def __init__(self, program: _Optional[str] = ..., version: _Optional[int] = ..., deployed: _Optional[_Union[DeployedBuild, _Mapping]] = ...) -> None: ...

class DeleteVersionRequest(_message.Message):
    __slots__ = ("program", "version")
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    program: str
    version: int
    def __init__(self, program: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class DeleteVersionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
