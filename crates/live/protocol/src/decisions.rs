//! The log of a law in the shadow, and the certificate that the simulator decides as the kernel does.
//!
//! A log is a line of JSON, [`DecisionLog`], and behind it the calls of the law, each of [`Call::BYTES`] bytes. [`certify`]
//! makes every call once more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, BufRead, Read};

use laws::{Call, DecisionReplay, Difference, Loadable};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Certificate, DecidedBy, Settings};

/// The first line of a log of decisions. It has no addresses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionLog {
    /// The version that wrote it.
    pub version: String,
    /// The law, as `attach` calls it.
    pub law: String,
    /// The name of its program.
    pub object: String,
    /// The device.
    pub device: String,
    /// Its settings.
    pub settings: Settings,
    /// The MTU of the device.
    pub mtu_bytes: u32,
    /// Whether the right edge of a window may never move back, which then decides beside the law.
    pub no_retract: bool,
    /// The memory that the law began with, in hexadecimal digits.
    pub memory: String,
    /// The cause of its decisions.
    pub decided_by: DecidedBy,
}

/// Why there is no certificate.
#[derive(Debug)]
pub enum Uncertified {
    /// The log cannot be read, or is none.
    Unreadable(String),
    /// The log is of a law whose text is another one here.
    OtherText {
        /// The version that wrote it.
        version: String,
    },
    /// No room was left for a call, so that the state behind it is unknown.
    Missing {
        /// Its number.
        call: u32,
    },
    /// The kernel decided otherwise.
    Difference {
        /// Equal decisions before it.
        before: u64,
        /// Both decisions.
        difference: Difference,
    },
    /// The kernel decided equally, and the program did something else.
    OtherFate {
        /// Equal decisions before it.
        before: u64,
        /// The call, with what became of the packet.
        call: Call,
    },
}

/// Makes every call of a log once more.
///
/// # Errors
/// If the log cannot be read or lacks a call, or at the first decision that is another one.
pub fn certify(mut log: impl BufRead) -> Result<Certificate, Uncertified> {
    let head = DecisionLog::read(&mut log)?;
    if law_sha256(&head.object).as_ref() != Some(&head.decided_by.law_sha256) {
        let version = head.version;
        return Err(Uncertified::OtherText { version });
    }
    let memory = bytes_of(&head.memory);
    let replay = memory.and_then(|memory| DecisionReplay::of(&head.object, &memory));
    let mut replay = replay.ok_or_else(|| {
        Uncertified::Unreadable(format!("the memory of {} belongs to another law", head.law))
    })?;
    let mut seen = Seen::default();
    let mut calls = InOrder::new(log);
    while let Some(call) = calls.next()? {
        let before = seen.decisions;
        let made = replay.make(&call);
        made.map_err(|difference| Uncertified::Difference { before, difference })?;
        let changes = match call.kind {
            Call::CAPABLE => call.window == 1 && call.flags == 1,
            _ => call.window > 0 && call.window < call.advertised,
        };
        if call.is_decision() && !head.no_retract && changes != call.is_change() {
            return Err(Uncertified::OtherFate { before, call });
        }
        seen.add(&call, u64::from(head.mtu_bytes.saturating_sub(HEADERS)));
    }
    Ok(Certificate {
        version: sim::VERSION.to_owned(),
        law: head.law,
        device: head.device,
        settings: head.settings,
        decided_by: head.decided_by,
        decisions: seen.decisions,
        calls: seen.calls,
        would_change: seen.would_change,
        connections: seen.connections.len() as u64,
        least_window_bytes: seen.least_window_bytes,
        below_two_segments: seen.below_two_segments.len() as u64,
        predicted: None,
    })
}

impl DecisionLog {
    fn read(log: &mut impl BufRead) -> Result<Self, Uncertified> {
        let mut line = Vec::new();
        // The calls behind it are no text.
        let read = log.take(LONGEST_HEAD).read_until(b'\n', &mut line);
        read.map_err(|error| Uncertified::Unreadable(error.to_string()))?;
        serde_json::from_slice(&line).map_err(|error| {
            Uncertified::Unreadable(format!(
                "its first line is not that of a log of decisions: {error}"
            ))
        })
    }

    /// The memory of a law as a log has it.
    pub fn memory_of(law: &Loadable) -> String {
        hexadecimal(&law.memory)
    }
}

/// The SHA-256 of the text of the law of this program; `None` if its calls are not written down.
pub fn law_sha256(object: &str) -> Option<String> {
    let texts = Loadable::text(object)?;
    let texts: Vec<_> = texts.iter().map(|text| text.as_bytes()).collect();
    Some(sha256(&texts.concat()))
}

