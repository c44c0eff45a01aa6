//! The packets of capture files: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), in either order of bytes.

use tables::flows::exact::SECOND;

/// A packet as it stands in a file.
pub(super) struct Captured<'a> {
    /// The header that it begins with, by its number in the registry of link types.
    pub(super) link: u32,
    /// Its time in picoseconds since the epoch. One kind of packets has none.
    pub(super) at: Option<u128>,
    /// The bytes that were kept.
    pub(super) bytes: &'a [u8],
    /// Its length on the wire in bytes.
    pub(super) length: u32,
}

/// Why reading stopped before the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stopped {
    /// The file ends in the middle of a packet or a block.
    Cut,
    /// It breaks the format, for this reason.
    Damaged(String),
}

/// Hands every packet of a file to `each`, up to the first mistake.
pub(super) fn packets<'a>(
    bytes: &'a [u8],
    mut each: impl FnMut(Captured<'a>),
) -> Result<(), Stopped> {
    if bytes.starts_with(&PCAPNG) {
        pcapng(bytes, &mut each)
    } else {
        pcap(bytes, &mut each)
    }
}

/// Whether a file that begins like this is a capture.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let begin = bytes.first_chunk();
    begin.is_some_and(|begin| *begin == PCAPNG || clock(*begin).is_some())
}

/// Numbers in the order of bytes of the machine that wrote the file, from one place to the next.
#[derive(Clone, Copy)]
struct Fields<'a> {
    rest: &'a [u8],
    is_big: bool,
}

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Stopped> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Stopped::Cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Stopped> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Stopped::Cut)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn short(&mut self) -> Result<u16, Stopped> {
        let two = self.array()?;
        Ok(if self.is_big {
            u16::from_be_bytes(two)
        } else {
            u16::from_le_bytes(two)
        })
    }

    fn number(&mut self) -> Result<u32, Stopped> {
        let four = self.array()?;
        Ok(if self.is_big {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        })
    }

    /// This many bytes of a packet.
    fn kept(&mut self, count: u32) -> Result<&'a [u8], Stopped> {
        self.bytes(usize::try_from(count).map_err(|_| Stopped::Cut)?)
    }
}

/// The order of bytes of a pcap file, and its tick in picoseconds (§4).
fn clock(magic: [u8; 4]) -> Option<(bool, u128)> {
    let is_big = magic[0] == 0xa1;
    let number = if is_big {
        u32::from_be_bytes(magic)
    } else {
        u32::from_le_bytes(magic)
    };
    match number {
        0xa1b2_c3d4 => Some((is_big, 1_000_000)),
        0xa1b2_3c4d => Some((is_big, 1_000)),
        _ => None,
    }
}

fn pcap<'a>(bytes: &'a [u8], each: &mut impl FnMut(Captured<'a>)) -> Result<(), Stopped> {
    let mut file = Fields {
        rest: bytes,
        is_big: false,
    };
    let unknown = || Stopped::Damaged("it does not begin as a capture".to_owned());
    let (is_big, tick) = clock(file.array()?).ok_or_else(unknown)?;
    file.is_big = is_big;
    // Version, time zone and accuracy, which nobody sets.
    file.bytes(12)?;
    let snap = file.number()?;
    // The upper half is about the checksums of frames.
    let link = file.number()? & 0xffff;
    while !file.rest.is_empty() {
        let (seconds, ticks) = (file.number()?, file.number()?);
        let (kept, length) = (file.number()?, file.number()?);
        if kept > snap.max(LONGEST) {
            let message = format!("a packet of {kept} bytes is longer than any");
            return Err(Stopped::Damaged(message));
        }
        each(Captured {
            link,
            at: Some(u128::from(seconds) * u128::from(SECOND) + u128::from(ticks) * tick),
            bytes: file.kept(kept)?,
            length,
        });
    }
    Ok(())
}

/// An interface of a section of a pcapng file, and its clock.
#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    tick: Tick,
    /// Seconds to add to each time.
    offset: i64,
}

#[derive(Clone, Copy)]
enum Tick {
    /// A tick is this many picoseconds.
    Of(u128),
    /// A picosecond is this many ticks.
    Parts(u128),
    /// A tick is a second divided by 2 to this power.
    Binary(u32),
}

impl Tick {
    /// §4.2, `if_tsresol`: a power of ten, or of two with the highest bit set.
    fn of(power: u8) -> Self {
        match power {
            power if power & 0x80 != 0 => Self::Binary(u32::from(power & 0x7f).min(63)),
            power @ 0..=12 => Self::Of(10_u128.pow(12 - u32::from(power))),
            power => Self::Parts(10_u128.pow(u32::from(power.min(30)) - 12)),
        }
    }

    fn picoseconds(self, ticks: u128) -> u128 {
        match self {
            Self::Of(each) => ticks * each,
            Self::Parts(parts) => ticks / parts,
            Self::Binary(power) => (ticks * u128::from(SECOND)) >> power,
        }
    }
}

