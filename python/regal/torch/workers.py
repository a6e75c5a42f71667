# SPDX-License-Identifier: Apache-2.0
"""Plans on devices with memory of their own, and on threads of the CPU.

*Threads.* One worker per device of the plan, each with one thread of PyTorch,
runs its kernels in the plan's order and waits for those of other workers.

*GPUs.* One host thread launches all kernels in the plan's order, each on its
device; what another device made is copied first, on a stream for copies, once
per device.

Both count the bytes that the program's buffers hold, to set beside what the plan
predicts. Threads share memory: a buffer is freed after its last reader. A device
frees what it has made or received after its own last use of it; to send is a use.
"""

from __future__ import annotations

import collections
import operator
import threading
from typing import Any, Counter, Dict, List, Optional, Sequence, Tuple, Union

import torch
from torch.fx import Node

from .trace import Traced, tensors_of


#: A step of a plan: a kernel, or a buffer that is sent and the device it goes to.
Step = Union[int, Tuple[int, int]]


class _Held:
    """Bytes of live buffers, and their maximum, on each device."""

    def __init__(
        self,
        traced: Traced,
        place: Sequence[int],
        devices: int,
        sends: Optional[Sequence[Tuple[int, int]]] = None,
    ):
        """
        :param sends: all that are sent; None: memory is shared, and a buffer is
            where it was made.
        """
        program = traced.program
        self.buffers, self.kernels = program.buffers, program.kernels
        self.creators, self.place = program.creators, place
        self.is_shared = sends is None
        self.bytes = [0] * devices
        self.peak = [0] * devices
        self.lock = threading.Lock()
        self.own, users = program.made_by, program.users
        #: Of each buffer on each device: how often it will still be used.
        self.uses: Counter[Tuple[int, int]] = collections.Counter(
            (buffer, self._where(buffer, kernel))
            for buffer in self.creators
            for kernel in users[buffer]
        )
        sent = [buffer for buffer, _ in sends or ()]
        returned = self.creators.keys() & program.outputs
        self.uses.update((buffer, self.home(buffer)) for buffer in sent)
        self.uses.update((buffer, self.home(buffer)) for buffer in returned)

    def home(self, buffer: int) -> int:
        """The device that makes it."""
        return self.place[self.creators[buffer]]

    def _where(self, buffer: int, kernel: int) -> int:
        """The device on which the kernel finds it."""
        return self.home(buffer) if self.is_shared else self.place[kernel]

    def begin(self, kernel: int) -> None:
        with self.lock:
            for buffer in self.own.get(kernel, ()):
                self._add(self.place[kernel], self.buffers[buffer].bytes)

    def end(self, kernel: int) -> List[int]:
        """Buffers that nobody needs any more, where the kernel found them."""
        accesses = self.kernels[kernel]
        touched = {a.buffer for a in accesses.reads + accesses.writes}
        with self.lock:
            return [
                buffer
                for buffer in touched & self.creators.keys()
                if self._is_last_use(buffer, self._where(buffer, kernel))
            ]

    def send(self, buffer: int, device: int) -> bool:
        """Whether the device that has made it does not need it any more."""
        self._add(device, self.buffers[buffer].bytes)
        return self._is_last_use(buffer, self.home(buffer))

    def _is_last_use(self, buffer: int, device: int) -> bool:
        self.uses[buffer, device] -= 1
        is_last = self.uses[buffer, device] == 0
        if is_last:
            self._add(device, -self.buffers[buffer].bytes)
        return is_last

    def _add(self, device: int, count: int) -> None:
        self.bytes[device] += count
        self.peak[device] = max(self.peak[device], self.bytes[device])


class Threads:
    """Runs a plan on workers of the CPU."""

    def __init__(
        self,
        traced: Traced,
        order: Sequence[int],
        place: Sequence[int],
        devices: int = 0,
    ):
        """
        :param devices: of the plan, if some of them may run nothing.
        """
        self.traced = traced
        self.place = list(place)
        self.devices = max([devices - 1, *self.place]) + 1
        self.queues: Dict[int, List[int]] = {}
        for kernel in order:
            self.queues.setdefault(self.place[kernel], []).append(kernel)
        #: Of the last run, on each device: bytes held at most.
        self.peak_bytes: List[int] = []

    def __call__(self, args: Sequence[Any]) -> List[Any]:
        run = _ThreadRun(self, list(args))
        run.finish()
        self.peak_bytes = run.held.peak
        return self.traced.results(run.env)