/// The SHA-256 in hexadecimal digits, as `sha256sum` prints it.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The bytes of hexadecimal digits.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    let byte = |pair: &[u8]| {
        let [high, low] = [pair.first()?, pair.get(1)?].map(digit);
        u8::try_from(16 * high? + low?).ok()
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}

/// The calls of a log in the order of their numbers, from which the order of the log differs a little: each processor
/// writes its own calls down.
struct InOrder<R> {
    log: R,
    next: u32,
    early: BTreeMap<u32, Call>,
}

impl<R: Read> InOrder<R> {
    fn new(log: R) -> Self {
        Self {
            log,
            next: 0,
            early: BTreeMap::new(),
        }
    }

    /// The next call; `None` at the end.
    fn next(&mut self) -> Result<Option<Call>, Uncertified> {
        loop {
            if let Some(call) = self.early.remove(&self.next) {
                self.next += 1;
                return Ok(Some(call));
            }
            if self.early.len() >= MOST_EARLY {
                return Err(Uncertified::Missing { call: self.next });
            }
            let Some(call) = self.read()? else {
                // Whatever ends a log may end it in the middle of what several processors write.
                return Ok(None);
            };
            if call.number < self.next {
                let number = call.number;
                let text = format!("call {number} comes twice");
                return Err(Uncertified::Unreadable(text));
            }
            self.early.insert(call.number, call);
        }
    }

    /// The next call of the log; `None` at its end, also in the middle of a call.
    fn read(&mut self) -> Result<Option<Call>, Uncertified> {
        let mut bytes = [0; Call::BYTES];
        match self.log.read_exact(&mut bytes) {
            Ok(()) => Ok(Call::read(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(Uncertified::Unreadable(error.to_string())),
        }
    }
}

/// The sums of the decisions so far.
#[derive(Default)]
struct Seen {
    decisions: u64,
    calls: u64,
    would_change: u64,
    connections: BTreeSet<u32>,
    least_window_bytes: Option<u64>,
    below_two_segments: BTreeSet<u32>,
}

impl Seen {
    fn add(&mut self, call: &Call, segment_bytes: u64) {
        self.calls += 1;
        self.decisions += u64::from(call.is_decision());
        if !call.is_decision() || !call.is_change() {
            return;
        }
        self.would_change += 1;
        if call.kind != Call::ACKNOWLEDGEMENT {
            return;
        }
        self.connections.insert(call.connection);
        // Windows of SYNs are never scaled (RFC 7323 §2.2).
        let scale = if call.flags & SYN > 0 { 0 } else { call.scale };
        let window = u64::from(call.window) << scale.min(14);
        let least = self.least_window_bytes.unwrap_or(u64::MAX);
        self.least_window_bytes = Some(least.min(window));
        if window < 2 * segment_bytes {
            self.below_two_segments.insert(call.connection);
        }
    }
}

impl fmt::Display for Uncertified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => f.write_str(why),
            Self::OtherText { version } => write!(
                f,
                "the text of its law differs from this version's: tailwater {version} wrote the log, and this is {}",
                sim::VERSION
            ),
            Self::Missing { call } => write!(
                f,
                "call {call} is missing, because the log could not be written as fast as the law was called"
            ),
            Self::Difference { before, difference } => {
                write!(f, "{difference}; {before} decisions before it are equal")
            }
            Self::OtherFate { before, call } => write!(
                f,
                "call {}: both decide {}, and the program did something else with the packet (verdict {}); {before} \
                 decisions before it are equal",
                call.number, call.window, call.verdict
            ),
        }
    }
}

impl std::error::Error for Uncertified {}

/// Headers of IP and TCP in a full segment.
const HEADERS: u32 = 40;
/// Of TCP's flags.
const SYN: u8 = 2;
/// Settings are few.
const LONGEST_HEAD: u64 = 1 << 20;
/// Calls that may come before an earlier one. A ring has room for as many at most.
const MOST_EARLY: usize = 1 << 19;

#[cfg(test)]
mod tests {
    use base::TcpFlags;
    use laws::{Hscc, HsccSettings};

    use super::*;

    /// Verdict: the law leaves the packet as it is.
    const LEFT: u8 = 10;

    fn law() -> Hscc {
        Hscc::new(&HsccSettings {
            buffer_units: 64_000,
            alpha1_millionths: 250_000,
            alpha2_millionths: 500_000,
            window_bytes: 1_460,
            rewrites_syn_ack: false,
        })
    }

