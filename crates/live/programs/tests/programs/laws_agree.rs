//! The kernel computes the same from the text of a law as the simulator.

use std::io::Write;
use std::time::Instant;

use laws::{Hscc, HsccSettings, Idle, Life, Rwndq, RwndqSettings};
use programs::{Vector, Vectors};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::frame::{URG, flags};
use crate::grant_vectors;
use crate::loaded;

#[test]
fn laws_agree_with_the_kernel_bit_by_bit_over_100_000_vectors() {
    agree(1, 100_000);
}

/// `TAILWATER_DECISIONS` says how many of each law.
#[test]
#[ignore = "takes some minutes: cargo xtask trust decisions"]
fn laws_agree_with_the_kernel_bit_by_bit_over_ten_million_vectors() {
    let count = std::env::var("TAILWATER_DECISIONS").ok();
    let count = count.map_or(10_000_000, |text| text.parse().expect("a number"));
    let begin = now();
    agree(2, count);
    let text = format!(
        "{count} decisions each of HSCC, RWNDQ, marks and grants are equal, in {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    writeln!(std::io::stderr(), "{text}").expect("somebody reads");
}

/// The clock: nothing but a message follows from it.
#[expect(clippy::disallowed_methods, reason = "it says how long something took")]
fn now() -> Instant {
    Instant::now()
}

/// Calls every law so often, in the kernel and here, with the same arguments.
fn agree(seed: u64, count: u64) {
    let Some(vectors) = loaded(Vectors::load()) else {
        return;
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for number in 0..count {
        let case = Case::draw(&mut random);
        let mut vector = case.vector();
        vectors.run(&mut vector).expect("a vector is run");
        assert_eq!(vector, case.expected(), "vector {number}: {case:?}");
        let case = grant_vectors::Case::draw(&mut random);
        let mut vector = case.vector();
        vectors.run_grants(&mut vector).expect("a vector is run");
        assert_eq!(vector, case.expected(), "vector {number}: {case:?}");
    }
}

/// Half of the numbers up to `most` are small, where the laws have their corners.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, most: u64) -> u64 {
    let bits = random.next_u64() % (u64::from(most.ilog2()) + 2);
    random.next_u64() % ((1 << bits).min(most + 1))
}

#[derive(Debug)]
struct Case {
    hscc: Hscc,
    rwndq: Rwndq,
    level: u64,
    flags: u8,
    advertised: u16,
    scale: u8,
    size: u32,
    opens: bool,
    idle: Idle,
    life: Life,
    now: u64,
    ack: u32,
}

impl Case {
    /// Settings, a port in the middle of its life, and a packet.
    fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        let mut below = |most| below(random, most);
        let small = |number: u64| u32::try_from(number).expect("a small number");
        let mut hscc = Hscc::new(&HsccSettings {
            buffer_units: below(1 << 40),
            alpha1_millionths: small(below(1_100_000)),
            alpha2_millionths: small(below(1_100_000)),
            window_bytes: small(below(1 << 20)),
            rewrites_syn_ack: below(1) == 1,
        });
        hscc.on_level(below(1 << 40));
        let tiny = |number: u64| u16::try_from(number).expect("a tiny number");
        let mut rwndq = Rwndq::new(&RwndqSettings {
            buffer_bytes: below(1 << 31),
            alpha_millionths: small(below(1_000_000)),
            samples: tiny(below(8)),
            mss_bytes: tiny(below(9_000)),
            scale: u8::try_from(below(15)).expect("a shift"),
            paths: tiny(below(8)),
        });
        for _ in 0..below(6) {
            rwndq.on_open();
        }
        for _ in 0..below(20) {
            rwndq.on_sample(below(1 << 31));
        }
        let (mut idle, mut life, mut now) = (Idle::new(below(1 << 20)), Life::default(), 0);
        for _ in 0..below(6) {
            now += below(1 << 20);
            idle.pass(now);
            // Other connections, of which nothing more is heard, and the connection of the vector.
            idle.on_open(&mut Life::default(), 0);
            match below(3) {
                0 => drop(idle.on_close(&mut life)),
                1 => drop(idle.on_open(&mut life, small(below(9)))),
                _ => drop(idle.on_ack(&mut life, small(below(9)))),
            }
        }
        Self {
            idle,
            life,
            now: now + below(1 << 20),
            ack: small(below(9)),
            hscc,
            rwndq,
            level: below(1 << 31),
            // All bits except the one that the simulator lacks.
            flags: u8::try_from(below(255)).expect("a byte") & !URG,
            advertised: tiny(below(65_535)),
            scale: u8::try_from(below(20)).expect("a shift"),
            size: small(below(70_000)),
            opens: below(1) == 1,
        }
    }

    fn vector(&self) -> Vector {
        let windows = [0; 3];
        words(
            &self.hscc,
            &self.rwndq,
            self,
            (windows, &self.idle, &self.life, [0; 3]),
        )
    }

    fn expected(&self) -> Vector {
        let (mut hscc, mut rwndq) = (self.hscc.clone(), self.rwndq.clone());
        hscc.on_level(self.level);
        let flags = flags(self.flags);
        let hscc_window = hscc.window(flags, self.advertised, self.scale);
        rwndq.on_packet(self.size);
        if self.opens {
            rwndq.on_open();
        } else {
            rwndq.on_close();
        }
        rwndq.on_sample(self.level);
        let rwndq_window = rwndq.window(self.advertised, self.scale);
        let case = Rwndq::case(flags) as u32;
        let windows = [hscc_window.into(), case, rwndq_window.into()];
        let (mut idle, mut life) = (self.idle.clone(), self.life.clone());
        let gone = idle.pass(self.now);
        let changes = if self.opens {
            idle.on_open(&mut life, self.ack)
        } else {
            idle.on_close(&mut life)
        };
        let revives = idle.on_ack(&mut life, self.ack.wrapping_add(self.size));
        let made = [gone, changes.into(), revives.into()];
        words(&hscc, &rwndq, self, (windows, &idle, &life, made))
    }
}

