//! Replays the calls that a program in the kernel made of its law.
//!
//! A program writes down the arguments of each call and the decision. The text of the law is the same here, so that every
//! decision has to be the same bit by bit: where one is not, the compiler, the kernel or the program around the law is at
//! fault.

use std::fmt;

use crate::memory::bytes;
use crate::rwndq::{CLOSES, OPENS};
use crate::{Hscc, Loadable, Mark, Rwndq};

/// A call of a law: `struct call` of `bpf/record.h` in the crate `programs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Call {
    /// When, in nanoseconds of the machine's monotonic clock.
    pub now_ns: u64,
    /// Its number, from 0 on.
    pub number: u32,
    /// Bytes that wait in the queue.
    pub backlog: u32,
    /// Bytes of a packet of data, headers included.
    pub size: u32,
    /// How many samples are taken, or connections have become idle.
    pub samples: u32,
    /// Whether a flow begins (1) or ends (2), or neither (0).
    pub flow_case: u32,
    /// The number of the connection, from 1 on.
    pub connection: u32,
    /// The window that an ACK carries.
    pub advertised: u16,
    /// The window that the law returned; of marks 1 if it marks packets that may carry one.
    pub window: u16,
    /// The flags of TCP's header; of marks whether the packet may carry one.
    pub flags: u8,
    /// By how much the windows of the connection are shifted.
    pub scale: u8,
    /// The kind of the call.
    pub kind: u8,
    /// The fate of the packet: `enum reason` of `bpf/packet.h`.
    pub verdict: u8,
}

impl Call {
    /// Bytes that a call takes.
    pub const BYTES: usize = 40;
    /// Kind: a packet of data leaves.
    pub const DATA: u8 = 1;
    /// Kind: the law decides about the window of an ACK. HSCC learns the length of the queue before.
    pub const ACKNOWLEDGEMENT: u8 = 2;
    /// Kind: the queue is sampled.
    pub const SAMPLES: u8 = 3;
    /// Kind: a flow begins or ends.
    pub const FLOW: u8 = 4;
    /// Kind: the queue has another length.
    pub const LEVEL: u8 = 5;
    /// Kind: connections have become idle.
    pub const IDLE: u8 = 6;
    /// Kind: the law decides about a mark.
    pub const CAPABLE: u8 = 7;
    /// Verdict: its window was lowered.
    pub const REWRITTEN: u8 = 11;
    /// Verdict: it was marked.
    pub const MARKED: u8 = 12;
    /// Verdict: the law would have changed it, and only looks on.
    pub const SHADOWED: u8 = 15;

    /// Reads a call as a program of this machine wrote it down; `None` if it is cut off.
    pub fn read(memory: &[u8]) -> Option<Self> {
        let word = |at| bytes(memory, at).map(u32::from_ne_bytes);
        let half = |at| bytes(memory, at).map(u16::from_ne_bytes);
        let [flags, scale, kind, verdict] = bytes(memory, 36)?;
        Some(Self {
            now_ns: u64::from_ne_bytes(bytes(memory, 0)?),
            number: word(8)?,
            backlog: word(12)?,
            size: word(16)?,
            samples: word(20)?,
            flow_case: word(24)?,
            connection: word(28)?,
            advertised: half(32)?,
            window: half(34)?,
            flags,
            scale,
            kind,
            verdict,
        })
    }

    /// The bytes that [`read`](Self::read) reads.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut memory = [0; Self::BYTES];
        memory[..8].copy_from_slice(&self.now_ns.to_ne_bytes());
        let words = [
            self.number,
            self.backlog,
            self.size,
            self.samples,
            self.flow_case,
            self.connection,
        ];
        memory[8..32].copy_from_slice(words.map(u32::to_ne_bytes).as_flattened());
        let halves = [self.advertised, self.window].map(u16::to_ne_bytes);
        memory[32..36].copy_from_slice(halves.as_flattened());
        memory[36..].copy_from_slice(&[self.flags, self.scale, self.kind, self.verdict]);
        memory
    }

    /// Whether the law decides about a packet, rather than learns of something.
    pub const fn is_decision(&self) -> bool {
        matches!(self.kind, Self::ACKNOWLEDGEMENT | Self::CAPABLE)
    }

    /// Whether the law changed the packet, or would have.
    pub const fn is_change(&self) -> bool {
        matches!(
            self.verdict,
            Self::REWRITTEN | Self::MARKED | Self::SHADOWED
        )
    }
}

