//! The page: ours beside Linux's, with the kernel's counters.

use serde::Deserialize;

use crate::answer::{Answer, COUNTERS};
use crate::judge::{Side, Verdict, short};
use crate::list::{Kind, Scenario, number};

/// A scenario with everything that the page tells of it.
pub struct Row {
    /// The scenario.
    pub scenario: Scenario,
    /// Both sides.
    pub verdict: Verdict,
    /// The kernel's answers.
    pub theirs: Vec<Answer>,
    /// The simulator's.
    pub ours: Vec<Answer>,
}

/// Why scenarios differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasons {
    /// Each with the scenarios that it is about.
    pub reason: Vec<Reason>,
}

/// The counter that differs, and the mechanism suspected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// What it is.
    pub says: String,
    /// Names of scenarios.
    pub scenarios: Vec<String>,
}

/// The page, of a kernel called `release`.
pub fn page(rows: &[Row], release: &str, reasons: &Reasons) -> String {
    let mut parts = vec![HEAD.replace("RELEASE", release), summary(rows)];
    parts.push(INCASTS.to_owned());
    parts.extend(rows.iter().filter(|row| row.scenario.is_incast()).map(line));
    parts.push(STREAMS.to_owned());
    parts.extend(
        rows.iter()
            .filter(|row| !row.scenario.is_incast())
            .map(line),
    );
    parts.push(collapse(rows));
    parts.push(DIFFERENT.to_owned());
    parts.push(differences(rows, reasons));
    parts.push(counters(rows));
    parts.concat()
}

/// How many scenarios agree, with and without timers.
fn summary(rows: &[Row]) -> String {
    let line = |what: &str, timers: bool| {
        let of = |word: &str| {
            let own = rows.iter().filter(|row| row.verdict.timers == timers);
            own.filter(|row| row.verdict.word() == word).count()
        };
        format!(
            "| {what} | {} | {} | {} |\n",
            of("agrees"),
            of("differs"),
            of("open")
        )
    };
    let boots = rows.iter().map(|row| row.theirs.len()).max();
    let timers = rows
        .iter()
        .filter(|row| row.verdict.timers && row.scenario.is_incast());
    let same = |row: &&Row| {
        let mut checks = row.verdict.checks.iter();
        checks.all(|check| check.agrees || !TIMES.contains(&check.what))
    };
    let (incasts, same) = (timers.clone().count(), timers.filter(same).count());
    [
        format!(
            "\nThe kernel has booted {} times for a scenario at most, and as many seeds are simulated. Fewer than seven \
             boots and seeds cannot be told apart at 0.001: such a scenario stays open, unless another comparison \
             differs.\n",
            boots.unwrap_or(0)
        ),
        "\n| scenarios | agree | differ | open |\n|---|---|---|---|\n".to_owned(),
        line("no timer expires in the kernel", false),
        line("a timer expires", true),
        format!(
            "\nOf the {incasts} incasts in which a timer expires, {same} do not differ in round times and their median.\n"
        ),
    ]
    .concat()
}

/// Comparisons of round times.
const TIMES: [&str; 2] = ["round times", "median"];

/// The line of a scenario in its table.
pub fn line(row: &Row) -> String {
    let cells = if row.scenario.is_incast() {
        incast(row)
    } else {
        stream(row)
    };
    let verdict = row.verdict.word();
    format!(
        "| {} | {} | {verdict} |\n",
        row.scenario.name,
        cells.join(" | ")
    )
}

fn incast(row: &Row) -> Vec<String> {
    let (theirs, ours) = (&row.verdict.theirs, &row.verdict.ours);
    vec![
        pair(theirs, ours, |side| format!("{:.0}", side.goodput)),
        pair(theirs, ours, |side| short(side.median)),
        pair(theirs, ours, |side| short(side.first)),
        pair(theirs, ours, |side| short(side.queue)),
        pair(theirs, ours, |side| short(side.drops)),
        pair(theirs, ours, |side| short(side.marks)),
        pair(theirs, ours, |side| short(side.timeouts)),
        pair(theirs, ours, |side| {
            format!("{:.0} %", 100.0 * side.timeout_rounds)
        }),
    ]
}