/// `struct vector` of `bpf/vectors.bpf.c`.
fn words(
    hscc: &Hscc,
    rwndq: &Rwndq,
    case: &Case,
    (windows, idle, life, made): ([u32; 3], &Idle, &Life, [u32; 3]),
) -> Vector {
    let hscc = hscc.to_memory();
    // The scale is where the port's memory is padded.
    let head = hscc[..28]
        .iter()
        .copied()
        .chain(u32::from(case.scale).to_ne_bytes());
    let flow_case = if case.opens { 1_u32 } else { 2 };
    let packet = [
        case.flags.into(),
        case.advertised.into(),
        case.size,
        flow_case,
    ];
    let memory = head
        .chain(case.level.to_ne_bytes())
        .chain(packet.into_iter().flat_map(u32::to_ne_bytes))
        .chain(rwndq.to_memory())
        .chain(idle.to_memory())
        .chain(life.to_memory())
        .chain(case.now.to_ne_bytes())
        .chain(
            windows
                .into_iter()
                .chain([case.ack])
                .flat_map(u32::to_ne_bytes),
        )
        .chain(made.into_iter().chain([0]).flat_map(u32::to_ne_bytes));
    let memory: Vec<u8> = memory.collect();
    words_of(&memory)
}

/// Memory as the words of a struct.
pub(crate) fn words_of<const WORDS: usize>(memory: &[u8]) -> [u32; WORDS] {
    let (chunks, rest) = memory.as_chunks();
    assert!(rest.is_empty(), "whole words");
    let words: Vec<u32> = chunks
        .iter()
        .map(|chunk| u32::from_ne_bytes(*chunk))
        .collect();
    words.try_into().expect("as many words as the struct has")
}
