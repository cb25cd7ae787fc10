from quietcore.v1 import site_version_pb2 as _site_version_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEVERITY_UNSPECIFIED: _ClassVar[Severity]
    SEVERITY_INFORMATION: _ClassVar[Severity]
    SEVERITY_WARNING: _ClassVar[Severity]
    SEVERITY_FAULT: _ClassVar[Severity]
SEVERITY_UNSPECIFIED: Severity
SEVERITY_INFORMATION: Severity
SEVERITY_WARNING: Severity
SEVERITY_FAULT: Severity

class ListSitesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListSitesResponse(_message.Message):
    __slots__ = ("sites",)
    SITES_FIELD_NUMBER: _ClassVar[int]
    sites: _containers.RepeatedCompositeFieldContainer[RunningSite]
    def __init__(self, sites: _Optional[_Iterable[_Union[RunningSite, _Mapping]]] = ...) -> None: ...

class RunningSite(_message.Message):
    __slots__ = ("name", "site_file", "pid", "started_by", "partitions", "started_at", "starter", "quietcore_version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SITE_FILE_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTER_FIELD_NUMBER: _ClassVar[int]
    QUIETCORE_VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    site_file: str
    pid: int
    started_by: str
    partitions: _containers.RepeatedScalarFieldContainer[str]
    started_at: str
    starter: Starter
    quietcore_version: str
    def __init__(self, name: _Optional[str] = ..., site_file: _Optional[str] = ..., pid: _Optional[int] = ..., started_by: _Optional[str] = ..., partitions: _Optional[_Iterable[str]] = ..., started_at: _Optional[str] = ..., starter: _Optional[_Union[Starter, _Mapping]] = ..., quietcore_version: _Optional[str] = ...) -> None: ...

class Starter(_message.Message):
    __slots__ = ("user", "login", "folder", "terminal", "session", "command", "service")
    USER_FIELD_NUMBER: _ClassVar[int]
    LOGIN_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    TERMINAL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    user: str
    login: str
    folder: str
    terminal: str
    session: int
    command: str
    service: str
    def __init__(self, user: _Optional[str] = ..., login: _Optional[str] = ..., folder: _Optional[str] = ..., terminal: _Optional[str] = ..., session: _Optional[int] = ..., command: _Optional[str] = ..., service: _Optional[str] = ...) -> None: ...

class ValidateSiteRequest(_message.Message):
    __slots__ = ("toml",)
    TOML_FIELD_NUMBER: _ClassVar[int]
    toml: str
    def __init__(self, toml: _Optional[str] = ...) -> None: ...

class ValidateSiteResponse(_message.Message):
    __slots__ = ("problems", "left_out", "site")
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    problems: _containers.RepeatedCompositeFieldContainer[Problem]
    left_out: int
    site: str
    def __init__(self, problems: _Optional[_Iterable[_Union[Problem, _Mapping]]] = ..., left_out: _Optional[int] = ..., site: _Optional[str] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ("line", "column", "key", "problem", "remedy")
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    REMEDY_FIELD_NUMBER: _ClassVar[int]
    line: int
    column: int
    key: str
    problem: str
    remedy: str
    def __init__(self, line: _Optional[int] = ..., column: _Optional[int] = ..., key: _Optional[str] = ..., problem: _Optional[str] = ..., remedy: _Optional[str] = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ("site", "since", "past_only")
    SITE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    PAST_ONLY_FIELD_NUMBER: _ClassVar[int]
    site: str
    since: int
    past_only: bool
    def __init__(self, site: _Optional[str] = ..., since: _Optional[int] = ..., past_only: bool = ...) -> None: ...

class WatchEventsResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: Event
    def __init__(self, event: _Optional[_Union[Event, _Mapping]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("sequence", "at", "partition", "cycle", "kind", "severity", "text", "by")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    at: str
    partition: str
    cycle: int
    kind: str
    severity: Severity
    text: str
    by: str
    def __init__(self, sequence: _Optional[int] = ..., at: _Optional[str] = ..., partition: _Optional[str] = ..., cycle: _Optional[int] = ..., kind: _Optional[str] = ..., severity: _Optional[_Union[Severity, str]] = ..., text: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...
