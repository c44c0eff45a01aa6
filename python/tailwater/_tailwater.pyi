"""The extension module, which the package alone calls."""

import builtins
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, final

from typing_extensions import disjoint_base

__all__ = [
    "Ack",
    "AckSent",
    "Arrival",
    "Backlog",
    "Config",
    "Environments",
    "Folder",
    "Hook",
    "Loss",
    "Packet",
    "Queue",
    "Receiver",
    "Request",
    "Sender",
    "Table",
    "VERSION",
    "Worker",
    "__version__",
    "command",
    "explain",
    "import_flows",
    "list",
    "merge",
    "prepare",
    "register",
    "reproduce",
    "value",
]

__version__: str
VERSION: str
"""What results are of: the version of the sources that simulate."""

def prepare(given: Mapping[str, Any]) -> Request: ...
def reproduce(
    figures: Mapping[str, Any], progress: Callable[[int, int], None] | None, driver: Any
) -> tuple[str, str, builtins.list[Path], bool]: ...
def explain(word: str) -> str: ...
def list(what: str | None) -> str: ...
def import_flows(file: Path, output: Path | None, kind: str | None, size: int | None, lenient: bool) -> str: ...
def register(class_: type[Any], given: Mapping[str, Any]) -> None: ...
def merge(folders: builtins.list[Path], out: Path, command: builtins.list[str]) -> None: ...
def value(kind: str, text: str) -> Any: ...
def command(args: builtins.list[str]) -> int: ...
@final
class Request:
    def explore(self, name: str) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def schemes(self) -> builtins.list[str]: ...
    @property
    def seeds(self) -> int: ...
    @property
    def written(self) -> str: ...
    @property
    def resolved(self) -> str: ...
    @property
    def points(self) -> builtins.list[tuple[int, str, int, dict[str, str]]]: ...
    @property
    def notes(self) -> builtins.list[str]: ...
    @property
    def warnings(self) -> builtins.list[tuple[str, dict[str, Any]]]: ...
    def run(
        self,
        folder: Path,
        access: Literal["new", "resume", "scratch"],
        report: bool,
        limits: Mapping[str, int | None],
        command: builtins.list[str],
        progress: Callable[[int, int], None] | None,
        driver: Any,
    ) -> builtins.list[tuple[int, str, int, int, BaseException]]: ...
    def run_shard(
        self,
        folder: Path,
        shard: tuple[int, int],
        limits: Mapping[str, int | None],
        progress: Callable[[int, int], None] | None,
        driver: Any,
    ) -> tuple[tuple[int, int], builtins.list[tuple[int, str, int, int, BaseException]]]: ...
    @property
    def classes(self) -> builtins.list[type[Any]]: ...

@final
class Environments:
    def __new__(cls, asked: Mapping[str, Any]) -> Environments: ...
    @property
    def agents(self) -> int: ...
    @property
    def bounds(self) -> tuple[float, float]: ...
    @property
    def seeds(self) -> builtins.list[int]: ...
    @property
    def times_us(self) -> builtins.list[float]: ...
    @staticmethod
    def words() -> tuple[builtins.list[tuple[str, str]], builtins.list[tuple[str, str]]]: ...
    def reset(self, seeds: builtins.list[int | None], chosen: builtins.list[bool], observations: Any) -> None: ...
    def step(
        self,
        decisions: Any,
        observations: Any,
        finals: Any,
        rewards: Any,
        terminated: Any,
        truncated: Any,
        terms: Any,
    ) -> None: ...
    def ended(self) -> builtins.list[tuple[int, dict[str, float]]]: ...

@final
class Worker:
    def __new__(
        cls, version: str, toml: str, captures: str | None, folder: Path
    ) -> Worker: ...
    def simulate(
        self, points: builtins.list[int], steps: int, memory: int | None
    ) -> tuple[builtins.list[bytes], tuple[int, str, int, int, BaseException] | None]: ...