class _ThreadRun:
    def __init__(self, threads: Threads, args: List[Any]):
        self.threads, self.traced = threads, threads.traced
        self.env = self.traced.inputs(args)
        self.held = _Held(self.traced, threads.place, threads.devices)
        self.done = [threading.Event() for _ in self.traced.kernels]
        self.failures: List[BaseException] = []
        #: Host nodes fill the table of values; one thread at a time.
        self.lock = threading.RLock()

    def finish(self) -> None:
        usual = torch.get_num_threads()
        workers = [
            threading.Thread(target=self._work, args=(queue,), daemon=True)
            for queue in self.threads.queues.values()
        ]
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        except BaseException as interruption:  # Ctrl-C: the workers end, too
            self.failures.append(interruption)
            raise
        finally:
            # What a worker sets for itself is the default of new threads.
            torch.set_num_threads(usual)
        if self.failures:
            raise self.failures[0]

    def _work(self, queue: List[int]) -> None:
        torch.set_num_threads(1)
        try:
            with torch.no_grad():
                for kernel in queue:
                    for other in self.traced.program.dependencies[kernel]:
                        self.done[other].wait()
                    if self.failures:
                        break
                    self._run(kernel)
        except BaseException as failure:  # handed to the caller
            self.failures.append(failure)
        finally:
            # Nobody waits for what will not come.
            for kernel in queue:
                self.done[kernel].set()

    def _run(self, kernel: int) -> None:
        node = self.traced.kernels[kernel]
        self.held.begin(kernel)
        with self.lock:
            args, kwargs = torch.fx.map_arg(
                (node.args, dict(node.kwargs)),
                lambda n: self.traced.value(n, self.env),
            )
        result = self.traced.run(node, args, kwargs)
        with self.lock:
            self.traced.keep(node, result, self.env)
            self.traced.release(self.held.end(kernel), self.env)
        self.done[kernel].set()


class Devices:
    """Runs a plan on several devices, with copies between them."""

    def __init__(
        self,
        traced: Traced,
        steps: Sequence[Step],
        place: Sequence[int],
        devices: Sequence[torch.device],
    ):
        if len(set(place)) > 1 or traced.written_inputs:
            _check_writes(traced)
        self.traced, self.steps, self.place = traced, list(steps), list(place)
        self.sends = [step for step in steps if isinstance(step, tuple)]
        self.devices = [torch.device(d) for d in devices]
        self.streams = [_stream(d) for d in self.devices]
        self.copies = [_stream(d) for d in self.devices]
        self.peak_bytes: List[int] = []

    def __call__(self, args: Sequence[Any]) -> List[Any]:
        run = _DeviceRun(self, list(args))
        with torch.no_grad():
            for step in self.steps:
                if isinstance(step, tuple):
                    run.send(*step)
                else:
                    run.launch(step)
            results = run.results()
        self.peak_bytes = run.held.peak
        return results


def _check_writes(traced: Traced) -> None:
    """A copy on another device does not see what is written after it was made:
    each kernel must return what it writes."""
    program = traced.program
    created = program.creators
    if traced.allocator_of or any(
        created.get(access.buffer) != index
        for index, kernel in enumerate(program.kernels)
        for access in kernel.writes
    ):
        raise ValueError(
            "a program whose kernels write their arguments needs one device; "
            'level="aten" gives one for several'
        )


def _stream(device: torch.device):
    return torch.cuda.Stream(device) if device.type == "cuda" else None


