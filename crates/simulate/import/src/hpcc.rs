//! Flow files of the HPCC simulator and its descendants, such as `PowerTCP`, ABM and `SimAI`: a count, and then a line
//! `SOURCE TARGET PRIORITY PORT BYTES START` for each flow, with the start in seconds.

use tables::flows::exact::SECOND;

use crate::hosts::Hosts;
use crate::words::{Word, Words};
use crate::{FileKind, ImportOptions, Imported, ImportedFlow};

/// Whether a file with this first line may be one.
pub(crate) fn is_one(first: &str) -> bool {
    let mut words = first.split_whitespace();
    words.next().is_some_and(|word| word.parse::<u64>().is_ok()) && words.next().is_none()
}

pub(crate) fn read(text: &str, options: &ImportOptions) -> Result<Imported, String> {
    let mut lines = (1_usize..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let (number, first) = lines.next().unwrap_or((1, ""));
    let count = Words::of(number, first)
        .need("the number of flows, with which a flow file begins,")?
        .whole("the number of flows")?;
    let (mut hosts, mut flows) = (Hosts::default(), Vec::new());
    let (mut themselves, mut empty, mut beyond, mut read) = (0, 0, 0, 0);
    let mut end = (number, first);
    for (number, line) in lines {
        // Many files end with an explanation of their format.
        if is_about_the_format(line) {
            break;
        }
        if read == count {
            beyond += 1;
            continue;
        }
        read += 1;
        end = (number, line);
        let mut words = Words::of(number, line);
        let mut need = |what: &str| {
            words.need(&format!(
                "{what} (a flow has source, target, priority, port, bytes and start)"
            ))
        };
        let source = need("the source")?.whole("the source")?;
        let target = need("the target")?.whole("the target")?;
        need("the priority")?.whole("the priority")?;
        need("the port")?.whole("the port")?;
        let size = need("the size")?.whole("the size")?;
        let start = need("the start")?.times("the start in seconds", SECOND)?;
        if let Some(more) = words.next() {
            return Err(more.wrong(format!(
                "the start is the last value of a flow; remove {:?}",
                more.text
            )));
        }
        if size == 0 {
            empty += 1;
        } else if source == target {
            themselves += 1;
        } else {
            let ends = (
                hosts.host(&source.to_string()),
                hosts.host(&target.to_string()),
            );
            flows.push(ImportedFlow {
                start,
                ..ImportedFlow::new(ends, size)
            });
        }
    }
    if read < count && !options.lenient {
        return Err(ends_early((read, count), end, number));
    }
    let mut notes = vec!["Host numbers are the file's node numbers.".to_owned()];
    if read < count {
        notes.push(format!(
            "The first line announces {count} flows, but the file has {read}."
        ));
    }
    Ok(Imported {
        kind: FileKind::Hpcc,
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

/// The error of a file that ends with the line `end` after fewer flows than the line `first` announces.
fn ends_early((read, count): (u64, u64), end: (usize, &str), first: usize) -> String {
    format!(
        "line {}, column {}: the flows end after {read} of {count}: the rest is missing, or correct the number in line \
         {first}; lenient import takes those that are there",
        end.0,
        end.1.trim_end().chars().count() + 1
    )
}

/// Whether a line explains the format instead of giving a flow: it does not begin with a number, and fewer than three
/// of its other words are numbers.
fn is_about_the_format(line: &str) -> bool {
    let is_number = |word: Word<'_>| word.text.parse::<f64>().is_ok();
    let mut numbers = Words::of(1, line).map(is_number);
    let begins = numbers.next() == Some(true);
    !begins && numbers.filter(|is_one| *is_one).count() < 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Imported, String> {
        super::read(text, &ImportOptions::default())
    }

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
        let about = "\nFirst line: # of flows\nsrc0 dst0 3 dst_port0 size0 start_time0\n...\nPlease order the flows!\n";
        let short = format!("5\n2 1 3 100 200000000 2\n{about}");
        let error = read(&short).unwrap_err();
        let cause = "line 2, column 22: the flows end after 1 of 5: the rest is missing";
        assert!(error.starts_with(cause), "{error}");
        let lenient = ImportOptions {
            lenient: true,
            ..ImportOptions::default()
        };
        let short = super::read(&short, &lenient).unwrap();
        assert!(short.notes[1].contains("announces 5 flows, but the file has 1"));
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_column() {
        for (text, cause) in [
            (
                "x\n2 1 3 100 5 2\n",
                "line 1, column 1: the number of flows is a whole number",
            ),
            (
                "1\n2 1 3 100 5\n",
                "line 2, column 12: the start (a flow has source, target",
            ),
            (
                "1\n2 1 3 100 x 2\n",
                "line 2, column 11: the size is a whole number, not \"x\"",
            ),
            (
                "1\nx 1 3 100 5 2\n",
                "line 2, column 1: the source is a whole number, not \"x\"",
            ),
            (
                "1\n2 1 3 100 5 -2\n",
                "line 2, column 13: the start in seconds is a number from 0",
            ),
            (
                "1\n2 1 3 100 5 2 7\n",
                "line 2, column 15: the start is the last value of a flow",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(cause), "{error}");
        }
    }
}