@final
class Folder:
    def __new__(cls, path: Path) -> Folder: ...
    @property
    def version(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def failures(self) -> builtins.list[dict[str, Any]]: ...
    def json(self) -> str: ...
    def text(self, width: int) -> str: ...
    def html(self) -> str: ...
    def report(self, path: Path, explore: bool) -> None: ...
    def table(self, name: str) -> Table | None: ...

@final
class Table:
    @property
    def path(self) -> Path | None: ...
    @property
    def columns(self) -> builtins.list[tuple[str, str, str, str]]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@disjoint_base
class Sender:
    def __new__(cls, *arguments: Any, **named: Any) -> Sender: ...
    cwnd: int
    """Congestion window, bytes."""
    ssthresh: int
    """Slow-start threshold, bytes; 2**64 - 1: none."""
    @property
    def mss(self) -> int:
        """Bytes of a segment."""
    @property
    def initial_window(self) -> int:
        """The first window, bytes."""
    @property
    def size(self) -> int | None:
        """Bytes that the connection will send, if that is known."""
    @property
    def config(self) -> Config:
        """Settings of the endpoint."""

@disjoint_base
class Receiver:
    def __new__(cls, *arguments: Any, **named: Any) -> Receiver: ...
    deadline: int | None
    """When on_deadline is called; None: not at all."""
    @property
    def rate(self) -> int:
        """Rate of the host's link, bits per second."""
    @property
    def mss(self) -> int:
        """Largest payload of a segment."""
    @property
    def packet_bytes(self) -> int:
        """Bytes of a full packet on the wire."""

class _Port:
    @property
    def port(self) -> int:
        """The port."""
    @property
    def rate(self) -> int:
        """Rate of its transmitter, bits per second."""
    @property
    def delay(self) -> int:
        """One-way delay of its wire."""
    @property
    def limit_bytes(self) -> int | None:
        """How much may wait, in bytes; None: everything."""
    @property
    def packet_bytes(self) -> int:
        """Bytes of a full packet on the wire."""
    @property
    def mss(self) -> int:
        """Largest payload of a segment."""
    @property
    def seed(self) -> int:
        """Seed of the run."""

@disjoint_base
class Queue(_Port):
    def __new__(cls, *arguments: Any, **named: Any) -> Queue: ...

@disjoint_base
class Hook(_Port):
    def __new__(cls, *arguments: Any, **named: Any) -> Hook: ...
    deadline: int | None
    """When on_deadline is called; None: not at all."""

@final
class Ack:
    @property
    def bytes(self) -> int:
        """Bytes newly acknowledged; 0 for a duplicate that says something else."""
    @property
    def acknowledged(self) -> int:
        """First offset not yet acknowledged."""
    @property
    def next(self) -> int:
        """First offset not yet sent."""
    @property
    def echo(self) -> Literal["repeated", "reduce"] | None:
        """The ECN echo: one of a window that was already answered, or one to answer."""
    @property
    def recovering(self) -> bool:
        """Whether the ACK came in fast recovery, in which windows do not grow."""
    @property
    def limited_by_window(self) -> bool:
        """Whether the sender uses its window."""
    @property
    def grows(self) -> bool:
        """Whether a window may grow with this ACK, as far as recovery and its use decide it."""
    @property
    def rtt(self) -> int | None:
        """A round-trip sample, if this ACK gave one."""
    @property
    def rtt_us(self) -> float | None:
        """The same in microseconds."""
    @property
    def extension(self) -> tuple[int, int, int]:
        """The scheme's header space."""
    @property
    def now(self) -> int:
        """When the ACK arrived."""
    @property
    def now_us(self) -> float:
        """The same in microseconds."""

@final
class Loss:
    @property
    def timeout(self) -> bool:
        """Whether the retransmission timer showed it."""
    @property
    def repeated(self) -> bool:
        """Whether the timer showed it for the same segment again."""

@final
class Packet:
    @property
    def flow(self) -> int:
        """The connection."""
    @property
    def to(self) -> int:
        """The host it is addressed to."""
    @property
    def seq(self) -> int:
        """Sequence number of its first byte."""
    @property
    def ack(self) -> int:
        """Next sequence number expected from the other side."""
    @property
    def payload(self) -> int:
        """Payload bytes."""
    @property
    def is_syn(self) -> bool:
        """Whether it opens a connection."""
    @property
    def is_ack(self) -> bool:
        """Whether it acknowledges."""
    @property
    def is_fin(self) -> bool:
        """Whether it closes a connection."""
    @property
    def is_rst(self) -> bool:
        """Whether it resets a connection."""
    def mark(self) -> bool:
        """Marks it, if it can be marked: whether it is marked now."""
    ecn: Literal["capable", "marked"] | None
    """The ECN field of the IP header."""
    window: int
    """Advertised window in units of the connection's scale."""
    dscp: int
    """Differentiated services code point."""
    reserved: int
    """The four reserved bits of the TCP header."""
    extension: tuple[int, int, int]
    """The scheme's header space: three numbers of 32 bits."""

@final
class Arrival:
    @property
    def offset(self) -> int:
        """Offset of its first byte; 1 is the first byte of the stream."""
    @property
    def expected(self) -> int:
        """Next offset expected before it was stored."""
    @property
    def payload(self) -> int:
        """Payload bytes; 0 for a lone FIN."""
    @property
    def new_bytes(self) -> int:
        """Payload bytes that were not there before."""
    @property
    def in_order(self) -> int:
        """Bytes that became in order by storing it."""
    @property
    def held(self) -> int:
        """Bytes held out of order after storing it."""
    @property
    def marked(self) -> bool:
        """Whether it carried a congestion mark."""
    @property
    def extension(self) -> tuple[int, int, int]:
        """The scheme's header space."""

@final
class AckSent:
    @property
    def ack(self) -> int:
        """Next offset expected in order."""
    @property
    def window(self) -> int:
        """Window as the sender will read it, bytes."""
    @property
    def syn(self) -> bool:
        """Whether it is a SYN-ACK."""

@final
class Backlog:
    @property
    def bytes(self) -> int:
        """Bytes waiting."""
    @property
    def packets(self) -> int:
        """Packets waiting."""

@final
class Config:
    @property
    def mss(self) -> int:
        """Largest payload of a segment before the handshake."""
    @property
    def initial_window(self) -> int:
        """The first window in segments."""
    @property
    def initial_ssthresh(self) -> int:
        """Slow-start threshold at the start, bytes; 2**64 - 1: none."""
    @property
    def byte_counting_limit(self) -> int:
        """Segments that a window may grow per ACK in slow start (RFC 3465)."""
    @property
    def counts_segments(self) -> bool:
        """Whether windows grow by what ACKs acknowledge, without a limit per ACK, as those of Linux do."""
    @property
    def header_bytes(self) -> int:
        """Bytes of a segment on the wire beside its payload."""
    @property
    def link_rate(self) -> int:
        """Rate of the host's link, bits per second."""
    @property
    def min_rto(self) -> int:
        """Lower bound of the retransmission timeout."""
    @property
    def sack(self) -> bool:
        """Whether selective acknowledgements are offered."""
    @property
    def delayed_ack(self) -> int:
        """ACK every this many segments."""
    @property
    def receive_buffer(self) -> int:
        """Receive buffer, bytes."""