class _DeviceRun:
    def __init__(self, devices: Devices, args: List[Any]):
        self.d, self.traced = devices, devices.traced
        #: Values by device: what a device has made or was sent.
        self.env: List[Dict[Node, Any]] = [{} for _ in devices.devices]
        self.given = self.traced.inputs(args)
        self.held = _Held(
            self.traced, devices.place, len(devices.devices), devices.sends
        )
        #: The device of each result, and when it is made.
        self.made: Dict[Node, int] = {}
        self.events: Dict[Node, Any] = {}
        #: When copies are there that no kernel of the device has used.
        self.arrivals: Dict[Tuple[Node, int], Any] = {}
        for stream in (*devices.streams, *devices.copies):
            if stream is not None:
                stream.wait_stream(torch.cuda.current_stream(stream.device))

    def launch(self, kernel: int) -> None:
        device = self.d.place[kernel]
        node = self.traced.kernels[kernel]
        self.held.begin(kernel)
        args, kwargs = torch.fx.map_arg(
            (node.args, dict(node.kwargs)), lambda n: self.fetch(n, device)
        )
        if "device" in kwargs:  # that of the capture, for what has no input
            kwargs = {**kwargs, "device": self.d.devices[device]}
        with _on(self.d.devices[device], self.d.streams[device]):
            result = self.traced.run(node, args, kwargs)
        self.traced.keep(node, result, self.env[device])
        event = _event(self.d.streams[device])
        for made in (node, *self.traced.parts(node)):
            self.made[made], self.events[made] = device, event
        self.traced.release(self.held.end(kernel), self.env[device])

    def send(self, buffer: int, device: int) -> None:
        home = self.held.home(buffer)
        for node in self.traced.nodes_in.get(buffer, ()):
            if node in self.made and node in self.env[home] and _is_used(node):
                self._send(node, self.env[home][node], self.events[node], device)
        if self.held.send(buffer, device):
            self.traced.release([buffer], self.env[home])

    def fetch(self, node: Node, device: int) -> Any:
        """The node's value on a device; copied there if need be."""
        env = self.env[device]
        if node in env:
            pass
        elif node in self.given:
            self._send(node, self.given[node], None, device)
        elif node in self.made:
            value = self.env[self.made[node]][node]
            self._send(node, value, self.events[node], device)
        else:
            args, kwargs = torch.fx.map_arg(
                (node.args, dict(node.kwargs)), lambda n: self.fetch(n, device)
            )
            env[node] = self.traced.run(node, args, kwargs)
        arrival = self.arrivals.pop((node, device), None)
        if arrival is not None:
            self.d.streams[device].wait_event(arrival)
        return env[node]

    def _send(self, node: Node, value: Any, event: Any, device: int) -> None:
        """The value to a device, after the event that says it is made."""
        stream = self.d.copies[device]
        if stream is None:
            self.env[device][node] = _copied(value, self.d.devices[device])
            return
        with torch.cuda.stream(stream):
            if event is not None:
                stream.wait_event(event)
            sent = _copied(value, self.d.devices[device])
        # Each is of one stream's memory and used on the other.
        _record(value, stream)
        _record(sent, self.d.streams[device])
        self.env[device][node] = sent
        self.arrivals[node, device] = _event(stream)

    def results(self) -> List[Any]:
        """On the device that made them; the host's current streams wait."""
        found = [
            self.fetch(r, self._home(r)) if isinstance(r, Node) else r
            for r in self.traced.result_nodes
        ]
        for stream in self.d.streams:
            if stream is not None:
                torch.cuda.current_stream(stream.device).wait_stream(stream)
        return found

    def _home(self, node: Node) -> int:
        """The device that has the value, or what it is a view of."""
        while node not in self.made:
            inputs = node.all_input_nodes
            if node in self.given or not inputs:
                return 0
            node = inputs[0]
        return self.made[node]


def _is_used(node: Node) -> bool:
    """Whether somebody takes the value itself, not one of several results in it."""
    return any(user.target is not operator.getitem for user in node.users)


def _record(value: Any, stream: torch.cuda.Stream) -> None:
    """The value's memory is not given again before the stream is here."""
    for tensor in tensors_of(value):
        if tensor.is_cuda:
            tensor.record_stream(stream)


def _on(device: torch.device, stream):
    return torch.cuda.stream(stream) if stream is not None else torch.device(device)


def _event(stream):
    if stream is None:
        return None
    event = torch.cuda.Event()
    event.record(stream)
    return event


def _copied(value: Any, device: torch.device) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device, non_blocking=True)
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(v, device) for v in value)
    return value
