//! Flow records of collectors such as nfdump: text or JSON, with the fields of [`Field`].
//!
//! A record counts whole IP packets of one direction. A trace counts payload, so packet headers are subtracted; a
//! record with headers only, such as the acknowledgements of a transfer, is left out. A collector cuts a long flow into
//! several records: records that follow each other closely are joined to one flow.

use std::collections::BTreeMap;

use serde_json::Value;
use tables::flows::exact::SECOND;

use crate::hosts::{HostIndex, Hosts};
use crate::record::{Field, NAMES, Texts};
use crate::{FileKind, Imported, ImportedFlow};

/// Whether this is the header line of such a file.
pub(crate) fn is_header(line: &str) -> bool {
    let fields: Vec<Field> = line.split(separator(line)).filter_map(Field::of).collect();
    NEEDED.iter().all(|needed| fields.contains(needed))
}

fn separator(line: &str) -> char {
    [',', ';', '\t', '|']
        .into_iter()
        .find(|separator| line.contains(*separator))
        .unwrap_or(',')
}

/// Comma-separated values with a header.
pub(crate) fn csv(bytes: &[u8]) -> Result<Imported, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first = lines.find(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty());
    let separator = separator(&String::from_utf8_lossy(first.unwrap_or_default()));
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .delimiter(u8::try_from(separator).expect("an ASCII character"))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let header = reader
        .byte_headers()
        .map_err(|error| format!("line 1: {error}"))?;
    let names: Vec<String> = header
        .iter()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    let fields: Vec<Option<Field>> = names.iter().map(|name| Field::of(name)).collect();
    for needed in NEEDED {
        if !fields.contains(&Some(needed)) {
            let known = NAMES[needed as usize].1[..4].join(", ");
            return Err(format!(
                "line 1: no column has the {} of a flow (such as {known}); the columns are {}",
                word(needed),
                names.join(", ")
            ));
        }
    }
    let mut import = RecordImport::default();
    let mut record = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                return Err(format!("line {line}: {error}"));
            }
        }
        // After its records nfdump writes a summary.
        if record.get(0) == Some("Summary") {
            break;
        }
        if record.len() < names.len() {
            import.malformed += 1;
            continue;
        }
        let mut texts = Texts([None; NAMES.len()]);
        for (field, text) in fields.iter().zip(&record) {
            if let Some(field) = field {
                texts.0[*field as usize].get_or_insert(text);
            }
        }
        import.add(&texts);
    }
    Ok(import.into_imported(FileKind::Csv))
}

/// JSON objects: in a list, or one after the other.
pub(crate) fn json(bytes: &[u8]) -> Result<Imported, String> {
    let mut import = RecordImport::default();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        let value =
            value.map_err(|error| format!("line {}: this is not JSON: {error}", error.line()))?;
        let records = match value {
            Value::Array(records) => records,
            one => vec![one],
        };
        for record in &records {
            let Value::Object(record) = record else {
                import.malformed += 1;
                continue;
            };
            let texts: Vec<(Field, String)> = record
                .iter()
                .filter_map(|(name, value)| {
                    let text = match value {
                        Value::String(text) => text.clone(),
                        Value::Number(number) => number.to_string(),
                        _ => return None,
                    };
                    Some((Field::of(name)?, text))
                })
                .collect();
            let mut fields = Texts([None; NAMES.len()]);
            for (field, text) in &texts {
                fields.0[*field as usize].get_or_insert(text);
            }
            import.add(&fields);
        }
    }
    Ok(import.into_imported(FileKind::Json))
}

/// Source, target, and their ports.
type Ends = (HostIndex, HostIndex, u64, u64);

/// Records that were read, with counts of the others.
#[derive(Default)]
struct RecordImport {
    read: u64,
    malformed: u64,
    others: u64,
    headers: u64,
    themselves: u64,
    /// Whether any record counts packets, and whether any does not.
    counted: (bool, bool),
    /// Whether a start has a fraction of a second.
    fine: bool,
    hosts: Hosts,
    records: Vec<Record>,
}

struct Record {
    start: u128,
    end: u128,
    ends: Ends,
    size: u64,
}