fn stream(row: &Row) -> Vec<String> {
    let (theirs, ours) = (&row.verdict.theirs, &row.verdict.ours);
    vec![
        pair(theirs, ours, |side| short(side.goodput)),
        pair(theirs, ours, |side| short(side.queue)),
        pair(theirs, ours, |side| short(side.drops)),
        pair(theirs, ours, |side| short(side.marks)),
        pair(theirs, ours, |side| short(side.timeouts)),
    ]
}

/// Linux's number and ours.
fn pair(theirs: &Side, ours: &Side, text: impl Fn(&Side) -> String) -> String {
    let (theirs, ours) = (text(theirs), text(ours));
    if theirs == ours {
        theirs
    } else {
        format!("{theirs}; {ours}")
    }
}

/// From how many senders on goodput is below half of the line.
fn collapse(rows: &[Row]) -> String {
    let mut lines = vec![COLLAPSE.to_owned()];
    for cc in ["reno", "cubic", "dctcp"] {
        let first = |goodput: &dyn Fn(&Row) -> f64| {
            let below = rows.iter().find_map(|row| match row.scenario.kind {
                Kind::Incast { senders, .. }
                    if row.scenario.name == format!("incast-{senders}x64k-{cc}")
                        && goodput(row) < number(row.scenario.rig.rate) / 2e6 =>
                {
                    Some(senders.to_string())
                }
                _ => None,
            });
            below.unwrap_or_else(|| "none".to_owned())
        };
        let theirs = first(&|row| row.verdict.theirs.goodput);
        let ours = first(&|row| row.verdict.ours.goodput);
        lines.push(format!("| {cc} | {theirs} | {ours} |\n"));
    }
    lines.concat()
}

/// What differs, with the letters of reasons, and below it what these say.
fn differences(rows: &[Row], reasons: &Reasons) -> String {
    let mut used: Vec<&Reason> = Vec::new();
    let mut lines = Vec::new();
    for row in rows.iter().filter(|row| row.verdict.word() == "differs") {
        let failed = row.verdict.checks.iter().filter(|check| !check.agrees);
        let failed: Vec<String> = failed
            .map(|check| format!("{} ({})", check.what, check.found))
            .collect();
        let name = &row.scenario.name;
        let mut known = reasons.reason.iter();
        let cause = match known.find(|reason| reason.scenarios.contains(name)) {
            Some(reason) => {
                let place = used.iter().position(|other| std::ptr::eq(*other, reason));
                let place = place.unwrap_or_else(|| {
                    used.push(reason);
                    used.len() - 1
                });
                letter(place).to_string()
            }
            None => "not known".to_owned(),
        };
        lines.push(format!("| {name} | {} | {cause} |\n", failed.join(", ")));
    }
    for (place, reason) in used.iter().enumerate() {
        lines.push(format!("\n{}: {}\n", letter(place), reason.says));
    }
    lines.concat()
}

fn letter(place: usize) -> char {
    ('a'..='z').nth(place).unwrap_or('?')
}

/// The kernel's counters, and ours where we have them.
fn counters(rows: &[Row]) -> String {
    let mut lines = vec![COUNTED.to_owned()];
    for row in rows {
        let mean = |answers: &[Answer], name: &str| {
            let sum: u64 = answers.iter().map(|answer| answer.counter(name)).sum();
            number(sum) / number(answers.len().max(1) as u64)
        };
        let has = |answers: &[Answer], name: &str| {
            answers
                .iter()
                .any(|answer| answer.counters.contains_key(name))
        };
        let cell = |name: &&str| {
            let theirs = mean(&row.theirs, name);
            if has(&row.ours, name) {
                let ours = mean(&row.ours, name);
                return (theirs > 0.0 || ours > 0.0)
                    .then(|| format!("{name} {} ({})", short(theirs), short(ours)));
            }
            (theirs > 0.0).then(|| format!("{name} {}", short(theirs)))
        };
        let cells: Vec<String> = COUNTERS.iter().filter_map(cell).collect();
        lines.push(format!(
            "| {} | {} |\n",
            row.scenario.name,
            cells.join(", ")
        ));
    }
    lines.concat()
}

const HEAD: &str = "\
# Beside the Linux kernel

Written by `cargo xtask oracle linux`, which builds User-mode Linux RELEASE with 1000 ticks a second and a clock of 1 ns,
boots it with time travel, so that processors cost no time, and runs every scenario below on its TCP and here, under
`tcp.profile = \"linux\"` with the same ticks. `cargo xtask oracle linux --stored` writes the page from the kernel's answers in
`crates/oracle/data/linux.csv` and simulates anew.

