//! `tailwater emulate serve` and `fetch`: the simulator's TCP and the kernel's.

use std::ffi::OsString;
use std::fmt::Write;

use serde_json::Value;

use crate::args::emulate::{FetchArgs, ServeArgs};
use crate::args::told::Told;
use crate::output::{self, Stop};
use crate::privileged;

/// Serves until a signal or `emulate down`, and tells of each connection when it is over.
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
        let text = match line["type"].as_str() {
            Some("serving") => serving(line),
            Some("served") => served(line),
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
    let found = lines.iter().find(|line| line["type"] == "fetched");
    let found = found.unwrap_or(&Value::Null);
    match args.format {
        Told::Json => output::answer(&format!("{found}\n")),
        Told::Table => output::answer(&fetched(found)),
    }
}

fn serving(line: &Value) -> String {
    let mut text = String::new();
    for place in line["places"].as_array().into_iter().flatten() {
        let (scheme, address) = (word(place, "scheme"), word(place, "address"));
        writeln!(text, "{scheme} serves at http://{address}/").expect(WRITTEN);
    }
    text + "`tailwater emulate exec h0 -- COMMAND` runs a program that reaches it, `tailwater emulate down` ends it\n"
}

fn served(line: &Value) -> String {
    let number = |name: &str| line[name].as_u64().unwrap_or_default();
    let took = line["took_ms"].as_f64();
    let took = took.map_or("no end".to_owned(), |took| format!("{took:.1} ms"));
    let mut text = format!(
        "{}: {}, {} bytes, {took}, {} sent again, {}, {}",
        word(line, "scheme"),
        line["status"].as_str().unwrap_or("no request"),
        number("bytes"),
        number("retransmissions"),
        text::counted(count(line, "timeouts"), "timeout"),
        if line["orderly"] == true {
            "closed by both sides"
        } else {
            "not closed in order"
        },
    );
    let acks = &line["low_acks"];
    if acks.is_object() {
        let of = |name: &str| acks[name].as_u64().unwrap_or_default();
        let low = of("ahead") + of("duplicates");
        write!(
            text,
            "; {} segments at low priority, {low} of {} ACKs taken for theirs",
            number("low_priority"),
            of("acks")
        )
        .expect(WRITTEN);
    }
    text + "\n"
}

fn fetched(line: &Value) -> String {
    format!(
        "{} bytes from {} with {} in {:.1} ms, the first after {:.1} ms: every byte right\n",
        line["bytes"],
        word(line, "from"),
        word(line, "scheme"),
        line["took_ms"].as_f64().unwrap_or_default(),
        line["first_ms"].as_f64().unwrap_or_default(),
    )
}

fn count(line: &Value, name: &str) -> usize {
    usize::try_from(line[name].as_u64().unwrap_or_default()).unwrap_or(usize::MAX)
}

fn word<'a>(line: &'a Value, name: &str) -> &'a str {
    line[name].as_str().unwrap_or_default()
}

const WRITTEN: &str = "writing to a string succeeds";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_connection_is_told_in_a_line() {
        let line = json!({
            "scheme": "rc3", "status": "200 OK", "bytes": 96423, "took_ms": 21.34, "orderly": true,
            "retransmissions": 10, "timeouts": 1, "low_priority": 57,
            "low_acks": { "acks": 67, "advancing": 12, "ahead": 36, "duplicates": 0 },
        });
        assert_eq!(
            served(&line),
            "rc3: 200 OK, 96423 bytes, 21.3 ms, 10 sent again, 1 timeout, closed by both sides; \
             57 segments at low priority, 36 of 67 ACKs taken for theirs\n"
        );
        let line = json!({ "scheme": "newreno", "bytes": 0, "orderly": false });
        assert_eq!(
            served(&line),
            "newreno: no request, 0 bytes, no end, 0 sent again, 0 timeouts, not closed in order\n"
        );
    }
}