impl RecordImport {
    fn add(&mut self, texts: &Texts<'_>) {
        self.read += 1;
        let needed = || {
            let start = texts.time(Field::Start)?;
            Some((
                start,
                texts.of(Field::Source)?,
                texts.of(Field::Target)?,
                texts.count(Field::Bytes)?,
            ))
        };
        let Some((start, source, target, bytes)) = needed() else {
            self.malformed += 1;
            return;
        };
        if texts
            .of(Field::Protocol)
            .is_some_and(|protocol| protocol != "6" && !protocol.eq_ignore_ascii_case("tcp"))
        {
            self.others += 1;
            return;
        }
        if source == target {
            self.themselves += 1;
            return;
        }
        self.fine |= start % u128::from(SECOND) != 0;
        let ports = (
            texts.count(Field::SourcePort).unwrap_or(0),
            texts.count(Field::TargetPort).unwrap_or(0),
        );
        let end = texts.end(start);
        let headers = if source.contains(':') {
            HEADERS_IPV6
        } else {
            HEADERS_IPV4
        };
        let (from, to) = (self.hosts.host(source), self.hosts.host(target));
        let mut record = |bytes: u64, packets: Option<u64>, ends: Ends| {
            match packets {
                Some(_) => self.counted.0 = true,
                None => self.counted.1 = true,
            }
            let packets = packets.unwrap_or(0);
            // Among packets without payload, a SYN has the longest header.
            if bytes <= packets.saturating_mul(headers + SYN_OPTIONS) {
                self.headers += 1;
                return;
            }
            let size = bytes.saturating_sub(packets.saturating_mul(headers)).max(1);
            self.records.push(Record {
                start,
                end,
                ends,
                size,
            });
        };
        record(
            bytes,
            texts.count(Field::Packets),
            (from, to, ports.0, ports.1),
        );
        if let Some(back) = texts.count(Field::BytesBack).filter(|back| *back > 0) {
            record(
                back,
                texts.count(Field::PacketsBack),
                (to, from, ports.1, ports.0),
            );
        }
    }

    fn into_imported(mut self, kind: FileKind) -> Imported {
        self.records.sort_by_key(|record| record.start);
        let mut open: BTreeMap<Ends, (usize, u128)> = BTreeMap::new();
        let mut flows: Vec<ImportedFlow> = Vec::new();
        let mut joined = 0_u64;
        for record in &self.records {
            let known = open.get_mut(&record.ends).filter(|_| record.ends.2 > 0);
            if let Some((flow, end)) = known
                && record.start <= *end + JOINED_WITHIN
            {
                flows[*flow].size += record.size;
                *end = record.end.max(*end);
                joined += 1;
                continue;
            }
            open.insert(record.ends, (flows.len(), record.end));
            flows.push(ImportedFlow {
                start: record.start,
                ..ImportedFlow::new((record.ends.0, record.ends.1), record.size)
            });
        }
        let mut notes = Vec::new();
        if self.counted.0 {
            notes.push(format!(
                "Sizes are payload: {HEADERS_IPV4} bytes of headers are subtracted for each IPv4 packet, {HEADERS_IPV6} \
                 for each IPv6 packet."
            ));
        }
        if self.counted.1 {
            notes.push("Records without a number of packets keep their headers.".to_owned());
        }
        if joined > 0 {
            notes.push(format!(
                "{joined} records go on with the flow of an earlier one, which had ended at most a second before."
            ));
        }
        if !self.fine && !flows.is_empty() {
            notes.push("Starts are whole seconds; `nfdump -o json` has milliseconds.".to_owned());
        }
        Imported {
            kind,
            read: self.read,
            what: "records",
            flows,
            hosts: self.hosts.into_names(),
            dated: true,
            skipped: vec![
                ("of other protocols than TCP", self.others),
                ("of headers alone, such as acknowledgements", self.headers),
                ("from a host to itself", self.themselves),
                ("without a start, two ends or a size", self.malformed),
            ],
            notes,
        }
    }
}

fn word(field: Field) -> &'static str {
    match field {
        Field::Start => "start",
        Field::Source => "source",
        Field::Target => "target",
        _ => "size",
    }
}