The kernel's lab is one bridge in network namespaces: a link of a host is netem with a rate and a delay, the port towards
the receiver a token bucket with room for one packet over a queue in bytes, marks are RED's with weight 1, and nothing is
offloaded. Its idle port sends a packet at once and the next after its time, so every packet is ahead by the time of one:
the delays of links here are shorter by as much in each round trip. The packet that is being sent counts on neither side
as one in the queue. RED marks a packet before the queue behind it drops it, and counts it as marked: of DCTCP there are as
many marks more as drops.

A scenario without timeouts agrees if goodput is within 2 % and the mean queue within 10 %. Where a timer expires, the
round times of both sides must not be told apart (Kolmogorov-Smirnov at 0.001, whole boots permuted; the first rounds of
connections apart), medians lie within 15 %, and drops, timeouts and the share of rounds with a timeout within 20 % or
inside the range of the kernel's boots. Of a flow without end the goodput of boots takes the place of round times; one
whose SYN was lost waits for a second, carries nothing until then, and is left out: of two sides with ten boots or more at
most two may be, and otherwise a fifth more on one side than on the other.

Processors cost no time there, and a call that fails takes 1 ns instead of 1 us, in which timers would wait for each other.
If all requests left at once, all boots would do the same to the microsecond until chance or a tick made a difference, and
twenty would tell as much as one. So each request of a round waits for a random time of up to
50 us, there and here. And where links are no faster than the port, all packets would keep step with it to the nanosecond,
and the same senders find room, or none, again and again: of 16 senders of 256 KiB half a microsecond more of round trip
changes the number of timeouts by a fifth. So each packet of a host waits behind its link, there and here, for a random time of up to 12 us, or 2 us with links of
10 Gbit/s, and in order (`link.jitter`). Nothing waits where packets are captured.

Two networks differ for many reasons at once, so ends of connections are compared by themselves, too: an endpoint here
receives what one of the kernel's received, when it did, and has to send the same segments, or acknowledge the same within
5 us. `cargo xtask oracle linux --streams DIR` captures that in boots of their own and tells of each scenario how many do, and
where the first one differs; what some senders and receivers received and sent is kept in `crates/oracle/data/streams`, and
tests hold endpoints to it. In seven incasts 228 of 240 senders send the same to the end, but 3 of 16 with DCTCP and a round
trip of 1 ms, which is open. Receivers send the same for 91 to 99 % of their acknowledgements, of a flow without end for
72 %: the others leave when the lab's application reads, or after a full segment with PSH, which is not simulated. A capture
is taken behind the links of the senders: it does not show what these have lost, and where they change the order of packets
(reordering) it does not show in which one they were sent.
";

const INCASTS: &str = "
## Incasts

`incast-16x64k` means that 16 senders answer with 64 KiB each, 20 rounds on persistent connections. The port has
1 Gbit/s, 79 packets and K = 20, the round trip takes 0.1 ms, unless the name ends otherwise: b32 and b200 are 32 and 200
packets, k30 is K = 30, rto10ms a minimum RTO of 10 ms, 1ms a round trip of 1 ms, 10g means links of 10 Gbit/s. Where two
numbers stand, the first is Linux's and the second ours. Goodput is in Mbit/s, rounds in ms, the queue in packets; counts
are means of a boot.

| scenario | goodput | median round | first round | queue | drops | marks | timeouts | rounds with them | verdict |
|---|---|---|---|---|---|---|---|---|---|
";

const STREAMS: &str = "
## Flows without end

Hosts have 10 Gbit/s and the port 1 Gbit/s. A flow lasts 0.5 s; of two the second begins 1 s after the first and both end
after 2 s. Losses and late packets are random; a late packet waits 0.1 ms longer. `writes` writes 60 kB every ms.

| scenario | goodput | queue | drops | marks | timeouts | verdict |
|---|---|---|---|---|---|---|
";

const COLLAPSE: &str = "
## Where goodput collapses

Senders of 64 KiB from which on goodput is below half of the line:

| congestion control | Linux | ours |
|---|---|---|
";

const DIFFERENT: &str = "
## What differs

| scenario | outside its band (Linux and ours) | cause |
|---|---|---|
";

const COUNTED: &str = "
## Counters

The kernel's counters (`nstat`), as means of a boot; ours in brackets where results have the same.

| scenario | counters |
|---|---|
";
