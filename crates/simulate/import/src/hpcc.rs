//! Flow files of the HPCC simulator and its descendants: a count, and then a
//! line `SOURCE TARGET PRIORITY PORT BYTES START` for each flow, the start in seconds.

use tables::flows::exact::{Decimal, SECOND};

use crate::hosts::Hosts;
use crate::{Flow, Imported, Kind};

/// Whether a file with this first line may be one.
pub(crate) fn is_one(first: &str) -> bool {
    let mut words = first.split_whitespace();
    words.next().is_some_and(|word| word.parse::<u64>().is_ok()) && words.next().is_none()
}

pub(crate) fn read(text: &str) -> Result<Imported, String> {
    let mut lines = (1_usize..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let count = lines
        .next()
        .and_then(|(_, line)| line.trim().parse::<u64>().ok());
    let count = count.ok_or("line 1: a flow file begins with the number of its flows")?;
    let (mut hosts, mut flows) = (Hosts::default(), Vec::new());
    let (mut themselves, mut empty, mut beyond, mut read) = (0, 0, 0, 0);
    for (number, line) in lines {
        // Many files end with words about their own format.
        if !line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        if read == count {
            beyond += 1;
            continue;
        }
        read += 1;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [source, target, _, _, bytes, start, ..] = words[..] else {
            return Err(format!(
                "line {number}: {} words, and a flow has six: source, target, priority, port, bytes, start",
                words.len()
            ));
        };
        let number_of = |what: &str, word: &str| {
            let value = Decimal::parse(word).and_then(Decimal::whole);
            value.ok_or_else(|| format!("line {number}: {what} is a whole number, not {word:?}"))
        };
        let (source, target) = (
            number_of("the source", source)?,
            number_of("the target", target)?,
        );
        let size = number_of("the size", bytes)?;
        let seconds = Decimal::parse(start).filter(|start| !start.negative);
        let start = seconds.and_then(|start| start.times(SECOND));
        let (start, _) = start.ok_or_else(|| {
            format!("line {number}: the start is a number of seconds, not {start:?}")
        })?;
        if size == 0 {
            empty += 1;
        } else if source == target {
            themselves += 1;
        } else {
            flows.push(Flow {
                start,
                open: None,
                size,
                sender: hosts.host(&source.to_string()),
                receiver: hosts.host(&target.to_string()),
                connection: None,
            });
        }
    }
    let mut notes = vec!["Hosts have the numbers of the file's nodes.".to_owned()];
    if read < count {
        notes.push(format!(
            "The first line says {count} flows, and there are {read}."
        ));
    }
    Ok(Imported {
        kind: Kind::Hpcc,
        read,
        what: "flows",
        flows,
        hosts: hosts.into_names(),
        dated: false,
        skipped: vec![
            ("from a host to itself", themselves),
            ("of no bytes", empty),
            (
                "behind the number of flows that the first line says",
                beyond,
            ),
        ],
        notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_start_in_seconds_and_keep_their_hosts() {
        let imported = read(
            "3\n2 1 3 100 200000000 2\n3 1 3 100 1000 2.000000001\n4 4 3 100 1 2\n9 9 9 9 9 9\n",
        )
        .unwrap();
        let starts: Vec<u128> = imported.flows.iter().map(|flow| flow.start).collect();
        assert_eq!(starts, [2_000_000_000_000, 2_000_000_001_000]);
        assert_eq!(imported.hosts, ["2", "1", "3"]);
        let skipped: Vec<u64> = imported.skipped.iter().map(|(_, count)| *count).collect();
        assert_eq!((imported.read, skipped), (3, vec![1, 0, 1]));
        let short =
            read("5\n2 1 3 100 200000000 2\n\nFirst line: # of flows\nsrc0 dst0 3\n").unwrap();
        assert!(short.notes[1].contains("says 5 flows, and there are 1"));
        for (text, cause) in [
            ("1\n2 1 3 100 5\n", "line 2: 5 words"),
            (
                "1\n2 1 3 100 x 2\n",
                "line 2: the size is a whole number, not \"x\"",
            ),
            (
                "1\n2 1 3 100 5 -2\n",
                "line 2: the start is a number of seconds",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(cause), "{error}");
        }
    }
}
