from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANGE_KIND_UNSPECIFIED: _ClassVar[ChangeKind]
    CHANGE_KIND_SET: _ClassVar[ChangeKind]
    CHANGE_KIND_FORCE: _ClassVar[ChangeKind]
    CHANGE_KIND_UNFORCE: _ClassVar[ChangeKind]

class WhyNoEffect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WHY_NO_EFFECT_UNSPECIFIED: _ClassVar[WhyNoEffect]
    WHY_NO_EFFECT_HELD_BY_FORCE: _ClassVar[WhyNoEffect]
    WHY_NO_EFFECT_WRITTEN_BY_FIELDBUS: _ClassVar[WhyNoEffect]
    WHY_NO_EFFECT_WRITTEN_BY_PROGRAM: _ClassVar[WhyNoEffect]
    WHY_NO_EFFECT_NOT_FORCED: _ClassVar[WhyNoEffect]
CHANGE_KIND_UNSPECIFIED: ChangeKind
CHANGE_KIND_SET: ChangeKind
CHANGE_KIND_FORCE: ChangeKind
CHANGE_KIND_UNFORCE: ChangeKind
WHY_NO_EFFECT_UNSPECIFIED: WhyNoEffect
WHY_NO_EFFECT_HELD_BY_FORCE: WhyNoEffect
WHY_NO_EFFECT_WRITTEN_BY_FIELDBUS: WhyNoEffect
WHY_NO_EFFECT_WRITTEN_BY_PROGRAM: WhyNoEffect
WHY_NO_EFFECT_NOT_FORCED: WhyNoEffect

class ListVariablesRequest(_message.Message):
    __slots__ = ("site", "partition", "pattern", "page_size", "page_token")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    pattern: str
    page_size: int
    page_token: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., pattern: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListVariablesResponse(_message.Message):
    __slots__ = ("variables", "next_page_token", "generation")
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.RepeatedCompositeFieldContainer[Variable]
    next_page_token: str
    generation: int
    def __init__(self, variables: _Optional[_Iterable[_Union[Variable, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., generation: _Optional[int] = ...) -> None: ...

class Variable(_message.Message):
    __slots__ = ("path", "type", "role", "writable")
    PATH_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    WRITABLE_FIELD_NUMBER: _ClassVar[int]
    path: str
    type: str
    role: str
    writable: bool
    def __init__(self, path: _Optional[str] = ..., type: _Optional[str] = ..., role: _Optional[str] = ..., writable: bool = ...) -> None: ...

class ReadVariablesRequest(_message.Message):
    __slots__ = ("site", "partition", "patterns")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    patterns: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., patterns: _Optional[_Iterable[str]] = ...) -> None: ...

class ReadVariablesResponse(_message.Message):
    __slots__ = ("variables", "reading")
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    READING_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.RepeatedCompositeFieldContainer[VariableValue]
    reading: Reading
    def __init__(self, variables: _Optional[_Iterable[_Union[VariableValue, _Mapping]]] = ..., reading: _Optional[_Union[Reading, _Mapping]] = ...) -> None: ...

class VariableValue(_message.Message):
    __slots__ = ("variable", "value", "forced")
    VARIABLE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FORCED_FIELD_NUMBER: _ClassVar[int]
    variable: Variable
    value: Value
    forced: bool
    def __init__(self, variable: _Optional[_Union[Variable, _Mapping]] = ..., value: _Optional[_Union[Value, _Mapping]] = ..., forced: bool = ...) -> None: ...

class Reading(_message.Message):
    __slots__ = ("cycle", "generation", "consistent", "silent")
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    CONSISTENT_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    cycle: int
    generation: int
    consistent: bool
    silent: bool
    def __init__(self, cycle: _Optional[int] = ..., generation: _Optional[int] = ..., consistent: bool = ..., silent: bool = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("boolean", "signed", "unsigned", "single", "double", "enumeration", "address")
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    SIGNED_FIELD_NUMBER: _ClassVar[int]
    UNSIGNED_FIELD_NUMBER: _ClassVar[int]
    SINGLE_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_FIELD_NUMBER: _ClassVar[int]
    ENUMERATION_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    boolean: bool
    signed: int
    unsigned: int
    single: float
    double: float
    enumeration: EnumerationValue
    address: int
    def __init__(self, boolean: bool = ..., signed: _Optional[int] = ..., unsigned: _Optional[int] = ..., single: _Optional[float] = ..., double: _Optional[float] = ..., enumeration: _Optional[_Union[EnumerationValue, _Mapping]] = ..., address: _Optional[int] = ...) -> None: ...

class EnumerationValue(_message.Message):
    __slots__ = ("number", "name")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    number: int
    name: str
    def __init__(self, number: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class WriteVariablesRequest(_message.Message):
    __slots__ = ("site", "partition", "changes", "confirm")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    CONFIRM_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    changes: _containers.RepeatedCompositeFieldContainer[Change]
    confirm: bool
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[Change, _Mapping]]] = ..., confirm: bool = ...) -> None: ...

class WriteVariablesResponse(_message.Message):
    __slots__ = ("cycle", "effects")
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    cycle: int
    effects: _containers.RepeatedCompositeFieldContainer[Effect]
    def __init__(self, cycle: _Optional[int] = ..., effects: _Optional[_Iterable[_Union[Effect, _Mapping]]] = ...) -> None: ...

class UnforceAllRequest(_message.Message):
    __slots__ = ("site", "partition")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ...) -> None: ...

