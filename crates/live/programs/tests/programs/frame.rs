//! Frames for tests: built field by field, with checksums of their own.

use base::TcpFlags;

/// A TCP segment in a frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) v6: bool,
    pub(crate) vlan: bool,
    /// Whether it goes from the receiver of data to their sender.
    pub(crate) back: bool,
    pub(crate) flags: u8,
    pub(crate) window: u16,
    /// The sequence number of the first byte.
    pub(crate) seq: u32,
    /// The acknowledgement.
    pub(crate) number: u32,
    pub(crate) options: Vec<u8>,
    pub(crate) payload: usize,
    /// The last byte of the address of the receiver of data.
    pub(crate) host: u8,
}

pub(crate) const FIN: u8 = TcpFlags::FIN.bits();
pub(crate) const SYN: u8 = TcpFlags::SYN.bits();
pub(crate) const RST: u8 = TcpFlags::RST.bits();
pub(crate) const PSH: u8 = TcpFlags::PSH.bits();
pub(crate) const ACK: u8 = TcpFlags::ACK.bits();
pub(crate) const ECE: u8 = TcpFlags::ECE.bits();
/// The simulator has no urgent data.
pub(crate) const URG: u8 = 32;

/// Those bits of a header that the simulator has.
pub(crate) fn flags(bits: u8) -> TcpFlags {
    let all = [
        TcpFlags::FIN,
        TcpFlags::SYN,
        TcpFlags::RST,
        TcpFlags::PSH,
        TcpFlags::ACK,
        TcpFlags::ECE,
        TcpFlags::CWR,
    ];
    let set = all.into_iter().filter(|flag| bits & flag.bits() > 0);
    set.fold(TcpFlags::NONE, TcpFlags::with)
}

impl Frame {
    /// An ACK of data.
    pub(crate) fn ack(window: u16) -> Self {
        Self {
            v6: false,
            vlan: false,
            back: true,
            flags: ACK,
            window,
            seq: 9,
            number: 5,
            options: Vec::new(),
            payload: 0,
            host: 2,
        }
    }

    /// The same frame on a connection to another receiver.
    pub(crate) fn of_host(self, host: u8) -> Self {
        Self { host, ..self }
    }

    /// A SYN of the sender of data with this window scale, or none.
    pub(crate) fn syn(shift: Option<u8>) -> Self {
        let scale = shift.map(|shift| vec![1, 3, 3, shift]);
        let options = [vec![2, 4, 5, 180], scale.unwrap_or_default()].concat();
        Self {
            back: false,
            flags: SYN,
            options,
            ..Self::ack(64_000)
        }
    }

    /// The answer to it.
    pub(crate) fn syn_ack(shift: Option<u8>) -> Self {
        Self {
            back: true,
            flags: SYN | ACK,
            ..Self::syn(shift)
        }
    }

    /// The frame, with right checksums.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        if self.vlan {
            bytes.extend([0x81, 0, 0, 7]);
        }
        let mut options = self.options.clone();
        options.resize(options.len().next_multiple_of(4), 0);
        let length = 20 + options.len() + self.payload;
        let (near, far) = (1, self.host);
        let (from, to) = if self.back { (far, near) } else { (near, far) };
        let length = u16::try_from(length).expect("a short segment");
        let pseudo = if self.v6 {
            bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            bytes.extend(length.to_be_bytes());
            bytes.extend([6, 64]);
            let address = |host| [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host];
            let addresses = [address(from), address(to)].concat();
            bytes.extend(&addresses);
            let length = length.to_be_bytes().to_vec();
            [addresses, vec![0, 0], length, vec![0, 0, 0, 6]].concat()
        } else {
            bytes.extend([0x08, 0]);
            let mut header = vec![0x45, 0];
            header.extend((length + 20).to_be_bytes());
            header.extend([0, 1, 0x40, 0, 64, 6, 0, 0]);
            let addresses = [[10, 0, 0, from], [10, 0, 0, to]].concat();
            header.extend(&addresses);
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            bytes.extend(header);
            [addresses, vec![0, 6], length.to_be_bytes().to_vec()].concat()
        };
        let at = bytes.len();
        let (from, to) = if self.back {
            (80_u16, 4_000_u16)
        } else {
            (4_000, 80)
        };
        bytes.extend(from.to_be_bytes());
        bytes.extend(to.to_be_bytes());
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.number.to_be_bytes());
        let words = u8::try_from(5 + options.len() / 4).expect("fifteen words at most");
        bytes.extend([words << 4, self.flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.extend((0..self.payload).map(|byte| byte.to_le_bytes()[0]));
        let sum = checksum(&[pseudo, bytes[at..].to_vec()].concat());
        bytes[at + 16..at + 18].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
}

/// RFC 1071.
pub(crate) fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| {
        let second = pair.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([pair[0], second]))
    });
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).expect("folded")
}
