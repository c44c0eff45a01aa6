//! Connection matrices of htsim: `Nodes N`, `Connections M`, and a line `A->B start PS size BYTES` for each. Starts
//! are in picoseconds; a size of 0 never ends; a connection with a trigger waits for another one.

use tables::flows::exact::Decimal;

use crate::hosts::Hosts;
use crate::{Flow, Imported, Kind};

/// Whether a file with this first line is one.
pub(crate) fn is_one(first: &str) -> bool {
    let mut words = first.split_whitespace();
    words.next() == Some("Nodes") && words.next().is_some_and(|word| word.parse::<u64>().is_ok())
}

pub(crate) fn read(text: &str, endless_size: Option<u64>) -> Result<Imported, String> {
    let (mut hosts, mut flows) = (Hosts::default(), Vec::new());
    let (mut read, mut nodes) = (0, None);
    let (mut endless, mut triggered, mut failures, mut themselves) = (0, 0, 0, 0);
    let mut said = None;
    for (number, line) in (1_usize..).zip(text.lines()) {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["trigger" | "Triggers" | "Failures", ..] => {}
            [word, ..] if word.starts_with('#') => {}
            ["Nodes", count, ..] => nodes = count.parse::<u64>().ok(),
            ["Connections", count, ..] => said = count.parse::<u64>().ok(),
            ["failure", ..] => failures += 1,
            [pair, ref rest @ ..] => {
                read += 1;
                let connection =
                    connection(pair, rest).map_err(|cause| format!("line {number}: {cause}"))?;
                let Connection { source, target, .. } = connection;
                let size = match connection.size {
                    0 => endless_size.unwrap_or(0),
                    size => size,
                };
                if let Some(most) = nodes.filter(|nodes| source.max(target) >= *nodes) {
                    return Err(format!(
                        "line {number}: there is no node {} among {most}, numbered from 0",
                        source.max(target)
                    ));
                }
                match connection.start {
                    None => triggered += 1,
                    Some(_) if size == 0 => endless += 1,
                    Some(_) if source == target => themselves += 1,
                    Some(start) => flows.push(Flow {
                        start,
                        open: None,
                        size,
                        sender: hosts.host(&source.to_string()),
                        receiver: hosts.host(&target.to_string()),
                        connection: None,
                    }),
                }
            }
        }
    }
    let mut notes = vec!["Hosts have the numbers of the file's nodes.".to_owned()];
    if let Some(said) = said.filter(|said| *said != read) {
        notes.push(format!(
            "The file says {said} connections, and there are {read}."
        ));
    }
    if failures > 0 {
        notes.push(format!(
            "{failures} failures of links are no part of a trace."
        ));
    }
    Ok(Imported {
        kind: Kind::Htsim,
        read,
        what: "connections",
        flows,
        hosts: hosts.into_names(),
        dated: false,
        skipped: vec![
            ("without an end, of size 0", endless),
            (
                "that wait for a trigger, which a trace cannot tell",
                triggered,
            ),
            ("from a host to itself", themselves),
        ],
        notes,
    })
}

struct Connection {
    source: u64,
    target: u64,
    /// `None`: a trigger starts it.
    start: Option<u128>,
    size: u64,
}

fn connection(pair: &str, rest: &[&str]) -> Result<Connection, String> {
    let ends = pair.split_once("->");
    let ends = ends.and_then(|(source, target)| Some((source.parse().ok()?, target.parse().ok()?)));
    let (source, target) = ends.ok_or_else(|| format!("a connection is A->B, not {pair:?}"))?;
    let (mut start, mut trigger, mut size) = (None, false, 0);
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            let text = words.next().copied().unwrap_or_default();
            let number = Decimal::parse(text).filter(|number| !number.negative);
            let number = number.and_then(|number| number.times(1));
            number
                .map(|(value, _)| value)
                .ok_or_else(|| format!("{word} is a number, not {text:?}"))
        };
        match *word {
            "start" => start = Some(value()?),
            "size" => {
                size = u64::try_from(value()?).map_err(|_| "the size has more than 64 bits")?;
            }
            "trigger" => {
                value()?;
                trigger = true;
            }
            "id" | "send_done_trigger" | "recv_done_trigger" | "prio" | "priority" => {
                value()?;
            }
            // Words of other branches of htsim that have no number, such as "addon".
            _ => {}
        }
    }
    Ok(Connection {
        source,
        target,
        start: if trigger {
            None
        } else {
            Some(start.unwrap_or(0))
        },
        size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_start_in_picoseconds_and_what_a_trace_cannot_tell_is_skipped() {
        let text = "# made up\nNodes 8\nConnections 5\nTriggers 1\n0->7 start 1000000 size 2000000\n\
                    1->7 id 1 start 0 size 5 send_done_trigger 1\n2->7 id 2 trigger 1 size 5\n3->7 start 0.000 size 0\n\
                    3->3 start 0 size 1\ntrigger id 1 oneshot\n";
        let imported = read(text, None).unwrap();
        let flows: Vec<_> = imported
            .flows
            .iter()
            .map(|flow| (flow.start, flow.size))
            .collect();
        assert_eq!(flows, [(1_000_000, 2_000_000), (0, 5)]);
        let skipped: Vec<u64> = imported.skipped.iter().map(|(_, count)| *count).collect();
        assert_eq!((imported.read, skipped), (5, vec![1, 1, 1]));
        assert_eq!(imported.notes.len(), 1);
        let sized = read(text, Some(7)).unwrap();
        assert_eq!(
            sized.flows.iter().map(|flow| flow.size).collect::<Vec<_>>(),
            [2_000_000, 5, 7]
        );
        for (text, cause) in [
            (
                "Nodes 2\nConnections 1\n0->2 start 0 size 1\n",
                "line 3: there is no node 2 among 2",
            ),
            ("Nodes 2\n0-1 start 0\n", "line 2: a connection is A->B"),
            (
                "Nodes 2\n0->1 start x\n",
                "line 2: start is a number, not \"x\"",
            ),
        ] {
            let error = read(text, None).unwrap_err();
            assert!(error.starts_with(cause), "{error}");
        }
    }
}
