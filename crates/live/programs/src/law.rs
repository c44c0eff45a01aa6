//! The laws that a port can have, and how they lie in its map.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use laws::{Grants, Hscc, Idle, Rwndq};

/// What a port is to do.
#[derive(Clone, Debug)]
pub enum Law {
    /// HSCC: ACKs leave with a small window while the queue is long.
    Hscc(Hscc),
    /// RWNDQ: ACKs leave with the window of all connections that are not idle, which is sampled and moved once per
    /// interval.
    Rwndq(Rwndq, Duration, Idle),
    /// Capable packets that find this many bytes waiting are marked.
    Mark(u64),
    /// RCC at a receiver: what ACKs of this machine allow stays within a budget.
    Grants(Grants),
    /// A receiver's windows are those that user space assigns to its connections, and this many bytes until it does: see
    /// [`Receiver`](crate::Receiver).
    Assigned(u32),
    /// None: the queue is measured, which [`Port::mean_queue`](crate::Port::mean_queue) tells.
    None,
}

impl Law {
    /// The object with its programs.
    pub(crate) const fn object(&self) -> &'static [u8] {
        match self {
            Self::Hscc(_) => HSCC,
            Self::Rwndq(..) => RWNDQ,
            Self::Mark(_) => MARK,
            Self::Grants(_) => GRANTS,
            Self::Assigned(_) => ASSIGNED,
            Self::None => QUEUE,
        }
    }

    /// A number for the text of its programs: another build may have others.
    pub fn build(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.object().hash(&mut hasher);
        hasher.finish()
    }

    /// What the map `port` of its programs holds first.
    pub(crate) fn to_memory(&self) -> Vec<u8> {
        let lock = vec![0; LOCK];
        match self {
            Self::Hscc(law) => [lock, law.to_memory()].concat(),
            Self::Rwndq(law, interval, idle) => {
                let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
                let times = [interval.to_ne_bytes(), [0; 8]].concat();
                [lock, times, law.to_memory(), idle.to_memory()].concat()
            }
            Self::Mark(from_bytes) => from_bytes.to_ne_bytes().to_vec(),
            // The state of the receiver lies in a map of its own, which no new setting disturbs.
            Self::Grants(law) => law.to_memory()[..TERMS].to_vec(),
            Self::Assigned(first_bytes) => [*first_bytes, 0].map(u32::to_ne_bytes).concat(),
            Self::None => vec![0; 32],
        }
    }

    /// A law of this kind as the map `port` holds it, and behind it the map `receiver` if there is one; `None` if the map
    /// is that of another one.
    pub(crate) fn recalled(&self, memory: &[u8]) -> Option<Self> {
        let long = |at: usize| memory.get(at..)?.first_chunk().copied();
        let long = |at| long(at).map(u64::from_ne_bytes);
        if let Self::Grants(_) = self {
            return Grants::from_memory(memory).map(Self::Grants);
        }
        if memory.len() != self.to_memory().len() {
            return None;
        }
        Some(match self {
            Self::Hscc(_) => Self::Hscc(Hscc::from_memory(memory.get(LOCK..)?)?),
            Self::Rwndq(..) => {
                let law = Rwndq::from_memory(memory.get(LOCK + TIMES..)?)?;
                let idle = Idle::from_memory(memory.get(LOCK + TIMES + RWNDQ_BYTES..)?)?;
                Self::Rwndq(law, Duration::from_nanos(long(LOCK)?), idle)
            }
            Self::Mark(_) => Self::Mark(long(0)?),
            Self::Grants(_) => return None,
            Self::Assigned(_) => {
                let first = memory.first_chunk().copied().map(u32::from_ne_bytes);
                Self::Assigned(first?)
            }
            Self::None => Self::None,
        })
    }

    /// What the map `port` is to hold so that the law has these settings and goes on from where it is.
    pub(crate) fn revised(&self, memory: &[u8]) -> Option<Vec<u8>> {
        let mut law = self.recalled(memory)?;
        match (&mut law, self) {
            (Self::Hscc(law), Self::Hscc(like)) => law.set_like(like),
            (Self::Rwndq(law, interval, idle), Self::Rwndq(like, new, idle_like)) => {
                law.set_like(like);
                *interval = *new;
                idle.set_like(idle_like);
            }
            _ => law = self.clone(),
        }
        let mut revised = law.to_memory();
        if let Self::Rwndq(..) = self {
            // The end of the last interval that was sampled.
            revised[SAMPLED..LOCK + TIMES].copy_from_slice(&memory[SAMPLED..LOCK + TIMES]);
        }
        Some(revised)
    }

    /// Whether the map `port` begins with a lock.
    pub(crate) const fn is_locked(&self) -> bool {
        matches!(self, Self::Hscc(_) | Self::Rwndq(..))
    }
}

/// A lock is four bytes, and the structs of laws begin at a multiple of eight.
const LOCK: usize = 8;
/// Of RWNDQ: the interval, and the end of the last one.
const TIMES: usize = 16;
const SAMPLED: usize = LOCK + 8;
/// Settings and state of its window; whose connections are idle comes behind them.
const RWNDQ_BYTES: usize = 64;
/// Settings of grants.
const TERMS: usize = 24;

const HSCC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hscc.o"));
const RWNDQ: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rwndq.o"));
const GRANTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/grants.o"));
const ASSIGNED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/assigned.o"));
const QUEUE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/queue.o"));
const MARK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mark.o"));

#[cfg(test)]
mod tests {
    use laws::{HsccSettings, Life, RwndqSettings};

    use super::*;

    fn hscc(window_bytes: u32) -> Hscc {
        Hscc::new(&HsccSettings {
            buffer_units: 64_000,
            alpha1_millionths: 250_000,
            alpha2_millionths: 500_000,
            window_bytes,
            rewrites_syn_ack: false,
        })
    }

    #[test]
    fn new_settings_leave_a_law_where_it_was() {
        let mut on = hscc(1_460);
        on.on_level(64_000);
        let memory = Law::Hscc(on).to_memory();
        let revised = Law::Hscc(hscc(2_920)).revised(&memory).unwrap();
        let Some(Law::Hscc(law)) = Law::Hscc(hscc(1)).recalled(&revised) else {
            panic!("another law");
        };
        assert!(law.is_on());
        assert_eq!(law.window_bytes(), 2_920);
    }

    #[test]
    fn rwndq_goes_on_with_its_flows_and_its_clock() {
        let settings = RwndqSettings {
            buffer_bytes: 64_000,
            alpha_millionths: 200_000,
            samples: 10,
            mss_bytes: 1_448,
            scale: 14,
            paths: 1,
        };
        let mut counting = Rwndq::new(&settings);
        counting.on_open();
        let mut idle = Idle::new(100_000_000);
        idle.on_open(&mut Life::default(), 1);
        let mut memory = Law::Rwndq(counting, Duration::from_micros(50), idle).to_memory();
        memory[SAMPLED] = 7;
        let slower = Law::Rwndq(
            Rwndq::new(&settings),
            Duration::from_micros(100),
            Idle::new(0),
        );
        let revised = slower.revised(&memory).unwrap();
        assert_eq!(revised[SAMPLED], 7);
        let Some(Law::Rwndq(law, interval, idle)) = slower.recalled(&revised) else {
            panic!("another law");
        };
        assert_eq!((law.flows(), interval), (1, Duration::from_micros(100)));
        assert_eq!((idle.active(), idle.is_on()), (1, false));
        assert!(Law::Mark(0).recalled(&revised).is_none());
    }
}