class UnforceAllResponse(_message.Message):
    __slots__ = ("cycle", "effects")
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    cycle: int
    effects: _containers.RepeatedCompositeFieldContainer[Effect]
    def __init__(self, cycle: _Optional[int] = ..., effects: _Optional[_Iterable[_Union[Effect, _Mapping]]] = ...) -> None: ...

class SubscribeVariablesRequest(_message.Message):
    __slots__ = ("site", "partition", "patterns", "interval_us", "deadband")
    SITE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_US_FIELD_NUMBER: _ClassVar[int]
    DEADBAND_FIELD_NUMBER: _ClassVar[int]
    site: str
    partition: str
    patterns: _containers.RepeatedScalarFieldContainer[str]
    interval_us: int
    deadband: float
    def __init__(self, site: _Optional[str] = ..., partition: _Optional[str] = ..., patterns: _Optional[_Iterable[str]] = ..., interval_us: _Optional[int] = ..., deadband: _Optional[float] = ...) -> None: ...

class SubscribeVariablesResponse(_message.Message):
    __slots__ = ("variables", "sample")
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    variables: VariableList
    sample: Sample
    def __init__(self, variables: _Optional[_Union[VariableList, _Mapping]] = ..., sample: _Optional[_Union[Sample, _Mapping]] = ...) -> None: ...

class VariableList(_message.Message):
    __slots__ = ("variables",)
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.RepeatedCompositeFieldContainer[Variable]
    def __init__(self, variables: _Optional[_Iterable[_Union[Variable, _Mapping]]] = ...) -> None: ...

class Sample(_message.Message):
    __slots__ = ("reading", "read_at_ns", "indices", "values", "forced_changed", "forced", "left_out")
    READING_FIELD_NUMBER: _ClassVar[int]
    READ_AT_NS_FIELD_NUMBER: _ClassVar[int]
    INDICES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    FORCED_CHANGED_FIELD_NUMBER: _ClassVar[int]
    FORCED_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    reading: Reading
    read_at_ns: int
    indices: _containers.RepeatedScalarFieldContainer[int]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    forced_changed: bool
    forced: _containers.RepeatedScalarFieldContainer[int]
    left_out: int
    def __init__(self, reading: _Optional[_Union[Reading, _Mapping]] = ..., read_at_ns: _Optional[int] = ..., indices: _Optional[_Iterable[int]] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., forced_changed: bool = ..., forced: _Optional[_Iterable[int]] = ..., left_out: _Optional[int] = ...) -> None: ...

class ListChangesRequest(_message.Message):
    __slots__ = ("site", "since")
    SITE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    site: str
    since: int
    def __init__(self, site: _Optional[str] = ..., since: _Optional[int] = ...) -> None: ...

class ListChangesResponse(_message.Message):
    __slots__ = ("changes", "next")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[AppliedChange]
    next: int
    def __init__(self, changes: _Optional[_Iterable[_Union[AppliedChange, _Mapping]]] = ..., next: _Optional[int] = ...) -> None: ...

class AppliedChange(_message.Message):
    __slots__ = ("sequence", "partition", "cycle", "by", "effect")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    partition: str
    cycle: int
    by: str
    effect: Effect
    def __init__(self, sequence: _Optional[int] = ..., partition: _Optional[str] = ..., cycle: _Optional[int] = ..., by: _Optional[str] = ..., effect: _Optional[_Union[Effect, _Mapping]] = ...) -> None: ...

class Effect(_message.Message):
    __slots__ = ("change", "old", "new", "without_effect")
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    OLD_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_EFFECT_FIELD_NUMBER: _ClassVar[int]
    change: Change
    old: str
    new: str
    without_effect: WhyNoEffect
    def __init__(self, change: _Optional[_Union[Change, _Mapping]] = ..., old: _Optional[str] = ..., new: _Optional[str] = ..., without_effect: _Optional[_Union[WhyNoEffect, str]] = ...) -> None: ...

class Change(_message.Message):
    __slots__ = ("kind", "variable", "value", "allow_nan")
    KIND_FIELD_NUMBER: _ClassVar[int]
    VARIABLE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    ALLOW_NAN_FIELD_NUMBER: _ClassVar[int]
    kind: ChangeKind
    variable: str
    value: str
    allow_nan: bool
    def __init__(self, kind: _Optional[_Union[ChangeKind, str]] = ..., variable: _Optional[str] = ..., value: _Optional[str] = ..., allow_nan: bool = ...) -> None: ...
