//! The segments of a script: `[ect0] P. 1:1001(1000) ack 1 win 257 <nop,nop,TS val 2 ecr 1>`.

use base::{Ecn, TcpFlags};

/// A segment in a script. Sequence numbers are relative to the SYNs of both sides.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScriptSegment {
    /// The ECN field; `None`: any.
    pub ecn: Option<Ecn>,
    /// Flags.
    pub flags: TcpFlags,
    /// First number.
    pub seq: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// The acknowledgement number.
    pub ack: Option<u32>,
    /// The window field on the wire.
    pub window: Option<u16>,
    /// `None`: `<...>`, any.
    pub options: Option<OptionList>,
}

/// The options of a segment, in any order on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionList {
    /// Segment size of a SYN.
    pub mss: Option<u16>,
    /// Shift of windows of a SYN.
    pub window_scale: Option<u8>,
    /// Whether a SYN permits SACK.
    pub sack_permitted: bool,
    /// Value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// Ranges reported.
    pub sack: Vec<(u32, u32)>,
}

impl ScriptSegment {
    /// Parses the text after `<` or `>`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (text, options) = match text.split_once('<') {
            Some((head, list)) => {
                let list = list.trim_end().strip_suffix('>');
                (head, OptionList::parse(list.ok_or("options do not end")?)?)
            }
            None => (text, Some(OptionList::default())),
        };
        let mut words = text.split_whitespace().peekable();
        let mut segment = Self {
            options,
            ..Self::default()
        };
        if let Some(ecn) = words.next_if(|word| word.starts_with('[')) {
            segment.ecn = Some(match ecn {
                "[noecn]" => Ecn::NotCapable,
                "[ect0]" | "[ect1]" => Ecn::Capable,
                "[ce]" => Ecn::Marked,
                _ => return Err(format!("{ecn} is no ECN field")),
            });
        }
        segment.flags = flags(words.next().ok_or("a segment has flags")?)?;
        let (seq, payload) = numbers(words.next().ok_or("a segment has numbers")?)?;
        (segment.seq, segment.payload) = (seq, payload);
        while let Some(word) = words.next() {
            let value = words.next().unwrap_or_default();
            let number = || format!("{word} {value:?} is no number");
            match word {
                "ack" => segment.ack = Some(value.parse().map_err(|_| number())?),
                "win" => segment.window = Some(value.parse().map_err(|_| number())?),
                _ => return Err(format!("{word} is not read")),
            }
        }
        Ok(segment)
    }
}

impl OptionList {
    fn parse(list: &str) -> Result<Option<Self>, String> {
        if list.trim() == "..." {
            return Ok(None);
        }
        let mut found = Self::default();
        for option in list.split(',').map(str::trim) {
            let words: Vec<&str> = option.split_whitespace().collect();
            match words.as_slice() {
                [] | ["nop" | "eol"] => {}
                ["mss", size] => found.mss = Some(number(size)?),
                ["wscale", shift] => found.window_scale = Some(number(shift)?),
                ["sackOK"] => found.sack_permitted = true,
                ["TS", "val", value, "ecr", echo] => {
                    found.timestamps = Some((number(value)?, number(echo)?));
                }
                ["sack", blocks @ ..] => {
                    for block in blocks {
                        let (start, end) = block.split_once(':').ok_or("a block is a range")?;
                        found.sack.push((number(start)?, number(end)?));
                    }
                }
                _ => return Err(format!("the option {option:?} is not read")),
            }
        }
        Ok(Some(found))
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn flags(word: &str) -> Result<TcpFlags, String> {
    let mut flags = TcpFlags::NONE;
    for letter in word.chars() {
        let flag = match letter {
            'S' => TcpFlags::SYN,
            'F' => TcpFlags::FIN,
            'R' => TcpFlags::RST,
            'P' => TcpFlags::PSH,
            '.' => TcpFlags::ACK,
            'E' => TcpFlags::ECE,
            'W' => TcpFlags::CWR,
            '-' => TcpFlags::NONE,
            _ => return Err(format!("{letter} is no flag")),
        };
        flags = flags.with(flag);
    }
    Ok(flags)
}

/// `1:1001(1000)`: the first number and the bytes of payload.
fn numbers(word: &str) -> Result<(u32, u32), String> {
    let parts = word
        .strip_suffix(')')
        .and_then(|word| word.split_once(':'))
        .and_then(|(start, rest)| Some((start, rest.split_once('(')?)));
    let (start, (end, length)) = parts.ok_or_else(|| format!("{word} are no numbers"))?;
    let (start, end, length): (u32, u32, u32) = (number(start)?, number(end)?, number(length)?);
    if end.wrapping_sub(start) != length {
        return Err(format!("{word} has another length"));
    }
    Ok((start, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_flags_numbers_and_options() {
        let text = "[ce] PE. 1:1001(1000) ack 5 win 257 <nop,nop,TS val 2 ecr 1,nop,sack 3:4 7:9>";
        let segment = ScriptSegment::parse(text).unwrap();
        let flags = TcpFlags::PSH.with(TcpFlags::ECE).with(TcpFlags::ACK);
        assert_eq!((segment.ecn, segment.flags), (Some(Ecn::Marked), flags));
        assert_eq!(
            (segment.seq, segment.payload, segment.ack, segment.window),
            (1, 1000, Some(5), Some(257))
        );
        let options = segment.options.unwrap();
        assert_eq!(options.timestamps, Some((2, 1)));
        assert_eq!(options.sack, [(3, 4), (7, 9)]);
        let syn = ScriptSegment::parse("S 0:0(0) <mss 1000,sackOK,nop,nop,nop,wscale 7>").unwrap();
        let options = syn.options.unwrap();
        assert_eq!((options.mss, options.window_scale), (Some(1000), Some(7)));
        assert!(options.sack_permitted);
    }

    #[test]
    fn any_options_are_three_dots() {
        assert_eq!(
            ScriptSegment::parse("S 0:0(0) <...>").unwrap().options,
            None
        );
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        for text in [
            "",
            "S",
            "X 0:0(0)",
            "S 0:1(0)",
            "S 0-0(0)",
            ". 1:1(0) ack x",
            ". 1:1(0) urg 1",
            ". 1:1(0) <FO x>",
            ". 1:1(0) <nop",
            "[far] . 1:1(0)",
        ] {
            assert!(ScriptSegment::parse(text).is_err(), "{text}");
        }
    }
}
