//! The parser of the programs, on any machine, against one that was written from the documents alone. The frames are of
//! every kind, damaged and cut off in every way. Both parsers have the same results, and neither reads a byte beside
//! the frame.

mod frames;
mod guarded;
mod rfcs;

use programs as _;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use guarded::{Guarded, Side};
use rfcs::{Options, Segment, Verdict};

#[test]
fn the_parser_agrees_with_the_documents_over_1_000_000_frames() {
    let frames = 1_000_000;
    let seed = 1;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut memory = Guarded::new();
    let mut kinds = [0_u32; Verdict::Segment as usize + 1];
    let (mut scaled, mut foreign, mut broken, mut plain) = (0, 0, 0, 0);
    for number in 0..frames {
        let frame = frames::draw(&mut random);
        let expected = rfcs::look_at(&frame);
        // The inaccessible page is first after the frame, then before it.
        for side in [Side::End, Side::Start] {
            let (verdict, seen) = see(memory.place(&frame, side));
            let told = || format!("frame {number} of seed {seed}: {frame:02x?}");
            assert_eq!(verdict, expected.0 as u32, "{}", told());
            if let Some(segment) = &expected.1 {
                assert_eq!(&seen, segment, "{}", told());
            }
        }
        kinds[expected.0 as usize] += 1;
        if let Some(Segment {
            options, is_plain, ..
        }) = expected.1
        {
            plain += u32::from(is_plain);
            scaled += u32::from(matches!(options, Options::Whole { scale: Some(_), .. }));
            foreign += u32::from(matches!(options, Options::Whole { foreign: true, .. }));
            broken += u32::from(matches!(options, Options::Broken));
        }
    }
    // Nothing was left out.
    let least = frames / 1_000;
    let met = Verdict::ALL.map(|verdict| kinds[verdict as usize]);
    assert!(met.iter().all(|kind| *kind > least), "{met:?}");
    let marked = [scaled, foreign, broken, plain];
    assert!(marked.iter().all(|kind| *kind > least), "{marked:?}");
}

/// The result of the programs' parser for a frame.
fn see(frame: &[u8]) -> (u32, Segment) {
    let mut seen = Seen::default();
    let length = u32::try_from(frame.len()).expect("a short frame");
    // SAFETY: the function reads this many bytes from the frame, and writes one struct, which is laid out as in C.
    #[expect(unsafe_code, reason = "the parser is C, so that a kernel runs it")]
    let verdict = unsafe { packet_see(frame.as_ptr(), length, &raw mut seen) };
    (verdict, seen.segment())
}

/// `struct seen` of `packet.c`.
#[derive(Default)]
#[repr(C)]
struct Seen {
    ports: [[u8; 2]; 2],
    addresses: [[u8; 16]; 2],
    tcp: u32,
    options: u32,
    end_of_options: u32,
    seq: u32,
    ack: u32,
    window: u16,
    flags: u8,
    plain: u8,
    is_v6: u32,
    bytes: [[u8; 8]; 5],
    length: u32,
    at: u32,
    scale: u8,
    foreign: u8,
    broken: u8,
    has_options: u32,
}

impl Seen {
    fn segment(&self) -> Segment {
        let [from, to] = match self.is_v6 {
            0 => [0, 4].map(|at| {
                std::array::from_fn(|byte| {
                    if byte < 4 {
                        self.addresses[0][at + byte]
                    } else {
                        0
                    }
                })
            }),
            _ => self.addresses,
        };
        Segment {
            from,
            to,
            ports: self.ports.map(u16::from_be_bytes),
            tcp: self.tcp as usize,
            end_of_options: self.end_of_options as usize,
            seq: self.seq,
            ack: self.ack,
            window: self.window,
            flags: self.flags,
            is_plain: self.plain == 1,
            options: match self.has_options {
                0 => Options::Broken,
                _ => Options::Whole {
                    scale: (self.scale != NO_SCALE).then_some(self.scale),
                    foreign: self.foreign == 1,
                },
            },
        }
    }
}

const NO_SCALE: u8 = 0xff;

#[expect(unsafe_code, reason = "the parser is C, so that a kernel runs it")]
#[link(name = "packet", kind = "static")]
// SAFETY: the declaration is that of `packet.c`.
unsafe extern "C" {
    fn packet_see(frame: *const u8, length: u32, seen: *mut Seen) -> u32;
}
