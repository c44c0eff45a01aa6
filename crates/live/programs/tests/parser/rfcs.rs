//! A parser of frames that follows the documents: Ethernet and its tags (IEEE 802.1Q), IPv4 (RFC 791), IPv6 (RFC 8200),
//! TCP (RFC 9293) and its options. Lengths and versions in the headers of IP are not checked: hosts drop packets in
//! which these are wrong, whatever their windows are.

/// The reason why a frame passes unchanged, by the numbers of `enum reason` of `bpf/packet.h`, or that it is a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Short = 1,
    OtherLink = 2,
    Fragment = 3,
    Extension = 4,
    Other = 5,
    Segment = 16,
}

impl Verdict {
    pub(crate) const ALL: [Self; 6] = [
        Self::Short,
        Self::OtherLink,
        Self::Fragment,
        Self::Extension,
        Self::Other,
        Self::Segment,
    ];
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) from: [u8; 16],
    pub(crate) to: [u8; 16],
    pub(crate) ports: [u16; 2],
    /// Where TCP's header begins and ends.
    pub(crate) tcp: usize,
    pub(crate) end_of_options: usize,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) window: u16,
    pub(crate) flags: u8,
    /// No options but timestamps and SACK blocks laid out as in RFC 7323, appendix A, and RFC 2018, section 3.
    pub(crate) is_plain: bool,
    pub(crate) options: Options,
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Options {
    /// An option is cut off, or has an impossible length.
    Broken,
    Whole {
        scale: Option<u8>,
        /// There is an option that signs the header, or MPTCP.
        foreign: bool,
    },
}

/// The result for a frame.
pub(crate) fn look_at(frame: &[u8]) -> (Verdict, Option<Segment>) {
    match segment(frame) {
        Ok(segment) => (Verdict::Segment, Some(segment)),
        Err(verdict) => (verdict, None),
    }
}

fn segment(frame: &[u8]) -> Result<Segment, Verdict> {
    let link = frame.get(..14).ok_or(Verdict::Short)?;
    let (kind, network) = match link[12..] {
        [0x81, 0x00] | [0x88, 0xa8] => {
            let tag = frame.get(14..18).ok_or(Verdict::Short)?;
            ([tag[2], tag[3]], 18)
        }
        _ => ([link[12], link[13]], 14),
    };
    let (from, to, tcp) = match kind {
        [0x08, 0x00] => version_4(frame, network)?,
        [0x86, 0xdd] => version_6(frame, network)?,
        _ => return Err(Verdict::OtherLink),
    };
    let header = frame.get(tcp..tcp + 20).ok_or(Verdict::Short)?;
    let length = usize::from(header[12] >> 4) * 4;
    if length < 20 {
        return Err(Verdict::Short);
    }
    let options = frame.get(tcp + 20..tcp + length).ok_or(Verdict::Short)?;
    let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    Ok(Segment {
        from,
        to,
        ports: [number(0), number(2)],
        tcp,
        end_of_options: tcp + length,
        seq: u32::from_be_bytes([4, 5, 6, 7].map(|at| header[at])),
        ack: u32::from_be_bytes([8, 9, 10, 11].map(|at| header[at])),
        window: number(14),
        flags: header[13],
        is_plain: match options {
            [1, 1, 8, 10, rest @ ..] if rest.len() >= 8 => is_sack(&rest[8..]),
            options => is_sack(options),
        },
        options: read(options),
    })
}

/// Whether the options are SACK blocks alone, or none.
fn is_sack(options: &[u8]) -> bool {
    match options {
        [] => true,
        [1, 1, 5, length, rest @ ..] => usize::from(*length) == rest.len() + 2,
        _ => false,
    }
}

/// Both addresses, and the offset of TCP.
type Network = ([u8; 16], [u8; 16], usize);

fn version_4(frame: &[u8], at: usize) -> Result<Network, Verdict> {
    let header = frame.get(at..at + 20).ok_or(Verdict::Short)?;
    if header[0] != 4 << 4 | 5 {
        return Err(Verdict::Extension);
    }
    let fragment = u16::from_be_bytes([header[6], header[7]]);
    let (more_follow, offset) = (fragment >> 13 & 1, fragment % (1 << 13));
    if more_follow == 1 || offset > 0 {
        return Err(Verdict::Fragment);
    }
    if header[9] != TCP {
        return Err(Verdict::Other);
    }
    let address =
        |at: usize| std::array::from_fn(|byte| if byte < 4 { header[at + byte] } else { 0 });
    Ok((address(12), address(16), at + 20))
}

fn version_6(frame: &[u8], at: usize) -> Result<Network, Verdict> {
    let header = frame.get(at..at + 40).ok_or(Verdict::Short)?;
    let address = |at: usize| std::array::from_fn(|byte| header[at + byte]);
    match header[6] {
        TCP => Ok((address(8), address(24), at + 40)),
        next if EXTENSIONS.contains(&next) => Err(Verdict::Extension),
        _ => Err(Verdict::Other),
    }
}

/// RFC 9293 3.1, MUST-64 and MUST-68.
fn read(mut rest: &[u8]) -> Options {
    let (mut scale, mut foreign) = (None, false);
    loop {
        let length = match rest {
            [] | [0, ..] => return Options::Whole { scale, foreign },
            [1, ..] => 1,
            [_, length, ..] if *length >= 2 => usize::from(*length),
            _ => return Options::Broken,
        };
        let Some((option, behind)) = rest.split_at_checked(length) else {
            return Options::Broken;
        };
        match option {
            // RFC 7323 2.2 and 2.3.
            [3, 3, shift] => scale = Some(*shift.min(&14)),
            [3, ..] => return Options::Broken,
            // MD5 (RFC 2385), AO (RFC 5925), MPTCP (RFC 8684).
            [19 | 29 | 30, ..] => foreign = true,
            _ => {}
        }
        rest = behind;
    }
}

/// The number of the protocol.
const TCP: u8 = 6;
/// RFC 8200 4: hop-by-hop options, routing, fragment, authentication, destination options; and mobility, host identity
/// and shim6. ESP hides what follows it.
const EXTENSIONS: [u8; 8] = [0, 43, 44, 51, 60, 135, 139, 140];
