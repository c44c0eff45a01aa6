"""Schemes in Python: a class plays a role, and its name is that of a scheme."""

from __future__ import annotations

from typing import Literal

from tailwater import _tailwater
from tailwater._declared import ROLES, Declared
from tailwater._tailwater import Ack, AckSent, Arrival, Backlog, Loss, Packet


class Sender(_tailwater.Sender, Declared):
    """Congestion control of one connection's sender: there is one object for each connection.

    ``cwnd`` and ``ssthresh`` are whole bytes, which the sender reads after every call. Methods that a class does not
    have are not called. Times are whole picoseconds.

    >>> class Mine(Sender):
    ...     def on_ack(self, ack):
    ...         if ack.bytes and ack.grows:
    ...             self.cwnd += max(1, self.mss * self.mss // self.cwnd)
    ...     def on_loss(self, loss, in_flight, now):
    ...         self.ssthresh = max(in_flight // 2, 2 * self.mss)
    ...         self.cwnd = self.mss if loss.timeout else self.ssthresh
    """

    def on_established(self, mss: int, segments: int) -> None:
        """The handshake is complete: ``mss`` is known, and ``cwnd`` has become ``segments`` of them."""

    def on_handshake(self, rtt: int | None, extension: tuple[int, int, int]) -> None:
        """After ``on_established``: the round trip of a SYN that was sent only once, and the scheme's header space
        of the segment that completed the handshake."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK has arrived that acknowledges new data, carries an ECN echo, or something in the scheme's header
        space."""

    def on_loss(self, loss: Loss, in_flight: int, now: int) -> None:
        """A loss was detected with ``in_flight`` bytes outstanding; the sender is about to send again."""

    def on_recovered(self, limit: int | None) -> None:
        """Fast recovery is over. ``limit`` bounds the window so that no burst follows; none with SACK."""

    def is_slow_starting(self) -> bool:
        """Whether the window grows with all that is acknowledged; without: whether it is below ``ssthresh``."""
        return self.cwnd < self.ssthresh

    def on_undo(self) -> None:
        """The last loss was none. Without: ``cwnd`` and ``ssthresh`` are at least what they were before it."""

    def on_idle(self) -> None:
        """Nothing was sent for longer than the retransmission timeout, and something is about to be. Not called with
        ``tcp.idle_window = "halves"``: ``cwnd`` is halved then, and ``ssthresh`` raised, whatever the class."""

    def on_send(self, packet: Packet, now: int) -> None:
        """A segment is about to leave; fields of its header may be set. The window stays as it is."""

    def obeys_pushed_acks(self) -> bool:
        """Whether an ACK with PSH and nothing else orders the segment at its number to be sent again. Asked once."""
        return False

    def retransmits(self) -> bool:
        """Whether the endpoint repairs losses of data by itself; one that does not obeys pushed ACKs. Asked once."""
        return True

    def pacing(self) -> int | None:
        """The earliest time at which the next segment may leave; ``None``: whenever the windows allow. A sender
        that says ``None`` at the beginning is not asked again."""
        return None


class Receiver(_tailwater.Receiver, Declared):
    """Control of a receiving host over all its connections, each of which has a number, its slot.

    ``deadline`` is the time at which ``on_deadline`` is called, or ``None``. Methods that a class does not have are
    not called. Times are whole picoseconds.
    """

    def on_open(self, slot: int, syn: Packet, mss: int, now: int) -> None:
        """A SYN has been accepted; its SYN-ACK is about to be offered."""

    def on_close(self, slot: int, now: int) -> None:
        """The connection's data is complete, or it was reset before."""

    def on_data(self, slot: int, arrival: Arrival, now: int) -> None:
        """A data segment has been stored; its ACK has not been offered yet."""

    def window(self, slot: int, buffer: int) -> int:
        """The window to advertise, in whole bytes, where the receive buffer would allow ``buffer``."""
        return buffer

    def on_ack_ready(
        self, slot: int, kind: Literal["syn", "data", "fin"], now: int
    ) -> Literal["send", "hold"] | None:
        """An ACK or SYN-ACK is ready. After ``"hold"`` it leaves when ``next_release`` names its slot; a later one
        of the same slot replaces it."""

    def on_ack_sent(self, slot: int, sent: AckSent, now: int) -> None:
        """A segment with an acknowledgement is leaving: it allows the sender ``sent.ack + sent.window``."""

    def stamp(self, slot: int, packet: Packet) -> None:
        """A segment with an acknowledgement is leaving; fields of its header may be set."""

    def next_release(self, now: int) -> int | tuple[int, bool] | None:
        """The slot whose held ACK may leave now, alone or with whether it carries PSH. Asked until it is none."""
        return None

    def on_deadline(self, now: int) -> None:
        """The deadline has come; it is none now."""


class Queue(_tailwater.Queue, Declared):
    """The discipline of a switch's queue, which keeps the order of arrivals: there is one object for each port.

    Methods that a class does not have are not called. Times are whole picoseconds.
    """

    def on_arrival(
        self, backlog: Backlog, packet: Packet, now: int
    ) -> Literal["accept", "drop"] | None:
        """A packet arrives and is not counted in ``backlog``; it may be marked. The port's limit drops it
        afterwards."""

    def is_congested(self, backlog: Backlog) -> bool:
        """Whether this is at or above the point where congestion begins, which results count; without: never."""
        return False

    def on_empty(self, at: int) -> None:
        """Nothing waits until the next packet queues."""


class Hook(_tailwater.Hook, Declared):
    """What a switch does at a port besides queueing: there is one object for each port.

    ``deadline`` is the time at which ``on_deadline`` is called, or ``None``. Methods that a class does not have are
    not called. Times are whole picoseconds.
    """

    def on_arrival(self, queue: Backlog, packet: Packet, now: int) -> None:
        """A packet arrives for this port and is offered to its queue next, which may drop it."""

    def on_departure(self, queue: Backlog, packet: Packet, at: int) -> None:
        """The transmission of a packet begins; ``queue`` is what remains."""

    def on_level(self, queue: Backlog, at: int) -> None:
        """From ``at`` on the queue has this length."""

    def on_reverse(self, queue: Backlog, packet: Packet, now: int) -> None:
        """A packet has come in over the link that this port feeds, against the port's direction."""

    def on_deadline(self, queue: Backlog, at: int) -> None:
        """The deadline has come; it is none now."""


ROLES |= {"sender": Sender, "receiver": Receiver, "queue": Queue, "hook": Hook}

Scheme = Sender | Receiver | Queue | Hook
"""An object that plays a role."""
