//! The scenarios of the page.

use super::{Extras, OracleScenario, OracleTraffic, PACKET, PageTable, Rig, StreamTraffic};

/// The three congestion controls.
const CCS: [&str; 3] = ["reno", "cubic", "dctcp"];
/// About the time of four packets at the port: senders answer in another order each time, and nearly at once.
pub(super) const JITTER: u64 = 50_000;
/// The number of answers if a timer can expire, or something is random.
pub(super) const MANY: u32 = 20;
/// The number of answers if started flows share a port at random.
const SHARING: u32 = 10;
/// The number of answers otherwise.
pub(super) const FEW: u32 = 2;

/// A packet takes 12.1 us at the port, which no sender's period matches.
pub(super) const SLOW: Rig = Rig {
    rate: 1_000_000_000,
    access: 1_000_000_000,
    delay: 40_000,
    jitter: 12_000,
    hosts: 64,
};
const LONG: Rig = Rig {
    delay: 490_000,
    hosts: 16,
    ..SLOW
};
const FAST: Rig = Rig {
    rate: 10_000_000_000,
    access: 10_000_000_000,
    // The least that tc can make.
    jitter: 2_000,
    hosts: 16,
    ..SLOW
};
/// Hosts that are faster than the port, so that a flow queues there.
const STEEP: Rig = Rig {
    access: 10_000_000_000,
    jitter: 0,
    hosts: 2,
    ..SLOW
};

pub(super) fn incasts() -> Vec<OracleScenario> {
    let mut list = Vec::new();
    for cc in CCS {
        for senders in [2, 4, 8, 16, 32, 64] {
            list.push(incast(SLOW, cc, senders, 64));
        }
    }
    for (cc, senders, kib) in [("cubic", 16, 16), ("reno", 64, 16)] {
        list.push(incast(SLOW, cc, senders, kib));
    }
    for cc in CCS {
        list.push(incast(SLOW, cc, 16, 256));
    }
    list.push(incast(SLOW, "reno", 16, 64).with_buffer("b32", 32, 0));
    list.push(incast(SLOW, "cubic", 32, 64).with_buffer("b200", 200, 0));
    list.push(incast(SLOW, "dctcp", 32, 64).with_buffer("b200-k30", 200, 30));
    for cc in CCS {
        list.push(incast(SLOW, cc, 64, 64).with_min_rto_10ms());
    }
    for (rig, suffix) in [(LONG, "1ms"), (FAST, "10g")] {
        for cc in CCS {
            list.push(incast(rig, cc, 16, 64).called(suffix));
        }
    }
    list
}

pub(super) fn streams() -> Vec<OracleScenario> {
    let mut list = Vec::new();
    for cc in CCS {
        list.push(stream("bulk", cc, lone()));
    }
    for cc in CCS {
        let two = StreamTraffic {
            starts: vec![0, SECOND],
            duration: 2 * SECOND,
            late_from: 3 * SECOND / 2,
            ..StreamTraffic::default()
        };
        list.push(stream("two", cc, two));
    }
    for (loss, name) in [(0.001, "loss-0.1%"), (0.01, "loss-1%"), (0.03, "loss-3%")] {
        for cc in CCS {
            let lossy = StreamTraffic { loss, ..lone() };
            list.push(stream(name, cc, lossy));
        }
    }
    for cc in ["reno", "cubic"] {
        let late = StreamTraffic {
            reordering: 0.01,
            late: 100_000,
            ..lone()
        };
        list.push(stream("reordering-1%", cc, late));
    }
    let writes = StreamTraffic {
        write: Some(60_000),
        write_interval: Some(1_000_000),
        ..lone()
    };
    list.push(stream("writes", "cubic", writes));
    list
}

/// One flow for half a second, whose second half is late.
pub(super) fn lone() -> StreamTraffic {
    StreamTraffic {
        starts: vec![0],
        duration: SECOND / 2,
        late_from: SECOND / 4,
        ..StreamTraffic::default()
    }
}

pub(super) fn incast(rig: Rig, cc: &'static str, senders: u32, kib: u64) -> OracleScenario {
    let kind = OracleTraffic::Incast {
        senders,
        size: kib * 1024,
        rounds: 20,
        jitter: JITTER,
    };
    OracleScenario {
        answers: MANY,
        ..scenario(format!("incast-{senders}x{kib}k-{cc}"), rig, cc, kind)
    }
}

pub(super) fn stream(name: &str, cc: &'static str, stream: StreamTraffic) -> OracleScenario {
    let answers = if stream.loss + stream.reordering > 0.0 {
        MANY
    } else if stream.starts.len() > 1 {
        SHARING
    } else {
        FEW
    };
    OracleScenario {
        answers,
        exact: answers == FEW,
        section: PageTable::Streams,
        ..scenario(
            format!("{name}-{cc}"),
            STEEP,
            cc,
            OracleTraffic::Stream(stream),
        )
    }
}

/// A port with room for 79 packets, of which one is in service; DCTCP's K is 20.
pub(super) fn scenario(
    name: String,
    rig: Rig,
    cc: &'static str,
    kind: OracleTraffic,
) -> OracleScenario {
    OracleScenario {
        name,
        rig,
        cc,
        buffer: 121_000,
        threshold: if cc == "dctcp" { 30_000 } else { 0 },
        min_rto_us: 200_000,
        // Five packets at the port.
        look: 5 * PACKET * 8 * SECOND / rig.rate,
        kind,
        extras: Extras::default(),
        answers: FEW,
        exact: false,
        section: PageTable::Incasts,
    }
}

impl OracleScenario {
    pub(super) fn called(mut self, suffix: &str) -> Self {
        self.name = format!("{}-{suffix}", self.name);
        self
    }

    /// With this many packets in the buffer and below the threshold.
    pub(super) fn with_buffer(self, suffix: &str, buffer: u64, threshold: u64) -> Self {
        Self {
            buffer: buffer * PACKET,
            threshold: threshold * PACKET,
            ..self.called(suffix)
        }
    }

    fn with_min_rto_10ms(self) -> Self {
        Self {
            min_rto_us: 10_000,
            ..self.called("rto10ms")
        }
    }
}

/// In ns.
pub(super) const SECOND: u64 = 1_000_000_000;
