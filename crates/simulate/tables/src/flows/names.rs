//! Hosts by their numbers, or by names that are numbered here.

use std::collections::BTreeMap;
use std::net::IpAddr;

use base::HostId;
use base::Sort as _;

use super::number::Decimal;
use super::reading::HostNames;

/// The names and numbers of a trace's hosts.
#[derive(Clone, Debug, Default)]
pub(super) struct HostTable {
    kind: Kind,
    numbers: BTreeMap<String, u32>,
    /// Names in the order of their first appearance.
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// The first row will tell.
    #[default]
    Open,
    Numbers,
    /// Every new name gets the next number.
    Appearance,
    /// Every name must be in a given table.
    Given,
}

impl HostTable {
    /// The table for `names`; `text` is the content of its file.
    pub(super) fn new(names: &HostNames, text: Option<&str>) -> Result<Self, String> {
        match (names, text) {
            (HostNames::File(path), Some(text)) => Self::given(path, text),
            (HostNames::Appearance, _) => Ok(Self {
                kind: Kind::Appearance,
                ..Self::default()
            }),
            _ => Ok(Self::default()),
        }
    }

    /// Reads a table with a line for each name. A name without a number gets the number after that of the line above.
    fn given(path: &str, text: &str) -> Result<Self, String> {
        let mut table = Self {
            kind: Kind::Given,
            ..Self::default()
        };
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut next = 0_u32;
        for (place, record) in reader.records().enumerate() {
            let record =
                record.map_err(|_| format!("{path}: no line of comma-separated values"))?;
            let line = record.position().map_or(0, csv::Position::line);
            let (name, number) = (record.get(0).unwrap_or_default(), record.get(1));
            if place == 0 && HEADERS.contains(&name) {
                continue;
            }
            let number = match number.filter(|number| !number.is_empty()) {
                None => next,
                Some(text) => host_number(text).ok_or_else(|| {
                    format!("{path}, line {line}: {text:?} is no number of a host")
                })?,
            };
            next = number + 1;
            if name.is_empty() {
                return Err(format!("{path}, line {line}: a host has no name"));
            }
            if table.numbers.insert(name.to_owned(), number).is_some() {
                return Err(format!(
                    "{path}, line {line}: {name} stands further up, too"
                ));
            }
        }
        if table.numbers.is_empty() {
            return Err(format!("{path}: there is no host in it"));
        }
        Ok(table)
    }

    /// The numbers of sender and receiver, each given as the name of its column and its text.
    pub(super) fn pair(&mut self, ends: [(&str, &str); 2]) -> Result<(HostId, HostId), String> {
        if let Some((column, _)) = ends.iter().find(|(_, text)| text.is_empty()) {
            return Err(format!(
                "{column} is empty: a flow goes from one host to another"
            ));
        }
        if self.kind == Kind::Open {
            let named = ends.iter().any(|(_, text)| is_name(text));
            self.kind = if named {
                Kind::Appearance
            } else {
                Kind::Numbers
            };
        }
        let [sender, receiver] = ends;
        let pair = (self.host(sender)?, self.host(receiver)?);
        if pair.0 == pair.1 {
            let same = if sender.1 == receiver.1 {
                ""
            } else {
                ", the number of both"
            };
            return Err(format!("host {} would send to itself{same}", pair.0.0));
        }
        Ok(pair)
    }

    fn host(&mut self, (column, text): (&str, &str)) -> Result<HostId, String> {
        let number = match self.kind {
            Kind::Open | Kind::Numbers => {
                host_number(text).ok_or_else(|| match Decimal::parse(text) {
                    Some(_) => format!(
                        "{column} is the number of a host, from 0 to {}, not {text:?}",
                        u32::MAX - 1
                    ),
                    None => format!(
                        "{column} is the number of a host, as in the rows above, not {text:?}; \
                     workload.host_names = \"appearance\" takes all for names"
                    ),
                })?
            }
            Kind::Given => *self.numbers.get(text).ok_or_else(|| {
                format!(
                    "{column} is {text:?}, which the table of workload.host_names does not name"
                )
            })?,
            Kind::Appearance => {
                if let Some(number) = self.numbers.get(text) {
                    return Ok(HostId(*number));
                }
                let next = u32::try_from(self.names.len()).expect("fewer hosts than flows");
                self.names.push(text.to_owned());
                self.numbers.insert(text.to_owned(), next);
                next
            }
        };
        Ok(HostId(number))
    }

    /// The names with their numbers, in ascending order; empty if the file has numbers.
    pub(super) fn table(&self) -> Vec<(u32, String)> {
        let mut table: Vec<(u32, String)> = match self.kind {
            Kind::Given => self
                .numbers
                .iter()
                .map(|(name, number)| (*number, name.clone()))
                .collect(),
            _ => (0..).zip(self.names.iter().cloned()).collect(),
        };
        table.order_unstable();
        table
    }

    /// A sentence that lists the numbers of hosts, if hosts have names.
    pub(super) fn note(&self) -> Option<String> {
        let table = self.table();
        let how = match self.kind {
            Kind::Given => "by workload.host_names",
            _ => "in the order of their first appearance",
        };
        let (number, name) = table.first()?;
        let (last, last_name) = table.last()?;
        Some(format!(
            "{} hosts have names and are numbered {how}: {name} is host {number}, {last_name} host {last}",
            table.len()
        ))
    }
}

fn host_number(text: &str) -> Option<u32> {
    let number = Decimal::parse(text).and_then(Decimal::whole)?;
    u32::try_from(number)
        .ok()
        .filter(|number| *number < u32::MAX)
}

/// Whether `text` is an address or another name rather than a number.
fn is_name(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || Decimal::parse(text).is_none()
}

/// First words of a header line in a table of hosts.
const HEADERS: [&str; 4] = ["name", "host", "address", "ip"];