/// A decision that is another one here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The call, with the decision of the kernel.
    pub call: Call,
    /// The window that the law returns here; of marks 1 if it marks.
    pub here: u16,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call {
            number,
            backlog,
            advertised,
            window,
            scale,
            ..
        } = self.call;
        if self.call.kind == Call::CAPABLE {
            let [there, here] =
                [window, self.here].map(|marks| if marks == 1 { "marks" } else { "does not mark" });
            return write!(
                f,
                "call {number}: at {backlog} bytes the kernel {there}, but the simulator {here}"
            );
        }
        write!(
            f,
            "call {number}: for a window of {advertised} shifted by {scale} the kernel decides {window}, but the simulator \
             {}",
            self.here
        )
    }
}

/// A law whose calls are made once more.
#[derive(Clone, Debug)]
pub struct DecisionReplay(Law);

#[derive(Clone, Debug)]
enum Law {
    Hscc(Hscc),
    Rwndq(Rwndq),
    Mark(Mark),
}

impl DecisionReplay {
    /// The law of this program, from the memory that its map `port` began with; `None` if its calls are not written down, or
    /// the memory is of another law.
    pub fn of(object: &str, memory: &[u8]) -> Option<Self> {
        Some(Self(match object {
            "hscc" => Law::Hscc(Hscc::of_map(memory)?),
            "rwndq" => Law::Rwndq(Rwndq::of_map(memory)?.0),
            "mark" => Law::Mark(Mark::of_map(memory)?),
            _ => return None,
        }))
    }

    /// Makes the next call.
    ///
    /// # Errors
    /// If the decision is another one.
    pub fn make(&mut self, call: &Call) -> Result<(), Difference> {
        let backlog = u64::from(call.backlog);
        let here = match (&mut self.0, call.kind) {
            (Law::Hscc(law), Call::LEVEL) => {
                law.on_level(backlog);
                return Ok(());
            }
            (Law::Hscc(law), Call::ACKNOWLEDGEMENT) => {
                law.on_level(backlog);
                law.window_of_bits(call.flags, call.advertised, call.scale)
            }
            (Law::Rwndq(law), Call::ACKNOWLEDGEMENT) => law.window(call.advertised, call.scale),
            (Law::Rwndq(law), kind) => {
                learn(law, kind, call);
                return Ok(());
            }
            (Law::Mark(law), Call::CAPABLE) => law.marks(backlog).into(),
            (Law::Hscc(_) | Law::Mark(_), _) => return Ok(()),
        };
        if here == call.window {
            Ok(())
        } else {
            Err(Difference { call: *call, here })
        }
    }

    /// Settings and state of the law, as they lie in its map behind the program's own data.
    pub fn to_memory(&self) -> Vec<u8> {
        match &self.0 {
            Law::Hscc(law) => law.to_memory(),
            Law::Rwndq(law) => law.to_memory(),
            Law::Mark(law) => law.loadable().memory,
        }
    }
}

/// Tells RWNDQ what it was told in the kernel.
fn learn(law: &mut Rwndq, kind: u8, call: &Call) {
    match (kind, call.flow_case) {
        (Call::DATA, _) => law.on_packet(call.size),
        (Call::SAMPLES, _) => {
            (0..call.samples).for_each(|_| law.on_sample(call.backlog.into()));
        }
        (Call::FLOW, OPENS) => law.on_open(),
        (Call::FLOW, CLOSES) => law.on_close(),
        (Call::IDLE, _) if call.samples > 0 => law.on_idle(call.samples),
        _ => {}
    }
}

