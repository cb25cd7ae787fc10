from quietcore.v1 import cpu_pb2 as _cpu_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FindingSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINDING_SEVERITY_UNSPECIFIED: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_OK: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_ADVICE: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_UNKNOWN: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_CONFORMANCE: _ClassVar[FindingSeverity]
FINDING_SEVERITY_UNSPECIFIED: FindingSeverity
FINDING_SEVERITY_OK: FindingSeverity
FINDING_SEVERITY_ADVICE: FindingSeverity
FINDING_SEVERITY_UNKNOWN: FindingSeverity
FINDING_SEVERITY_CONFORMANCE: FindingSeverity

class GetHostRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetHostResponse(_message.Message):
    __slots__ = ("name", "version", "kernel")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    kernel: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., kernel: _Optional[str] = ...) -> None: ...

class ExamineHostRequest(_message.Message):
    __slots__ = ("cpus", "with_report")
    CPUS_FIELD_NUMBER: _ClassVar[int]
    WITH_REPORT_FIELD_NUMBER: _ClassVar[int]
    cpus: str
    with_report: bool
    def __init__(self, cpus: _Optional[str] = ..., with_report: bool = ...) -> None: ...

class ExamineHostResponse(_message.Message):
    __slots__ = ("findings", "report")
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    report: str
    def __init__(self, findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., report: _Optional[str] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("id", "area", "severity", "subject", "read", "right", "effect", "fix")
    ID_FIELD_NUMBER: _ClassVar[int]
    AREA_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    id: str
    area: str
    severity: FindingSeverity
    subject: str
    read: str
    right: str
    effect: str
    fix: str
    def __init__(self, id: _Optional[str] = ..., area: _Optional[str] = ..., severity: _Optional[_Union[FindingSeverity, str]] = ..., subject: _Optional[str] = ..., read: _Optional[str] = ..., right: _Optional[str] = ..., effect: _Optional[str] = ..., fix: _Optional[str] = ...) -> None: ...
