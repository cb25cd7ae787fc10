from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SiteVersionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SITE_VERSION_STATE_UNSPECIFIED: _ClassVar[SiteVersionState]
    SITE_VERSION_STATE_BEGUN: _ClassVar[SiteVersionState]
    SITE_VERSION_STATE_RUNNING: _ClassVar[SiteVersionState]
    SITE_VERSION_STATE_ENDED: _ClassVar[SiteVersionState]
    SITE_VERSION_STATE_FAILED: _ClassVar[SiteVersionState]
SITE_VERSION_STATE_UNSPECIFIED: SiteVersionState
SITE_VERSION_STATE_BEGUN: SiteVersionState
SITE_VERSION_STATE_RUNNING: SiteVersionState
SITE_VERSION_STATE_ENDED: SiteVersionState
SITE_VERSION_STATE_FAILED: SiteVersionState

class PlanSiteRequest(_message.Message):
    __slots__ = ("toml", "programs")
    TOML_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    toml: str
    programs: _containers.RepeatedCompositeFieldContainer[PartitionProgram]
    def __init__(self, toml: _Optional[str] = ..., programs: _Optional[_Iterable[_Union[PartitionProgram, _Mapping]]] = ...) -> None: ...

class PlanSiteResponse(_message.Message):
    __slots__ = ("site", "steps", "monitored", "degraded", "refused", "shared_cpus", "document")
    SITE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    MONITORED_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    SHARED_CPUS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    site: str
    steps: _containers.RepeatedScalarFieldContainer[str]
    monitored: _containers.RepeatedScalarFieldContainer[str]
    degraded: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.RepeatedScalarFieldContainer[str]
    shared_cpus: _containers.RepeatedScalarFieldContainer[str]
    document: str
    def __init__(self, site: _Optional[str] = ..., steps: _Optional[_Iterable[str]] = ..., monitored: _Optional[_Iterable[str]] = ..., degraded: _Optional[_Iterable[str]] = ..., refused: _Optional[_Iterable[str]] = ..., shared_cpus: _Optional[_Iterable[str]] = ..., document: _Optional[str] = ...) -> None: ...

class ApplySiteRequest(_message.Message):
    __slots__ = ("toml", "programs", "replace")
    TOML_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    toml: str
    programs: _containers.RepeatedCompositeFieldContainer[PartitionProgram]
    replace: bool
    def __init__(self, toml: _Optional[str] = ..., programs: _Optional[_Iterable[_Union[PartitionProgram, _Mapping]]] = ..., replace: bool = ...) -> None: ...

class ApplySiteResponse(_message.Message):
    __slots__ = ("version", "lines")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    version: SiteVersion
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, version: _Optional[_Union[SiteVersion, _Mapping]] = ..., lines: _Optional[_Iterable[str]] = ...) -> None: ...

class UndoSiteRequest(_message.Message):
    __slots__ = ("site", "before")
    SITE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    site: str
    before: bool
    def __init__(self, site: _Optional[str] = ..., before: bool = ...) -> None: ...

class UndoSiteResponse(_message.Message):
    __slots__ = ("version", "lines")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    version: SiteVersion
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, version: _Optional[_Union[SiteVersion, _Mapping]] = ..., lines: _Optional[_Iterable[str]] = ...) -> None: ...

class ListSiteVersionsRequest(_message.Message):
    __slots__ = ("site",)
    SITE_FIELD_NUMBER: _ClassVar[int]
    site: str
    def __init__(self, site: _Optional[str] = ...) -> None: ...

class ListSiteVersionsResponse(_message.Message):
    __slots__ = ("versions",)
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    versions: _containers.RepeatedCompositeFieldContainer[SiteVersion]
    def __init__(self, versions: _Optional[_Iterable[_Union[SiteVersion, _Mapping]]] = ...) -> None: ...

class SiteVersion(_message.Message):
    __slots__ = ("site", "number", "sha256", "received_at", "received_by", "programs", "state", "applied_at", "applied_by")
    SITE_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_BY_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    APPLIED_AT_FIELD_NUMBER: _ClassVar[int]
    APPLIED_BY_FIELD_NUMBER: _ClassVar[int]
    site: str
    number: int
    sha256: str
    received_at: str
    received_by: str
    programs: _containers.RepeatedCompositeFieldContainer[PartitionProgram]
    state: SiteVersionState
    applied_at: str
    applied_by: str
    def __init__(self, site: _Optional[str] = ..., number: _Optional[int] = ..., sha256: _Optional[str] = ..., received_at: _Optional[str] = ..., received_by: _Optional[str] = ..., programs: _Optional[_Iterable[_Union[PartitionProgram, _Mapping]]] = ..., state: _Optional[_Union[SiteVersionState, str]] = ..., applied_at: _Optional[str] = ..., applied_by: _Optional[str] = ...) -> None: ...

class PartitionProgram(_message.Message):
    __slots__ = ("partition", "program", "version")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    partition: str
    program: str
    version: int
    def __init__(self, partition: _Optional[str] = ..., program: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class GetSiteRequest(_message.Message):
    __slots__ = ("site", "version")
    SITE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    site: str
    version: int
    def __init__(self, site: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class GetSiteResponse(_message.Message):
    __slots__ = ("toml", "sha256", "version", "site")
    TOML_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    toml: str
    sha256: str
    version: int
    site: str
    def __init__(self, toml: _Optional[str] = ..., sha256: _Optional[str] = ..., version: _Optional[int] = ..., site: _Optional[str] = ...) -> None: ...