impl Loadable {
    /// The text of the law that the program of this name includes, header after header; `None` if its calls are not written
    /// down.
    pub fn text(object: &str) -> Option<&'static [&'static str]> {
        Some(match object {
            "hscc" => &[include_str!("../c/hscc.h")],
            "rwndq" => &[include_str!("../c/rwndq.h"), include_str!("../c/idle.h")],
            "mark" => &[include_str!("../c/mark.h")],
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{HsccSettings, Idle, RwndqSettings};

    fn hscc() -> Hscc {
        Hscc::new(&HsccSettings {
            buffer_units: 64_000,
            alpha1_millionths: 250_000,
            alpha2_millionths: 500_000,
            window_bytes: 1_460,
            rewrites_syn_ack: false,
        })
    }

    fn ack((number, backlog): (u32, u32), window: u16) -> Call {
        Call {
            number,
            backlog,
            advertised: 512,
            window,
            flags: 16,
            scale: 7,
            kind: Call::ACKNOWLEDGEMENT,
            ..Call::default()
        }
    }

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let call = Call {
            now_ns: 1 << 40,
            number: 2,
            backlog: 3,
            size: 4,
            samples: 5,
            flow_case: 6,
            connection: 7,
            advertised: 8,
            window: 9,
            flags: 10,
            scale: 11,
            kind: 12,
            verdict: 13,
        };
        let memory = call.to_bytes();
        assert_eq!(Call::read(&memory), Some(call));
        assert_eq!(Call::read(&memory[..39]), None);
    }

    #[test]
    fn the_first_call_with_another_decision_is_told_with_both() {
        let mut replay = DecisionReplay::of("hscc", &hscc().loadable().memory).expect("a law");
        let level = Call {
            kind: Call::LEVEL,
            backlog: 32_001,
            ..Call::default()
        };
        // Off: as advertised. On: 1460 bytes are twelve units of 128.
        assert_eq!(replay.make(&ack((0, 0), 512)), Ok(()));
        assert_eq!(replay.make(&level), Ok(()));
        assert_eq!(replay.make(&ack((2, 20_000), 12)), Ok(()));
        let difference = replay.make(&ack((3, 20_000), 13)).expect_err("a bit");
        assert_eq!(
            difference.to_string(),
            "call 3: for a window of 512 shifted by 7 the kernel decides 13, but the simulator 12"
        );
        let mut on = hscc();
        on.on_level(32_001);
        assert_eq!(replay.to_memory(), on.to_memory());
    }

    #[test]
    fn rwndq_learns_from_every_kind_of_call() {
        let law = Rwndq::new(&RwndqSettings {
            buffer_bytes: 64_000,
            alpha_millionths: 200_000,
            samples: 1,
            mss_bytes: 1_448,
            scale: 14,
            paths: 1,
        });
        let memory = law
            .loadable(Duration::from_micros(50), &Idle::new(0), false)
            .memory;
        let mut replay = DecisionReplay::of("rwndq", &memory).expect("a law");
        let mut expected = law;
        let call = |kind, samples, flow_case| Call {
            kind,
            samples,
            flow_case,
            size: 1_514,
            backlog: 700,
            ..Call::default()
        };
        for call in [
            call(Call::DATA, 0, 0),
            call(Call::FLOW, 0, OPENS),
            call(Call::FLOW, 0, OPENS),
            call(Call::FLOW, 0, 0),
            call(Call::SAMPLES, 3, 0),
            call(Call::IDLE, 0, 0),
            call(Call::IDLE, 1, 0),
            call(Call::FLOW, 0, CLOSES),
        ] {
            assert_eq!(replay.make(&call), Ok(()));
        }
        expected.on_packet(1_514);
        expected.on_open();
        expected.on_open();
        (0..3).for_each(|_| expected.on_sample(700));
        expected.on_idle(1);
        expected.on_close();
        assert_eq!(replay.to_memory(), expected.to_memory());
    }

    #[test]
    fn marks_begin_at_the_threshold() {
        let mut replay =
            DecisionReplay::of("mark", &Mark::new(3_000).loadable().memory).expect("a law");
        let call = |backlog, window| Call {
            kind: Call::CAPABLE,
            backlog,
            window,
            ..Call::default()
        };
        assert_eq!(replay.make(&call(2_999, 0)), Ok(()));
        assert_eq!(replay.make(&call(3_000, 1)), Ok(()));
        let difference = replay.make(&call(2_999, 1));
        assert_eq!(
            difference.expect_err("a bit").to_string(),
            "call 0: at 2999 bytes the kernel marks, but the simulator does not mark"
        );
    }

    #[test]
    fn laws_that_write_down_no_call_are_not_replayed() {
        assert!(
            DecisionReplay::of("grants", &[0; 24]).is_none() && Loadable::text("grants").is_none()
        );
        assert!(DecisionReplay::of("hscc", &[0; 8]).is_none(), "cut off");
    }
}
