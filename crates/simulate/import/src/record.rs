//! Fields of flow records, by the names in collectors' files.

use tables::flows::exact::{self, Decimal, SECOND};

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Start,
    End,
    Duration,
    Source,
    Target,
    SourcePort,
    TargetPort,
    Protocol,
    Packets,
    Bytes,
    BytesBack,
    PacketsBack,
}

impl Field {
    /// The meaning of a field with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let found = NAMES
            .iter()
            .find(|(_, names)| names.contains(&name.as_str()));
        found.map(|(field, _)| *field)
    }
}

/// The text of each field of a record.
pub(crate) struct Texts<'a>(pub(crate) [Option<&'a str>; NAMES.len()]);

impl<'a> Texts<'a> {
    pub(crate) fn of(&self, field: Field) -> Option<&'a str> {
        self.0[field as usize]
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    /// A whole number that is not negative. Counters in some versions have units, as in "1.2 M".
    pub(crate) fn count(&self, field: Field) -> Option<u64> {
        let text = self.of(field)?;
        let (text, factor) = match text.rsplit_once(' ') {
            Some((text, "K")) => (text, 1_000),
            Some((text, "M")) => (text, 1_000_000),
            Some((text, "G")) => (text, 1_000_000_000),
            Some((text, "T")) => (text, 1_000_000_000_000),
            _ => (text, 1),
        };
        let number = Decimal::parse(text.trim()).filter(|number| !number.negative)?;
        u64::try_from(number.times(factor)?.0).ok()
    }

    /// A time in picoseconds since 1970: a date, or a number whose size shows its unit.
    pub(crate) fn time(&self, field: Field) -> Option<u128> {
        let text = self.of(field)?;
        let Some(number) = Decimal::parse(text) else {
            return exact::date(text);
        };
        let (size, _) = number.times(1)?;
        // Numbers below 10^11 are seconds, up to the year 5138. The smaller units have larger numbers from 1973 on.
        let unit = if size < 100_000_000_000 {
            SECOND
        } else if size < 100_000_000_000_000 {
            SECOND / 1_000
        } else if size < 100_000_000_000_000_000 {
            SECOND / 1_000_000
        } else {
            SECOND / 1_000_000_000
        };
        Some(number.times(unit)?.0).filter(|_| !number.negative)
    }

    /// When the last packet was seen.
    pub(crate) fn end(&self, start: u128) -> u128 {
        let lasts = || {
            // Seconds, or hours, minutes and seconds with colons.
            let parts = self.of(Field::Duration)?.split(':');
            let add = |sum: u128, part| Some(sum * 60 + Decimal::parse(part)?.times(SECOND)?.0);
            Some(start + parts.into_iter().try_fold(0, add)?)
        };
        self.time(Field::End)
            .or_else(lasts)
            .unwrap_or(start)
            .max(start)
    }
}

/// Every field with its names in lower case: from nfdump's old and new formats, IPFIX, and other collectors.
pub(crate) const NAMES: [(Field, &[&str]); 12] = [
    (
        Field::Start,
        &[
            "ts",
            "tsr",
            "first",
            "firstseen",
            "t_first",
            "first_seen",
            "start",
            "stime",
            "start_time",
            "starttime",
            "first_switched",
            "flowstartmilliseconds",
            "flowstartmicroseconds",
            "flowstartnanoseconds",
            "flowstartseconds",
            "time_flow_start",
            "time_flow_start_ns",
            "timestamp_start",
            "date first seen",
        ],
    ),
    (
        Field::End,
        &[
            "te",
            "ter",
            "last",
            "lastseen",
            "t_last",
            "last_seen",
            "end",
            "etime",
            "end_time",
            "endtime",
            "last_switched",
            "flowendmilliseconds",
            "flowendmicroseconds",
            "flowendnanoseconds",
            "flowendseconds",
            "time_flow_end",
            "time_flow_end_ns",
            "timestamp_end",
            "date last seen",
        ],
    ),
    (Field::Duration, &["td", "duration", "dur"]),
    (
        Field::Source,
        &[
            "sa",
            "srcaddr",
            "src4_addr",
            "src6_addr",
            "src_addr",
            "sip",
            "srcip",
            "src_ip",
            "ip_src",
            "sourceipv4address",
            "sourceipv6address",
            "source",
            "src ip addr",
        ],
    ),
    (
        Field::Target,
        &[
            "da",
            "dstaddr",
            "dst4_addr",
            "dst6_addr",
            "dst_addr",
            "dip",
            "dstip",
            "dst_ip",
            "ip_dst",
            "destinationipv4address",
            "destinationipv6address",
            "destination",
            "dst ip addr",
        ],
    ),
    (
        Field::SourcePort,
        &[
            "sp",
            "srcport",
            "src_port",
            "sport",
            "port_src",
            "sourcetransportport",
        ],
    ),
    (
        Field::TargetPort,
        &[
            "dp",
            "dstport",
            "dst_port",
            "dport",
            "port_dst",
            "destinationtransportport",
        ],
    ),
    (
        Field::Protocol,
        &["pr", "proto", "protocol", "ip_proto", "protocolidentifier"],
    ),
    (
        Field::Packets,
        &[
            "ipkt",
            "pkt",
            "packets",
            "in_packets",
            "packetdeltacount",
            "packettotalcount",
            "dpkts",
            "in_pkts",
            "inpackets",
        ],
    ),
    (
        Field::Bytes,
        &[
            "ibyt",
            "byt",
            "bytes",
            "in_bytes",
            "inbytes",
            "octetdeltacount",
            "octettotalcount",
            "doctets",
        ],
    ),
    (
        Field::BytesBack,
        &["obyt", "out_bytes", "outbytes", "reverseoctetdeltacount"],
    ),
    (
        Field::PacketsBack,
        &[
            "opkt",
            "out_packets",
            "outpackets",
            "out_pkts",
            "reversepacketdeltacount",
        ],
    ),
];
