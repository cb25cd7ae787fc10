"""The channel to a daemon, and what is followed by it, for programs that wait for each answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

import grpc

from quietcore.calls import Answer, Call, Result, Stream, Upload
from quietcore.errors import FailedCall, of_call
from quietcore.sites import Event
from quietcore.target import Target
from quietcore.variables import Sample, SampleReader, Variable

TIMEOUT_S = 30.0
"""The longest wait for an answer where nothing is said, in seconds."""

Item = TypeVar("Item")


class Transport:
    """A channel to a daemon that carries out calls."""

    def __init__(self, target: Target, timeout: float):
        self.target = target
        self.timeout = timeout
        if target.credentials is None:
            self._channel = grpc.insecure_channel(target.address, options=target.options)
        else:
            self._channel = grpc.secure_channel(
                target.address, target.credentials, options=target.options
            )

    def ask(self, call: Call[Answer, Result]) -> Result:
        """Carries out a call with one answer."""
        method = self._channel.unary_unary(
            f"/{call.path}",
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.answer.FromString,
        )
        try:
            answer = method(call.request, timeout=call.timeout or self.timeout)
        except grpc.RpcError as error:
            raise of_call(cast(FailedCall, error), self.target.name) from None
        return call.read(answer)

    def send(self, upload: Upload[Answer, Result]) -> Result:
        """Carries out a call with many requests, which has no limit of time but the daemon's."""
        method = self._channel.stream_unary(
            f"/{upload.path}",
            request_serializer=upload.request.SerializeToString,
            response_deserializer=upload.answer.FromString,
        )
        try:
            answer = method(upload.requests())
        except grpc.RpcError as error:
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

    def close(self) -> None:
        """Ends all calls."""
        self._channel.close()


class Following(Iterator[Item], Generic[Item]):
    """What is told as it happens: an iterator that waits for the next, until it is closed.

    It ends by itself when the seconds that were asked for are over; when the site or the daemon
    comes down, the iteration raises `UnavailableError`. As a context manager it is closed at the
    end. One that nobody refers to any more is closed, too.
    """

    def __init__(self, transport: Transport, stream: Stream[Any, Item], seconds: float | None):
        self._call = transport.follow(stream)
        self._reader = stream.reader
        self._daemon = transport.target.name
        self._seconds = seconds
        self._timer: threading.Timer | None = None
        self._closed = False

    def __next__(self) -> Item:
        while True:
            item = self._reader.take(self._message())
            if item is not None:
                return item

    def _message(self) -> Any:
        if self._closed:
            raise StopIteration
        try:
            return next(self._call)
        except grpc.RpcError as error:
            self._stop_timer()
            if self._closed:
                raise StopIteration from None
            self._closed = True
            raise of_call(cast(FailedCall, error), self._daemon) from None
        except StopIteration:
            self.close()
            raise

    def _start_timer(self) -> None:
        if self._seconds is not None and self._timer is None:
            self._timer = threading.Timer(self._seconds, self.close)
            self._timer.daemon = True
            self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        """Ends the stream; an iteration that waits for it ends, too."""
        self._closed = True
        self._stop_timer()
        self._call.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Events(Following[Event]):
    """Events: those that the site keeps, then each as it happens."""

    def __init__(
        self,
        transport: Transport,
        stream: Stream[Any, Event],
        seconds: float | None,
    ):
        super().__init__(transport, stream, seconds)
        self._start_timer()


class Watch(Following[Sample]):
    """Variables that are followed: a sample each time that some of them have changed.

    It goes on through deploys, restarts and pauses of the partition.
    """

    def __init__(
        self,
        transport: Transport,
        stream: Stream[Any, Sample],
        reader: SampleReader,
        seconds: float | None,
    ):
        super().__init__(transport, stream, seconds)
        self._samples = reader
        # The list of the variables is first; a name that is none is refused here.
        reader.take(self._message())

    def __next__(self) -> Sample:
        sample = super().__next__()
        self._start_timer()
        return sample

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables that are followed, by path."""
        return self._samples.variables

    @property
    def left_out(self) -> int:
        """The number of samples that were left out so far because this client was slow."""
        return self._samples.left_out
