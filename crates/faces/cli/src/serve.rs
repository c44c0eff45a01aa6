//! `tailwater emulate serve` and `fetch`: transfers between the simulator's TCP and the kernel's.

use std::ffi::OsString;
use std::fmt::Write;

use protocol::{FetchedLine, Line, ServedLine, ServingLine};

use crate::args::emulate::{FetchArgs, ServeArgs};
use crate::args::text_or_json::TextOrJson;
use crate::output::{self, Stop};
use crate::privileged;

/// Serves until a signal or `emulate down`, and reports each connection when it is over.
pub(crate) fn serve(given: &[String], args: &ServeArgs) -> Result<(), Stop> {
    let mut words: Vec<OsString> = vec!["serve".into(), "--dir".into(), args.dir.clone().into()];
    let mut add = |name: &str, value: &str| words.extend([name.into(), value.into()]);
    add("--scheme", &args.scheme);
    add("--delay", &args.delay);
    add("--seed", &args.seed.to_string());
    add("--loss", &args.loss.unwrap_or(0.0).to_string());
    add("--reorder", &args.reorder.unwrap_or(0.0).to_string());
    for set in &args.sets {
        add("--set", set);
    }
    for setting in &args.sysctls {
        add("--sysctl", setting);
    }
    if let Some(rate) = &args.rate {
        add("--rate", rate);
    }
    if let Some(file) = &args.pcap {
        words.extend(["--pcap".into(), file.clone().into()]);
    }
    let mut failed = Ok(());
    let served = privileged::call(given, words, &mut |line| {
        let text = match line {
            Line::Serving(line) => serving(line),
            Line::Served(line) => served(line),
            _ => return,
        };
        if failed.is_ok() {
            failed = output::answer(&text);
        }
    });
    match served {
        // Ctrl-C is how it ends.
        Ok(_) | Err(Stop::Interrupted(_)) => failed,
        Err(stop) => Err(stop),
    }
}

/// Fetches once.
pub(crate) fn fetch(given: &[String], args: &FetchArgs) -> Result<(), Stop> {
    let mut words: Vec<OsString> = vec!["fetch".into()];
    let mut add = |word: String| words.push(word.into());
    add(args.from.to_string());
    add(args.size.to_string());
    add("--scheme".to_owned());
    add(args.scheme.clone());
    add("--rcvbuf".to_owned());
    add(args.rcvbuf.to_string());
    let lines = privileged::call(given, words, &mut |_| ())?;
    let answers = lines.iter().filter_map(|line| match line {
        Line::Fetched(found) => Some(match args.format {
            TextOrJson::Json => format!("{line}\n"),
            TextOrJson::Table => fetched(found),
        }),
        _ => None,
    });
    output::answer(&answers.collect::<String>())
}

fn serving(line: &ServingLine) -> String {
    let mut text = String::new();
    for place in &line.places {
        let (scheme, address) = (&place.scheme, &place.address);
        writeln!(text, "{scheme} serves at http://{address}/").expect(WRITTEN);
    }
    text + "`tailwater emulate exec h0 -- COMMAND` runs a program that reaches it, `tailwater emulate down` ends it\n"
}

fn served(line: &ServedLine) -> String {
    let took = line.took_ms;
    let took = took.map_or("no end".to_owned(), |took| format!("{took:.1} ms"));
    let mut text = format!(
        "{}: {}, {} bytes, {took}, {} sent again, {}, {}",
        line.scheme,
        line.status.as_deref().unwrap_or("no request"),
        line.bytes,
        line.retransmissions,
        answer::words::counted(
            usize::try_from(line.timeouts).unwrap_or(usize::MAX),
            "timeout"
        ),
        if line.orderly {
            "closed by both sides"
        } else {
            "not closed in order"
        },
    );
    if let Some(acks) = &line.low_acks {
        let (segments, low, all) = (line.low_priority, acks.low(), acks.acks);
        write!(
            text,
            "; {segments} segments at low priority, {low} of {all} ACKs taken for theirs"
        )
        .expect(WRITTEN);
    }
    text + "\n"
}

fn fetched(line: &FetchedLine) -> String {
    format!(
        "{} bytes from {} with {} in {:.1} ms, the first after {:.1} ms: every byte right\n",
        line.bytes, line.from, line.scheme, line.took_ms, line.first_ms,
    )
}

const WRITTEN: &str = "writing to a string succeeds";

#[cfg(test)]
mod tests {
    use protocol::LowAcks;

    use super::*;

    #[test]
    fn a_connection_is_told_in_a_line() {
        let line = ServedLine {
            scheme: "rc3".to_owned(),
            status: Some("200 OK".to_owned()),
            bytes: 96_423,
            took_ms: Some(21.34),
            orderly: true,
            retransmissions: 10,
            timeouts: 1,
            fast_recoveries: 0,
            low_priority: 57,
            low_acks: Some(LowAcks {
                acks: 67,
                advancing: 12,
                ahead: 36,
                duplicates: 0,
            }),
        };
        assert_eq!(
            served(&line),
            "rc3: 200 OK, 96423 bytes, 21.3 ms, 10 sent again, 1 timeout, closed by both sides; \
             57 segments at low priority, 36 of 67 ACKs taken for theirs\n"
        );
        let line = ServedLine {
            scheme: "newreno".to_owned(),
            status: None,
            bytes: 0,
            took_ms: None,
            orderly: false,
            retransmissions: 0,
            timeouts: 0,
            low_acks: None,
            ..line
        };
        assert_eq!(
            served(&line),
            "newreno: no request, 0 bytes, no end, 0 sent again, 0 timeouts, not closed in order\n"
        );
    }
}