    fn head() -> DecisionLog {
        DecisionLog {
            version: sim::VERSION.to_owned(),
            law: "hscc".to_owned(),
            object: "hscc".to_owned(),
            device: "eth1".to_owned(),
            settings: Settings::default(),
            mtu_bytes: 1_500,
            no_retract: false,
            memory: DecisionLog::memory_of(&law().loadable()),
            decided_by: DecidedBy {
                kernel: "6.12.1".to_owned(),
                btf_sha256: "00".to_owned(),
                compiler: "clang".to_owned(),
                program_sha256: "11".to_owned(),
                law_sha256: law_sha256("hscc").expect("a law with a text"),
            },
        }
    }

    /// A queue that grows and falls, with data or an ACK at each length, as the kernel would write it down.
    fn calls(count: u32) -> Vec<Call> {
        let mut law = law();
        let mut call = |number: u32| {
            let backlog = (number % 400).abs_diff(200) * 320;
            let call = Call {
                number,
                backlog,
                ..Call::default()
            };
            law.on_level(backlog.into());
            if number.is_multiple_of(2) {
                return Call {
                    kind: Call::LEVEL,
                    ..call
                };
            }
            let window = law.window(TcpFlags::ACK, 512, 7);
            Call {
                kind: Call::ACKNOWLEDGEMENT,
                connection: 1 + number % 3,
                advertised: 512,
                window,
                flags: 16,
                scale: 7,
                verdict: if window < 512 { Call::SHADOWED } else { LEFT },
                ..call
            }
        };
        (0..count).map(&mut call).collect()
    }

    fn log(head: &DecisionLog, calls: &[Call]) -> Vec<u8> {
        let mut log = serde_json::to_vec(head).expect("JSON");
        log.push(b'\n');
        log.extend(calls.iter().flat_map(|call| call.to_bytes()));
        log
    }

    #[test]
    fn equal_decisions_are_certified_with_what_acting_would_have_done() {
        let mut calls = calls(4_000);
        // Processors write down in another order than they call.
        for pair in calls.chunks_exact_mut(2) {
            pair.swap(0, 1);
        }
        let mut log = log(&head(), &calls);
        // Killed in the middle of a call.
        log.extend([7; 13]);
        let certificate = certify(&log[..]).expect("a certificate");
        assert_eq!((certificate.decisions, certificate.calls), (2_000, 4_000));
        assert!(
            (200..1_800).contains(&certificate.would_change),
            "{certificate:?}"
        );
        // Twelve units of 128 bytes.
        assert_eq!(certificate.least_window_bytes, Some(1_536));
        assert_eq!(
            (certificate.connections, certificate.below_two_segments),
            (3, 3)
        );
        assert_eq!(certificate.decided_by, head().decided_by);
        let text = serde_json::to_string(&certificate).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Certificate>(&text).expect("JSON"),
            certificate
        );
    }

    #[test]
    fn every_bit_of_a_decision_counts() {
        let right = calls(1_000);
        let place = 501;
        for bit in 0..16 {
            let mut wrong = right.clone();
            wrong[place].window ^= 1 << bit;
            let error = certify(&log(&head(), &wrong)[..]).expect_err("a bit");
            let Uncertified::Difference { before, difference } = error else {
                panic!("{error}");
            };
            assert_eq!((before, difference.call.number), (250, 501), "bit {bit}");
        }
        let mut wrong = right;
        wrong[place].verdict = if wrong[place].is_change() {
            LEFT
        } else {
            Call::SHADOWED
        };
        let error = certify(&log(&head(), &wrong)[..]).expect_err("another fate");
        assert!(matches!(error, Uncertified::OtherFate { .. }), "{error}");
    }

    #[test]
    fn a_log_without_one_call_or_of_another_text_proves_nothing() {
        let all = calls(700_000);
        let lacking = [&all[..10], &all[11..]].concat();
        let error = certify(&log(&head(), &lacking)[..]).expect_err("a call lacks");
        assert!(
            matches!(error, Uncertified::Missing { call: 10 }),
            "{error}"
        );
        let mut other = head();
        other.decided_by.law_sha256 = "0".repeat(64);
        let error = certify(&log(&other, &all)[..]).expect_err("another text");
        assert!(matches!(error, Uncertified::OtherText { .. }), "{error}");
        let mut other = head();
        other.memory.truncate(20);
        let error = certify(&log(&other, &all)[..]).expect_err("no memory");
        assert!(matches!(error, Uncertified::Unreadable(_)), "{error}");
        let error = certify(&b"{}\n"[..]).expect_err("no log");
        assert!(error.to_string().contains("first line"), "{error}");
    }

    #[test]
    fn a_hash_is_the_one_that_others_compute() {
        // FIPS 180-2, Appendix B.1.
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(bytes_of("00ff7a"), Some(vec![0, 255, 122]));
        assert_eq!((bytes_of("0"), bytes_of("0g")), (None, None));
    }
}