const NEEDED: [Field; 4] = [Field::Start, Field::Source, Field::Target, Field::Bytes];
/// Headers of IPv4 and TCP with timestamps (RFC 7323), as Linux sends them, and the same for IPv6.
const HEADERS_IPV4: u64 = 52;
const HEADERS_IPV6: u64 = 72;
/// Additional header bytes of a SYN: its options have 20 bytes instead of 12.
const SYN_OPTIONS: u64 = 8;
/// The longest pause between records of one flow. A collector cuts a flow that is active, not one that pauses.
const JOINED_WITHIN: u128 = SECOND as u128;

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(imported: &Imported) -> Vec<(u128, u64, &str, &str)> {
        let name = |host: HostIndex| imported.hosts[host.0 as usize].as_str();
        let flows = imported.flows.iter();
        let each = flows.map(|flow| {
            let millis = flow.start / 1_000_000_000;
            (millis, flow.size, name(flow.sender), name(flow.receiver))
        });
        each.collect()
    }

    fn skipped(imported: &Imported) -> Vec<u64> {
        imported.skipped.iter().map(|(_, count)| *count).collect()
    }

    const START: u128 = 1_700_000_000_000;

    #[test]
    fn the_old_header_of_nfdump_is_read() {
        let text = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt\n\
            2023-11-14 22:13:20,2023-11-14 22:13:21,1.5,10.0.0.2,10.0.0.1,80,4000,TCP,.AP.SF,0,0,10,10520,0,0\n\
            2023-11-14 22:13:20,2023-11-14 22:13:21,1.5,10.0.0.1,10.0.0.2,4000,80,TCP,.AP.SF,0,0,6,320,0,0\n\
            2023-11-14 22:13:22,2023-11-14 22:13:23,1.0,10.0.0.2,10.0.0.1,80,4000,TCP,.A...,0,0,1,1052,0,0\n\
            2023-11-14 22:13:20,2023-11-14 22:13:20,0.0,10.0.0.9,10.0.0.1,53,53,UDP,......,0,0,1,80,0,0\n\
            Summary\nflows,bytes,packets,avg_bps,avg_pps,avg_bpp\n4,1,2,3,4,5\n";
        let imported = csv(text.as_bytes()).unwrap();
        // 10 packets of 1,000 bytes, and one more in a continued record.
        assert_eq!(flows(&imported), [(START, 11_000, "10.0.0.2", "10.0.0.1")]);
        assert_eq!((imported.read, skipped(&imported)), (4, vec![1, 1, 0, 0]));
        assert!(
            imported
                .notes
                .iter()
                .any(|note| note.starts_with("1 records go on"))
        );
        assert!(
            imported
                .notes
                .iter()
                .any(|note| note.starts_with("Starts are whole seconds"))
        );
    }

    #[test]
    fn the_new_header_of_nfdump_is_read() {
        let text = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n\
            2023-11-14 22:13:20.125,00:00:04.500,TCP,10.0.0.2,80,10.0.0.1,4000,1,1052,1\n\
            2023-11-14 22:13:25.125,0.010,TCP,10.0.0.2,80,10.0.0.1,4000,1,1052,1\n\
            2023-11-14 22:13:25.125,0.010,6,fd00::2,80,fd00::1,4000,1,1072,1\n";
        let imported = csv(text.as_bytes()).unwrap();
        let expected = [
            (START + 125, 2000, "10.0.0.2", "10.0.0.1"),
            (START + 5125, 1000, "fd00::2", "fd00::1"),
        ];
        assert_eq!(flows(&imported), expected);
    }

    #[test]
    fn json_of_nfdump_and_others_is_read() {
        let record = |first: &str, sa: &str| {
            format!(
                "{{\"type\": \"FLOW\", {first}, \"in_packets\": 3, \"in_bytes\": 3156, \"proto\": 6, \"src_port\": 80, \
                 \"dst_port\": 9, \"{sa}\": \"10.0.0.2\", \"dst4_addr\": \"10.0.0.1\", \"label\": null}}"
            )
        };
        let expected = [(START + 500, 3000, "10.0.0.2", "10.0.0.1")];
        for first in [
            "\"first\": \"2023-11-14T22:13:20.500\", \"last\": \"2023-11-14T22:13:21.500\"",
            "\"t_first\": 1700000000500",
            "\"time_flow_start_ns\": 1700000000500000000",
            "\"start\": 1700000000.5",
        ] {
            let text = record(first, "src4_addr");
            let lines = json(text.as_bytes()).unwrap();
            assert_eq!(flows(&lines), expected, "{first}");
            assert_eq!(
                flows(&json(format!("[{text}]\n").as_bytes()).unwrap()),
                expected,
                "{first}"
            );
        }
        let error = json(b"{\"a\": 1}\n{oops}").unwrap_err();
        assert!(error.starts_with("line 2: this is not JSON"), "{error}");
        let without = json(record("\"first\": 5", "nobody").as_bytes()).unwrap();
        assert_eq!(skipped(&without), [0, 0, 0, 1]);
    }

    #[test]
    fn records_of_both_directions_are_two_flows() {
        let text = "ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt,opkt,obyt\n\
            2023-11-14 22:13:20.5,2023-11-14 22:13:21.5,1,10.0.0.2,10.0.0.1,80,4000,TCP,2,2104,1,152\n";
        let imported = csv(text.as_bytes()).unwrap();
        let expected = [
            (START + 500, 2000, "10.0.0.2", "10.0.0.1"),
            (START + 500, 100, "10.0.0.1", "10.0.0.2"),
        ];
        assert_eq!(flows(&imported), expected);
    }

    #[test]
    fn a_pause_makes_another_flow() {
        let text = "ts,td,sa,da,sp,dp,pr,pkt,byt\n\
            1700000000.0,1,a,b,80,4000,TCP,1,152\n1700000001.9,1,a,b,80,4000,TCP,1,152\n1700000004.0,1,a,b,80,4000,TCP,1,152\n";
        let imported = csv(text.as_bytes()).unwrap();
        assert_eq!(
            flows(&imported),
            [(START, 200, "a", "b"), (START + 4000, 100, "a", "b")]
        );
    }

    #[test]
    fn a_header_without_a_needed_column_is_named() {
        let error = csv(b"ts,sa,da,sp\n1,2,3,4\n").unwrap_err();
        assert!(
            error.starts_with("line 1: no column has the size of a flow (such as ibyt"),
            "{error}"
        );
    }
}
