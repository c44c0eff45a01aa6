"""NewReno and DCTCP in Python with whole numbers, as they are in Rust, and random scenarios to compare them in."""

from __future__ import annotations

import random
from typing import Any

import tailwater as tw


class NewReno(tw.Sender):
    """NewReno as Rust has it."""

    name = "newreno-py"

    def __init__(self) -> None:
        self.limit = self.config.byte_counting_limit
        self.counts_segments = self.config.counts_segments
        self.after_timeout = False
        self.remainder = 0
        self.before_loss: tuple[int, int] | None = None

    def on_ack(self, ack: tw.Ack) -> None:
        echo = ack.echo
        if echo is None:
            if ack.grows:
                self.grow(ack.bytes)
        elif echo == "reduce":
            self.halve(self.cwnd)
            self.cwnd = self.ssthresh

    def grow(self, bytes: int) -> None:
        if not bytes:
            return
        cwnd, ssthresh, mss = self.cwnd, self.ssthresh, self.mss
        if self.counts_segments:
            slow = min(bytes, max(ssthresh - cwnd, 0))
            self.cwnd = window = cwnd + slow
            if slow == bytes:
                return
            gathered = self.remainder >= window
            self.remainder = (0 if gathered else self.remainder) + bytes - slow
            self.cwnd += (gathered + self.remainder // window) * mss
            self.remainder %= window
        elif cwnd < ssthresh:
            self.cwnd = cwnd + min(bytes, (1 if self.after_timeout else self.limit) * mss)
        else:
            self.after_timeout = False
            due = mss * mss + self.remainder
            self.remainder = due % cwnd
            self.cwnd = cwnd + max(due // cwnd, 1)

    def halve(self, in_flight: int) -> None:
        half = in_flight // 2
        rest = 0
        if self.counts_segments:
            self.remainder, rest = 0, half % self.mss
        self.ssthresh = max(half - rest, 2 * self.mss)

    def on_loss(self, loss: tw.Loss, in_flight: int, now: int) -> None:
        if not loss.repeated:
            self.before_loss = (self.cwnd, self.ssthresh)
            self.halve(in_flight)
        if loss.timeout:
            self.cwnd = self.mss
            self.after_timeout |= not loss.repeated
        else:
            self.cwnd = self.ssthresh

    def on_recovered(self, limit: int | None) -> None:
        self.cwnd = self.ssthresh if limit is None else min(self.ssthresh, limit)

    def on_undo(self) -> None:
        if self.before_loss:
            self.cwnd = max(self.cwnd, self.before_loss[0])
            self.ssthresh = max(self.ssthresh, self.before_loss[1])
            self.before_loss = None
            self.after_timeout = False

    def on_idle(self) -> None:
        self.cwnd = min(self.cwnd, self.initial_window)


class Dctcp(NewReno):
    """DCTCP as Rust has it."""

    name = "dctcp-py"
    marks = "accurate"
    needs_marking = True
    g: float = tw.param(0.0625, help="Weight of the newest window.")
    alpha: float = tw.gauge(1.0, unit="share", help="Estimated share of marked bytes, 0 to 1.")

    def __init__(self) -> None:
        super().__init__()
        self.acked = self.marked = self.window_end = 0

    def on_ack(self, ack: tw.Ack) -> None:
        bytes, echo = ack.bytes, ack.echo
        self.acked += bytes
        if echo:
            self.marked += bytes
        if ack.acknowledged >= self.window_end and self.acked:
            self.alpha = (1.0 - self.g) * self.alpha + self.g * (self.marked / self.acked)
            self.acked = self.marked = 0
            self.window_end = ack.next
        if echo == "reduce":
            self.cwnd = max(self.reduced(), 2 * self.mss)
            self.ssthresh = self.cwnd
        elif ack.grows:
            self.grow(bytes)

    def reduced(self) -> int:
        if not self.counts_segments:
            return int(self.cwnd * (1.0 - self.alpha / 2.0))
        segments = self.cwnd // self.mss
        return (segments - int(segments * self.alpha / 2.0)) * self.mss


def scenario(number: int) -> dict[str, Any]:
    """Settings of an incast that are hard on TCP in one way or another, drawn at random."""
    draw = random.Random(number)
    buffer = draw.randint(8, 200)
    settings: dict[str, Any] = {
        "tcp.profile": draw.choice(["paper", "linux"]),
        "workload.senders": draw.randint(1, 60),
        "workload.size": draw.choice(["1B", "10KB", "32KiB", "200KB", "1MB"]),
        "workload.jitter": draw.choice(["0s", "100us", "1ms"]),
        "workload.start": "1s",
        "workload.rounds": draw.choice([1, 3]),
        "workload.connection": draw.choice(["new", "persistent"]),
        "switch.buffer": f"{buffer}pkt",
        "switch.ecn_threshold": f"{draw.randint(2, min(60, buffer))}pkt",
        "link.rate": draw.choice(["100Mbps", "1Gbps", "10Gbps"]),
        "link.delay": draw.choice(["1us", "25us", "500us"]),
        "tcp.min_rto": draw.choice(["1ms", "10ms", "200ms"]),
        "tcp.sack": draw.random() < 0.5,
        "tcp.delayed_ack": draw.choice([1, 2]),
        "tcp.initial_window": draw.choice([1, 2, 10]),
        "tcp.ecn": draw.random() < 0.5,
        "bottleneck.loss": draw.choice([0, 0, 0.01]),
        "bottleneck.ack_loss": draw.choice([0, 0, 0.02]),
        "bottleneck.reordering": draw.choice([0, 0, 0.02]),
    }
    if settings["tcp.profile"] == "linux":
        del settings["tcp.sack"]
    else:
        settings["tcp.byte_counting_limit"] = draw.choice([1, 2])
        settings["tcp.window_growth"] = draw.choice(["acks", "segments"])
        settings["tcp.frto"] = settings["tcp.undo"] = (
            settings["tcp.sack"] and draw.random() < 0.5
        )
    return settings
