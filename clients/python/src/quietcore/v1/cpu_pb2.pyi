from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CpuUse(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CPU_USE_UNSPECIFIED: _ClassVar[CpuUse]
    CPU_USE_HOUSEKEEPING: _ClassVar[CpuUse]
    CPU_USE_FREE: _ClassVar[CpuUse]
    CPU_USE_PARTITION: _ClassVar[CpuUse]
    CPU_USE_SHARED: _ClassVar[CpuUse]
    CPU_USE_OFFLINE: _ClassVar[CpuUse]
CPU_USE_UNSPECIFIED: CpuUse
CPU_USE_HOUSEKEEPING: CpuUse
CPU_USE_FREE: CpuUse
CPU_USE_PARTITION: CpuUse
CPU_USE_SHARED: CpuUse
CPU_USE_OFFLINE: CpuUse

class ListCpusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListCpusResponse(_message.Message):
    __slots__ = ("cpus",)
    CPUS_FIELD_NUMBER: _ClassVar[int]
    cpus: _containers.RepeatedCompositeFieldContainer[Cpu]
    def __init__(self, cpus: _Optional[_Iterable[_Union[Cpu, _Mapping]]] = ...) -> None: ...

class Cpu(_message.Message):
    __slots__ = ("number", "use", "owners", "isolated", "tickless", "daemon", "siblings")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    USE_FIELD_NUMBER: _ClassVar[int]
    OWNERS_FIELD_NUMBER: _ClassVar[int]
    ISOLATED_FIELD_NUMBER: _ClassVar[int]
    TICKLESS_FIELD_NUMBER: _ClassVar[int]
    DAEMON_FIELD_NUMBER: _ClassVar[int]
    SIBLINGS_FIELD_NUMBER: _ClassVar[int]
    number: int
    use: CpuUse
    owners: _containers.RepeatedCompositeFieldContainer[CpuOwner]
    isolated: bool
    tickless: bool
    daemon: bool
    siblings: str
    def __init__(self, number: _Optional[int] = ..., use: _Optional[_Union[CpuUse, str]] = ..., owners: _Optional[_Iterable[_Union[CpuOwner, _Mapping]]] = ..., isolated: bool = ..., tickless: bool = ..., daemon: bool = ..., siblings: _Optional[str] = ...) -> None: ...

class CpuOwner(_message.Message):
    __slots__ = ("site", "partition", "pid", "user", "policy")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    pid: int
    user: str
    policy: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., pid: _Optional[int] = ..., user: _Optional[str] = ..., policy: _Optional[str] = ...) -> None: ...
