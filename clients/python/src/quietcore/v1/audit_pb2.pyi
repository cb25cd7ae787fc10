from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AuditKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_KIND_UNSPECIFIED: _ClassVar[AuditKind]
    AUDIT_KIND_BEGAN: _ClassVar[AuditKind]
    AUDIT_KIND_INTENDED: _ClassVar[AuditKind]
    AUDIT_KIND_DONE: _ClassVar[AuditKind]
    AUDIT_KIND_REFUSED: _ClassVar[AuditKind]
    AUDIT_KIND_PRUNED: _ClassVar[AuditKind]
AUDIT_KIND_UNSPECIFIED: AuditKind
AUDIT_KIND_BEGAN: AuditKind
AUDIT_KIND_INTENDED: AuditKind
AUDIT_KIND_DONE: AuditKind
AUDIT_KIND_REFUSED: AuditKind
AUDIT_KIND_PRUNED: AuditKind

class ListEntriesRequest(_message.Message):
    __slots__ = ("since", "page_size", "site", "partition", "who", "call")
    SINCE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    since: int
    page_size: int
    site: str
    partition: str
    who: str
    call: str
    def __init__(self, since: _Optional[int] = ..., page_size: _Optional[int] = ..., site: _Optional[str] = ..., partition: _Optional[str] = ..., who: _Optional[str] = ..., call: _Optional[str] = ...) -> None: ...

class ListEntriesResponse(_message.Message):
    __slots__ = ("entries", "next", "at_end")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    AT_END_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[AuditEntry]
    next: int
    at_end: bool
    def __init__(self, entries: _Optional[_Iterable[_Union[AuditEntry, _Mapping]]] = ..., next: _Optional[int] = ..., at_end: bool = ...) -> None: ...

class AuditEntry(_message.Message):
    __slots__ = ("number", "at", "kind", "of", "who", "call", "site", "partition", "what", "refusal", "text", "hash")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    number: int
    at: str
    kind: AuditKind
    of: int
    who: AuditAuthor
    call: str
    site: str
    partition: str
    what: str
    refusal: AuditRefusal
    text: str
    hash: str
    def __init__(self, number: _Optional[int] = ..., at: _Optional[str] = ..., kind: _Optional[_Union[AuditKind, str]] = ..., of: _Optional[int] = ..., who: _Optional[_Union[AuditAuthor, _Mapping]] = ..., call: _Optional[str] = ..., site: _Optional[str] = ..., partition: _Optional[str] = ..., what: _Optional[str] = ..., refusal: _Optional[_Union[AuditRefusal, _Mapping]] = ..., text: _Optional[str] = ..., hash: _Optional[str] = ...) -> None: ...

class AuditAuthor(_message.Message):
    __slots__ = ("user", "program", "via", "certificate", "role")
    USER_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    user: str
    program: str
    via: str
    certificate: str
    role: str
    def __init__(self, user: _Optional[str] = ..., program: _Optional[str] = ..., via: _Optional[str] = ..., certificate: _Optional[str] = ..., role: _Optional[str] = ...) -> None: ...

class AuditRefusal(_message.Message):
    __slots__ = ("kind", "sentence")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    sentence: str
    def __init__(self, kind: _Optional[str] = ..., sentence: _Optional[str] = ...) -> None: ...