impl Interface {
    /// §4.2; microseconds by default.
    fn read(mut block: Fields<'_>) -> Result<Self, Stopped> {
        let link = block.short()?.into();
        block.bytes(6)?;
        let mut interface = Self {
            link,
            tick: Tick::of(6),
            offset: 0,
        };
        while block.rest.len() >= 4 {
            let (code, length) = (block.short()?, block.short()?);
            let value = block.bytes(length.into())?;
            let padding = usize::from(length).next_multiple_of(4) - usize::from(length);
            block.bytes(padding.min(block.rest.len()))?;
            match (code, value) {
                (0, _) => break,
                (9, [power]) => interface.tick = Tick::of(*power),
                (14, value) => {
                    let eight = value.try_into().map_err(|_| inside("an interface"))?;
                    interface.offset = if block.is_big {
                        i64::from_be_bytes(eight)
                    } else {
                        i64::from_le_bytes(eight)
                    };
                }
                _ => {}
            }
        }
        Ok(interface)
    }

    /// A time before the epoch is taken as the epoch.
    fn picoseconds(self, ticks: u64) -> u128 {
        let at = self.tick.picoseconds(ticks.into());
        let offset = u128::from(self.offset.unsigned_abs()) * u128::from(SECOND);
        if self.offset < 0 {
            at.saturating_sub(offset)
        } else {
            at + offset
        }
    }
}

fn pcapng<'a>(bytes: &'a [u8], each: &mut impl FnMut(Captured<'a>)) -> Result<(), Stopped> {
    let mut file = Fields {
        rest: bytes,
        is_big: false,
    };
    let mut interfaces: Vec<Interface> = Vec::new();
    while !file.rest.is_empty() {
        if file.rest.starts_with(&PCAPNG) {
            let order = file.rest.get(8..12).ok_or(Stopped::Cut)?;
            file.is_big = match order {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                _ => {
                    return Err(Stopped::Damaged(
                        "a section has no order of bytes".to_owned(),
                    ));
                }
            };
        }
        let block = block(&mut file)?;
        match block {
            // Each section has its own interfaces.
            (SECTION, _) => interfaces.clear(),
            (INTERFACE, fields) => {
                let interface = Interface::read(fields);
                interfaces.push(interface.map_err(|_| inside("an interface"))?);
            }
            (kind @ (PACKET | OLD_PACKET), fields) => {
                let packet = packet(kind == OLD_PACKET, fields, &interfaces);
                each(packet.map_err(|stopped| match stopped {
                    Stopped::Cut => inside("a packet"),
                    damaged @ Stopped::Damaged(_) => damaged,
                })?);
            }
            (SIMPLE_PACKET, mut fields) => each(Captured {
                link: interfaces.first().map_or(0, |first| first.link),
                at: None,
                length: fields.number().map_err(|_| inside("a packet"))?,
                bytes: fields.rest,
            }),
            _ => {}
        }
    }
    Ok(())
}

/// The kind and the fields of the next block (§3.1).
fn block<'a>(file: &mut Fields<'a>) -> Result<(u32, Fields<'a>), Stopped> {
    let kind = file.number()?;
    let length = file.number()?;
    let fields = length.checked_sub(12).filter(|rest| rest % 4 == 0);
    let Some(fields) = fields else {
        let message = format!("a block has a length of {length} bytes");
        return Err(Stopped::Damaged(message));
    };
    let fields = Fields {
        rest: file.kept(fields)?,
        ..*file
    };
    if file.number()? != length {
        let message = "a block has two different lengths".to_owned();
        return Err(Stopped::Damaged(message));
    }
    Ok((kind, fields))
}

/// §4.3 or, of the kind that nobody should write any more, appendix A.
fn packet<'a>(
    is_old: bool,
    mut fields: Fields<'a>,
    interfaces: &[Interface],
) -> Result<Captured<'a>, Stopped> {
    let number = if is_old {
        let number = fields.short()?.into();
        // How many were lost before it.
        fields.short()?;
        number
    } else {
        fields.number()?
    };
    let interface = usize::try_from(number).ok();
    let interface = interface.and_then(|number| interfaces.get(number));
    let unknown = || Stopped::Damaged(format!("there is no interface {number}"));
    let interface = interface.ok_or_else(unknown)?;
    let (high, low) = (fields.number()?, fields.number()?);
    let (kept, length) = (fields.number()?, fields.number()?);
    Ok(Captured {
        link: interface.link,
        at: Some(interface.picoseconds(u64::from(high) << 32 | u64::from(low))),
        bytes: fields.kept(kept)?,
        length,
    })
}

fn inside(what: &str) -> Stopped {
    Stopped::Damaged(format!("{what} is longer than its block"))
}

/// The first bytes of pcapng files, in any order.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
// Kinds of blocks.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;
/// Bytes of the longest packet that libpcap writes or reads whatever a file says.
const LONGEST: u32 = 262_144;
