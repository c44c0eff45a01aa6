"""What an ACK costs a scheme in Python, in processor time beside what its simulation costs anyway."""

from __future__ import annotations

import tailwater as tw
from twins import NewReno

LOAD = {
    "workload.senders": 16,
    "workload.size": "4MB",
    "tcp.profile": "paper",
    "run.duration": "1s",
}
"""A long incast."""


class Still(tw.Sender):
    """Hears of no ACK."""


class Empty(tw.Sender):
    """Hears of every ACK and does nothing."""

    def on_ack(self, ack: tw.Ack) -> None:
        pass


class Counting(tw.Sender):
    """Counts what it hears."""

    acks = 0

    def on_ack(self, ack: tw.Ack) -> None:
        Counting.acks += 1


class CountingReno(NewReno):
    """Counts what it hears, and is NewReno."""

    name = "countingreno"
    acks = 0

    def on_ack(self, ack: tw.Ack) -> None:
        CountingReno.acks += 1
        super().on_ack(ack)


def per_ack(repeats: int = 5) -> dict[str, float]:
    """Microseconds per ACK of a method that does nothing, and of NewReno, at best."""
    schemes: list[str | type[tw.Sender]] = ["newreno", NewReno, Still, Empty]
    times: dict[str, list[float]] = {}
    for _ in range(repeats):
        for scheme in schemes:
            run = tw.run("incast", schemes=[scheme], set=LOAD, jobs=1)
            name = run.summary["rows"][0]["scheme"]
            times.setdefault(name, []).append(run.summary["cost"]["cpu_us"])
    best = {scheme: min(found) for scheme, found in times.items()}
    Counting.acks = CountingReno.acks = 0
    tw.run("incast", schemes=[Counting, CountingReno], set=LOAD, jobs=1)
    return {
        "empty": (best["empty"] - best["still"]) / Counting.acks,
        "newreno": (best["newreno-py"] - best["newreno"]) / CountingReno.acks,
        "slower": best["newreno-py"] / best["newreno"],
        "acks": CountingReno.acks,
    }


if __name__ == "__main__":
    print(per_ack())
