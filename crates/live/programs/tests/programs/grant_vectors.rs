//! Marks and grants for one vector of arguments.

use laws::{Granted, Grants, Mark};
use programs::GrantVector;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::laws_agree::{below, words_of};

#[derive(Debug)]
pub(crate) struct Case {
    mark: Mark,
    from: u64,
    level: u64,
    grants: Grants,
    granted: Granted,
    now: u64,
    happens: Happening,
    ack: u32,
    bytes: u32,
    advertised: u16,
}

/// An event of the connection, with the numbers of `bpf/vectors.bpf.c`.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Opens,
    Joins,
    Acknowledges,
    HasItsTurn,
    Closes,
}

impl Happening {
    const ALL: [Self; 5] = [
        Self::Opens,
        Self::Joins,
        Self::Acknowledges,
        Self::HasItsTurn,
        Self::Closes,
    ];

    fn draw(below: &mut dyn FnMut(u64) -> u64) -> Self {
        Self::ALL[usize::try_from(below(4)).expect("five")]
    }
}

impl Case {
    /// A threshold with a queue beside it, and a receiver in the middle of its life.
    pub(crate) fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        let mut below = |most| below(random, most);
        let small = |number: u64| u32::try_from(number).expect("a small number");
        let from = below(1 << 31);
        // At the threshold, next to it, or anywhere.
        let level = match below(3) {
            0 => from,
            1 => from.saturating_sub(1),
            _ => below(1 << 32),
        };
        let least = small(below(12));
        let mss = small(below(70_000));
        let mut grants = Grants::of_least(below(1 << 31), mss, below(1 << 32), least);
        let scale = u8::try_from(below(15)).expect("a shift");
        let mut flows = [(); 3].map(|()| Granted::of_scale(scale));
        let (mut now, mut ack) = (0, small(below(u64::from(u32::MAX))));
        for _ in 0..below(7) {
            now += below(1 << 30);
            grants.pass(now);
            ack = ack.wrapping_add(small(below(100_000)));
            let flow = &mut flows[usize::try_from(below(2)).expect("three")];
            let (bytes, units) = (small(below(1 << 30)), small(below(65_535)));
            let happens = Happening::draw(&mut below);
            apply(&mut grants, flow, happens, (ack, bytes, low(units)));
        }
        let [granted, ..] = flows;
        Self {
            mark: Mark::new(from),
            from,
            level,
            grants,
            granted,
            now: now + below(1 << 30),
            happens: Happening::draw(&mut below),
            ack: ack.wrapping_add(small(below(100_000))),
            bytes: small(below(1 << 30)),
            advertised: low(small(below(65_535))),
        }
    }

    pub(crate) fn vector(&self) -> GrantVector {
        self.words((&self.grants, &self.granted), [0; 3])
    }

    pub(crate) fn expected(&self) -> GrantVector {
        let (mut grants, mut granted) = (self.grants.clone(), self.granted.clone());
        grants.pass(self.now);
        let numbers = (self.ack, self.bytes, self.advertised);
        let (window, asked) = apply(&mut grants, &mut granted, self.happens, numbers);
        let marks = self.mark.marks(self.level).into();
        self.words((&grants, &granted), [marks, window, asked.into()])
    }

    /// `struct grant_vector` of `bpf/vectors.bpf.c`.
    fn words(&self, (grants, granted): (&Grants, &Granted), made: [u32; 3]) -> GrantVector {
        let segment = [
            self.happens as u32,
            self.ack,
            self.bytes,
            self.advertised.into(),
        ];
        let words = [&segment[..], &made, &[0]].concat();
        let words: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        let times = [self.now, self.level].map(u64::to_ne_bytes).concat();
        let memory = [
            self.from.to_ne_bytes().to_vec(),
            grants.to_memory(),
            granted.to_memory(),
            times,
            words,
        ];
        words_of(&memory.concat())
    }
}

/// Does the same as a program of a receiver. Returns the window that it tells, and whether the connection has it.
fn apply(
    grants: &mut Grants,
    granted: &mut Granted,
    happens: Happening,
    (ack, bytes, advertised): (u32, u32, u16),
) -> (u32, bool) {
    match happens {
        Happening::Opens => (grants.on_open(granted, ack, bytes), false),
        Happening::Joins => {
            grants.on_join(granted, ack, bytes);
            (0, false)
        }
        Happening::Acknowledges | Happening::HasItsTurn => {
            grants.on_ack(granted, ack, bytes);
            let asked = grants.ask(granted, matches!(happens, Happening::HasItsTurn));
            (grants.tell(granted, advertised).into(), asked)
        }
        Happening::Closes => {
            grants.on_close(granted);
            (0, false)
        }
    }
}

/// The lowest 16 bits.
fn low(number: u32) -> u16 {
    u16::try_from(number & 0xffff).expect("16 bits")
}
