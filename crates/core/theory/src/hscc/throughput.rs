//! What a burst of equal answers takes, and the throughput of each (§II-A).

/// N flows of B bytes through one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// B in bytes.
    pub bytes: f64,
    /// N.
    pub flows: f64,
    /// C in bytes/s.
    pub rate: f64,
    /// n: round trips in which a flow waits rather than the link works.
    pub rounds: f64,
    /// tau in s.
    pub rtt: f64,
    /// m: timeouts that a flow sits out.
    pub timeouts: f64,
    /// RTO in s.
    pub rto: f64,
}

impl Burst {
    /// How long a flow takes, in s: `m RTO + n tau + B N / C`.
    pub fn time(&self) -> f64 {
        self.timeouts * self.rto + self.rounds * self.rtt + self.bytes * self.flows / self.rate
    }

    /// Its throughput in bytes/s: rho, and rho* where there are no timeouts.
    pub fn throughput(&self) -> f64 {
        self.bytes / self.time()
    }

    /// What all flows together use of the link, as a share of it.
    pub fn utilisation(&self) -> f64 {
        self.flows * self.throughput() / self.rate
    }
}

/// n of a burst without loss: the handshake, the rounds of slow start from `window` packets in which
/// `flows` windows together do not fill the path of `path` packets, and half a round trip for the last
/// packet. From the round on that fills the path the link works without a pause.
pub fn waiting_rounds(flows: f64, window: f64, path: f64) -> f64 {
    let mut rounds = 1.5;
    let mut sent = flows * window.max(1.0);
    while sent < path {
        rounds += 1.0;
        sent *= 2.0;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §II-A: 500 KB from each of 36 servers over 1 Gbit/s in 17 round trips.
    fn example(timeouts: f64) -> Burst {
        Burst {
            bytes: 500e3,
            flows: 36.0,
            rate: 125e6,
            rounds: 17.0,
            rtt: 100e-6,
            timeouts,
            rto: 200e-3,
        }
    }

    // Clauses: HSCC-2-throughput
    #[test]
    fn the_worked_example_comes_out() {
        // 144 ms of bytes and 17 round trips: the paper's 150 ms, for any round trip up to 350 us.
        let time = example(0.0).time();
        assert!((time - (0.144 + 0.0017)).abs() < 1e-12, "{time}");
        assert!((time - 0.150).abs() < 0.03 * 0.150);
        // Half a timeout of 200 ms on average, and two, are the paper's 100 and 400 ms more.
        assert!((example(0.5).time() - time - 0.100).abs() < 1e-12);
        assert!((example(2.0).time() - time - 0.400).abs() < 1e-12);
        // The throughput falls accordingly: 3.4 MB/s, 2.0 and 0.9.
        assert!((example(0.0).throughput() - 500e3 / 0.1457).abs() < 1e-3);
        assert!((example(0.5).throughput() - 500e3 / 0.2457).abs() < 1e-3);
        assert!((example(2.0).utilisation() - 0.144 / 0.5457).abs() < 1e-12);
    }

    // Clauses: HSCC-2-throughput
    #[test]
    fn rounds_are_waited_for_until_the_path_is_full() {
        // 36 windows of 10 fill 8.3 packets at once; one of 1 fills 83 in its eighth round, of 128.
        assert!((waiting_rounds(36.0, 10.0, 8.3) - 1.5).abs() < 1e-12);
        assert!((waiting_rounds(1.0, 1.0, 83.3) - 8.5).abs() < 1e-12);
    }
}
