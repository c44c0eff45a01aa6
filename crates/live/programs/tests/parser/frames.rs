//! Random frames: most are TCP, and a part of these is cut off or damaged.

use rand_core::Rng;

/// A frame of at most 200 bytes.
pub(crate) fn draw(random: &mut impl Rng) -> Vec<u8> {
    let mut draw = Draw(random);
    let mut frame = draw.bytes(12);
    if draw.one_in(3) {
        let tag: [u8; 2] = draw.of([[0x81, 0], [0x88, 0xa8]]);
        frame.extend(tag);
        frame.extend(draw.bytes(2));
    }
    match draw.below(20) {
        0 => frame.extend(draw.bytes(2)),
        1..=10 => draw.version_4(&mut frame),
        _ => draw.version_6(&mut frame),
    }
    draw.segment(&mut frame);
    if draw.one_in(4) {
        let length = draw.below(frame.len() + 1);
        frame.truncate(length);
    }
    if draw.one_in(2) {
        for _ in 0..draw.below(4) {
            let (at, byte) = (draw.below(frame.len().max(1)), draw.byte());
            frame
                .get_mut(at)
                .into_iter()
                .for_each(|place| *place = byte);
        }
    }
    frame
}

struct Draw<'a, R>(&'a mut R);

impl<R: Rng> Draw<'_, R> {
    fn version_4(&mut self, frame: &mut Vec<u8>) {
        let mut header = self.bytes(20);
        header[0] = if self.one_in(20) { self.byte() } else { 0x45 };
        // Unfragmented, not to be fragmented, the first fragment, one of several, or anything.
        let fragment = self.of([[0, 0], [0x40, 0], [0x40, 0], [0x20, 0], [0, 9]]);
        if !self.one_in(20) {
            header[6..8].copy_from_slice(&fragment);
        }
        header[9] = self.of([6, 6, 6, 6, 17, 1]);
        frame.extend([0x08, 0x00]);
        frame.extend(header);
    }

    fn version_6(&mut self, frame: &mut Vec<u8>) {
        let mut header = self.bytes(40);
        let extension = self.of([0, 43, 44, 50, 51, 60, 135, 139, 140, 59]);
        header[6] = self.of([6, 6, 6, 6, 6, 17, 58, extension]);
        frame.extend([0x86, 0xdd]);
        frame.extend(header);
    }

    fn segment(&mut self, frame: &mut Vec<u8>) {
        let mut header = self.bytes(20);
        let mut options = Vec::new();
        while options.len() < 40 && !self.one_in(4) {
            options.extend(self.option());
        }
        if self.one_in(4) {
            options = vec![1, 1, 8, 10];
            options.extend(self.bytes(8));
        }
        if options.len() < 24 && self.one_in(4) {
            let blocks: u8 = self.of([8, 16]);
            options.extend([1, 1, 5, blocks + 2]);
            options.extend(self.bytes(usize::from(blocks)));
        }
        options.resize(options.len().next_multiple_of(4).min(40), 0);
        let words = u8::try_from(5 + options.len() / 4).expect("fifteen words at most");
        header[12] = words << 4 | header[12] & 15;
        if self.one_in(10) {
            header[12] = self.byte();
        }
        frame.extend(header);
        frame.extend(options);
        let payload = self.below(20);
        frame.extend(self.bytes(payload));
    }

    fn option(&mut self) -> Vec<u8> {
        let kind = self.of([0, 1, 1, 2, 3, 3, 4, 5, 8, 19, 29, 30, 253]);
        let usual = match kind {
            0 | 1 => return vec![kind],
            2 => 4,
            3 => 3,
            4 => 2,
            8 => 10,
            19 => 18,
            _ => self.of([2, 4, 10, 12, 16]),
        };
        let length = if self.one_in(10) { self.byte() } else { usual };
        let mut option = vec![kind, length];
        option.extend(self.bytes(usize::from(usual) - 2));
        if kind == 3 && !self.one_in(4) {
            option[2] %= 16;
        }
        option
    }

    fn byte(&mut self) -> u8 {
        self.0.next_u64().to_le_bytes()[0]
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.next_u64() % bound as u64).expect("below the bound")
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[self.below(N)]
    }
}
