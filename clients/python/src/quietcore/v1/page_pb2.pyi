from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class CreateLinkRequest(_message.Message):
    __slots__ = ("role",)
    ROLE_FIELD_NUMBER: _ClassVar[int]
    role: str
    def __init__(self, role: _Optional[str] = ...) -> None: ...

class CreateLinkResponse(_message.Message):
    __slots__ = ("url", "lifetime_s")
    URL_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_S_FIELD_NUMBER: _ClassVar[int]
    url: str
    lifetime_s: int
    def __init__(self, url: _Optional[str] = ..., lifetime_s: _Optional[int] = ...) -> None: ...
