//! What the kernel makes of the text of a law is what the simulator makes of it.

use laws::{Hscc, HsccSettings, Rwndq, RwndqSettings};
use programs::{Vector, Vectors};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::frame::{URG, flags};
use crate::loaded;

#[test]
fn laws_agree_with_the_kernel_bit_by_bit_over_100_000_vectors() {
    let Some(vectors) = loaded(Vectors::load()) else {
        return;
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for number in 0..100_000 {
        let case = Case::draw(&mut random);
        let mut vector = case.vector();
        vectors.run(&mut vector).expect("a vector is run");
        assert_eq!(vector, case.expected(), "vector {number}: {case:?}");
    }
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
}

impl Case {
    /// Settings, a port in the middle of its life, and a packet. Half of the sizes are small, where the laws
    /// have their corners.
    fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        let mut below = |most: u64| {
            let bits = random.next_u64() % (u64::from(most.ilog2()) + 2);
            random.next_u64() % ((1 << bits).min(most + 1))
        };
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
        Self {
            hscc,
            rwndq,
            level: below(1 << 31),
            // All but the bit that the simulator has not.
            flags: u8::try_from(below(255)).expect("a byte") & !URG,
            advertised: tiny(below(65_535)),
            scale: u8::try_from(below(20)).expect("a shift"),
            size: small(below(70_000)),
            opens: below(1) == 1,
        }
    }

    fn vector(&self) -> Vector {
        words(&self.hscc, &self.rwndq, self, [0; 3])
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
        let made = [hscc_window.into(), case, rwndq_window.into()];
        words(&hscc, &rwndq, self, made)
    }
}

/// `struct vector` of `bpf/vectors.bpf.c`.
fn words(hscc: &Hscc, rwndq: &Rwndq, case: &Case, made: [u32; 3]) -> Vector {
    let hscc = hscc.to_memory();
    // The scale lies where the port's memory is padded.
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
        .chain(made.into_iter().chain([0]).flat_map(u32::to_ne_bytes));
    let memory: Vec<u8> = memory.collect();
    let (chunks, rest) = memory.as_chunks();
    assert!(rest.is_empty(), "whole words");
    let words: Vec<u32> = chunks
        .iter()
        .map(|chunk| u32::from_ne_bytes(*chunk))
        .collect();
    words.try_into().expect("as many words as the struct has")
}
