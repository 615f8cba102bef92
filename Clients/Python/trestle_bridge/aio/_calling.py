"""The calls of a bridge, and the streams in their options."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterator, Callable, Mapping, Optional

from .._core import jsontext, wire
from .._core.call import Call
from .._core.core import Core
from .._core.errors import BridgeError
from .._core.incoming import ProvidedCall
from .._core.messages import ABSENT
from .._core.outgoing import Outgoing
from .._core.retry import Retry, retry_pause
from .._core.settings import check_timeout
from .._core.state import State
from .._core.streaming import options_text, wants_pipe
from .._streams.aio_making import Streaming
from .._streams.aio_sending import Sending
from ._pending import PendingCall, Waiter
from ._pump import Pump

Progress = Callable[[Any], None]


class Calling(Streaming):
    """Makes calls over a core, which it does not own."""

    def __init__(self, core: Core, pump: Pump) -> None:
        self._core = core
        self._pump = pump

    async def pages(
        self, task: str, options: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[Any]:
        """Yields the pages of a table, such as `bridge.sessions` or `persistence.query`. Each page is the result of one
        call, which continues where the previous one ended.

        Args:
            task: a task whose result contains a `cursor` if there are more pages.
            options: the options of the task, without `cursor`.
            timeout: the timeout for each page, in seconds.
        """
        wanted = dict(options or {})
        while True:
            page = await self.call(task, wanted, timeout=timeout)
            yield page
            cursor = page.get("cursor")
            # A page with the same cursor as the previous one would repeat forever.
            if cursor is None or cursor == wanted.get("cursor"):
                return
            wanted["cursor"] = cursor

    async def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, retry: Retry = "never",
        on_progress: Optional[Progress] = None, session: Optional[int] = None,
    ) -> Any:
        """Calls a task and waits for its result. If the waiting asyncio task is cancelled, the call is cancelled.

        Args:
            task: the name of the task.
            options: any JSON, with a `Stream` where the task expects one. If omitted, the task gets `{}`. None is
                JSON's null.
            timeout: seconds, above 0 and at most a year, or `math.inf` for no timeout. None for the default of the task
                or of the daemon. It includes the time of waiting for a connection.
            retry: the errors after which the call is sent again, within its timeout. A call with a `Stream` whose
                source can be read only once is not sent again.
            on_progress: called with intermediate results, in the waiting asyncio task, in order. All but the newest may
                be omitted. Use a stream for data that must arrive completely.
            session: the session that must execute the call: only a task that it registered is called.

        Raises:
            BridgeError: the error of the call. `call.timeout`: there was no answer in time. `session.closed`: the
                connection was lost. `busy`: too many bytes or calls are waiting. `options.invalid`: the options have no
                JSON, or a `Stream` was already used. Also the errors of making a stream.
            ValueError: the timeout is not valid.
        """
        check_timeout(timeout)
        outgoing = None if options is ABSENT else Outgoing(options)
        if outgoing is not None and not outgoing.may_repeat:
            retry = "never"
        deadline = None if timeout is None else time.monotonic() + timeout
        attempt = 0
        while True:
            try:
                return await self._call_once(task, outgoing, timeout, on_progress, session)
            except BridgeError as error:
                timeout = None if deadline is None else deadline - time.monotonic()
                pause = retry_pause(error, retry, attempt, timeout)
                if pause is None or self._core.state is State.CLOSED:
                    raise
            await asyncio.sleep(pause)
            timeout = _time_left(deadline)
            attempt += 1

    async def _call_once(
        self, task: str, outgoing: Optional[Outgoing], timeout: Optional[float], on_progress: Optional[Progress],
        session: Optional[int],
    ) -> Any:
        if outgoing is None or not outgoing.streams:
            text = None if outgoing is None else outgoing.text([])
            return await _result(self._begin(task, text, timeout, on_progress, on_progress is not None, session))
        deadline = None if timeout is None else time.monotonic() + timeout
        async with Sending(self, outgoing) as sending:
            text = await sending.make(timeout=timeout)
            wanted = on_progress is not None
            pending = self._begin(task, text, _time_left(deadline), on_progress, wanted, session)
            sending.start()
            return await _result(pending)

    def submit(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None,
        on_progress: Optional[Progress] = None, progress: bool = False, session: Optional[int] = None,
    ) -> PendingCall:
        """Begins a call without waiting. The arguments are those of `call`. Errors of the arguments are raised here;
        `PendingCall.result` raises the other errors of `call`. The options must not contain a `Stream`, only the name
        of a stream.

        Args:
            progress: whether to request intermediate results for `PendingCall.progress`, without `on_progress`.
        """
        check_timeout(timeout)
        wanted = progress or on_progress is not None
        return self._begin(task, _text(options), timeout, on_progress, wanted, session)

    def _begin(
        self, task: str, text: Optional[bytes], timeout: Optional[float], on_progress: Optional[Progress],
        wants_progress: bool, session: Optional[int], wants_pipe: bool = False,
    ) -> PendingCall:
        waiter = Waiter(self._core.settings.limits.max_queued_progress)
        call = Call(
            jsontext.encode(task), text, waiter, timeout=timeout, wants_progress=wants_progress, session=session,
            wants_pipe=wants_pipe)
        self._core.submit(call)
        self._pump.kick()
        return PendingCall(self._pump, self._core, call, waiter, on_progress)

    async def notify(self, task: str, options: Any = ABSENT, *, session: Optional[int] = None) -> None:
        """Makes a one-way call, without a result. Returns when the message is queued for writing.

        Raises:
            BridgeError: the call was not sent: `busy`, `session.closed`, `daemon.unreachable`, `message.too_large` or
                `options.invalid`.
        """
        waiter = Waiter()
        self._core.submit(Call(jsontext.encode(task), _text(options), waiter, session=session, one_way=True))
        self._pump.kick()
        await waiter.wait()

    async def publish(self, event: str, data: Any = None, *, retain: bool = False) -> None:
        """Sends an event to all its subscribers, including this client. Waits for the daemon's answer.

        Args:
            event: the name of the event.
            data: any JSON.
            retain: whether the daemon stores the event and sends it to later subscribers. It replaces the previous
                retained event of this name.

        Raises:
            BridgeError: as with `call`; `permission.denied` if a rule forbids it; `quota.exceeded` if too many events
                are retained.
        """
        await self.call(wire.PUBLISH, {"event": event, "data": data, **({wire.RETAIN: True} if retain else {})})

    def _begin_about_stream(
        self, task: str, options: dict[str, Any], call: Optional[ProvidedCall], timeout: Optional[float] = None
    ) -> PendingCall:
        if call is not None and not call.one_way:
            options = {**options, wire.CALL: call._id}
        return self._begin(task, options_text(options), timeout, None, False, None, wants_pipe(task, options))

    def _message_bytes(self) -> int:
        return self._core.calls.message_bytes


async def _result(pending: PendingCall) -> Any:
    try:
        return await pending.result()
    except BridgeError:
        raise
    except BaseException:
        pending.abandon()
        raise


def _text(options: Any) -> Optional[bytes]:
    return None if options is ABSENT else jsontext.encode(options)


def _time_left(deadline: Optional[float]) -> Optional[float]:
    return None if deadline is None else max(0.001, deadline - time.monotonic())
