"""The channel to a daemon, and what is followed by it, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

import grpc
import grpc.aio
from google.protobuf.message import Message

from quietcore.calls import Answer, Call, Result, Stream, Upload
from quietcore.errors import FailedCall, of_call
from quietcore.sites import Event
from quietcore.target import Target
from quietcore.variables import Sample, SampleReader, Variable

Item = TypeVar("Item")


class Transport:
    """A channel to a daemon that carries out calls."""

    def __init__(self, target: Target, timeout: float):
        self.target = target
        self.timeout = timeout
        if target.credentials is None:
            self._channel = grpc.aio.insecure_channel(target.address, options=target.options)
        else:
            self._channel = grpc.aio.secure_channel(
                target.address, target.credentials, options=target.options
            )

    async def ask(self, call: Call[Answer, Result]) -> Result:
        """Carries out a call with one answer."""
        method = self._channel.unary_unary(
            f"/{call.path}",
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.answer.FromString,
        )
        try:
            answer = await method(call.request, timeout=call.timeout or self.timeout)
        except grpc.aio.AioRpcError as error:
            raise of_call(cast(FailedCall, error), self.target.name) from None
        return call.read(answer)

    async def send(self, upload: Upload[Answer, Result]) -> Result:
        """Carries out a call with many requests, which has no limit of time but the daemon's."""
        method = self._channel.stream_unary(
            f"/{upload.path}",
            request_serializer=upload.request.SerializeToString,
            response_deserializer=upload.answer.FromString,
        )
        call = method(_without_waiting(upload.requests()))
        try:
            answer = await call
        except grpc.aio.AioRpcError as error:
            raise of_call(cast(FailedCall, error), self.target.name) from None
        return upload.read(answer)

    def follow(self, stream: Stream[Answer, Any]) -> Any:
        """Begins a stream and returns its call."""
        method = self._channel.unary_stream(
            f"/{stream.path}",
            request_serializer=type(stream.request).SerializeToString,
            response_deserializer=stream.answer.FromString,
        )
        return method(stream.request)

    async def close(self) -> None:
        """Ends all calls."""
        await self._channel.close()


class Following(AsyncIterator[Item], Generic[Item]):
    """What is told as it happens, as `quietcore.client.Following`.

    It begins with the first item that is awaited, so that a name that is none is refused there.
    """

    # The seconds of an event stream count from its beginning, those of variables from the first
    # sample.
    _counts_from_first_item = False

    def __init__(self, transport: Transport, stream: Stream[Any, Item], seconds: float | None):
        self._transport = transport
        self._stream = stream
        self._seconds = seconds
        self._call: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    async def __anext__(self) -> Item:
        if self._call is None and not self._closed:
            self._call = self._transport.follow(self._stream)
            if not self._counts_from_first_item:
                self._start_timer()
        while True:
            item = self._stream.reader.take(await self._message())
            if item is not None:
                self._start_timer()
                return item

    async def _message(self) -> Any:
        if self._closed:
            raise StopAsyncIteration
        try:
            message = await self._call.read()
        except grpc.aio.AioRpcError as error:
            if self._closed:
                raise StopAsyncIteration from None
            self.close()
            raise of_call(cast(FailedCall, error), self._transport.target.name) from None
        except asyncio.CancelledError:
            # The stream's own end looks like that of the task that waits for it.
            if self._closed and not _is_cancelled():
                raise StopAsyncIteration from None
            self.close()
            raise
        if message is grpc.aio.EOF:
            self.close()
            raise StopAsyncIteration
        return message

    def _start_timer(self) -> None:
        if self._seconds is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self.close)

    def close(self) -> None:
        """Ends the stream; an iteration that waits for it ends, too."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._call is not None:
            self._call.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Events(Following[Event]):
    """Events: those that the site keeps, then each as it happens."""


class Watch(Following[Sample]):
    """Variables that are followed, as `quietcore.client.Watch`."""

    _counts_from_first_item = True

    def __init__(
        self,
        transport: Transport,
        stream: Stream[Any, Sample],
        reader: SampleReader,
        seconds: float | None,
    ):
        super().__init__(transport, stream, seconds)
        self._samples = reader

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables that are followed, by path; none before the first sample."""
        return self._samples.variables

    @property
    def left_out(self) -> int:
        """The number of samples that were left out so far because this client was slow."""
        return self._samples.left_out


async def _without_waiting(requests: Iterator[Message]) -> AsyncIterator[Message]:
    # Reading a file may wait, which the event loop must not.
    while (request := await asyncio.to_thread(next, requests, None)) is not None:
        yield request
