//! The page: ours beside Linux's, with the kernel's counters.

use serde::Deserialize;

use crate::answer::{COUNTERS, ScenarioRun};
use crate::judge::{ComparisonResult, ScenarioVerdict, SideSummary, short};
use crate::list::{OracleScenario, OracleTraffic, PageTable, SEEDS, number};

/// A scenario with everything that the page tells of it.
pub struct PageRow {
    /// The scenario.
    pub scenario: OracleScenario,
    /// Both sides.
    pub verdict: ScenarioVerdict,
    /// The kernel's answers.
    pub theirs: Vec<ScenarioRun>,
    /// The simulator's.
    pub ours: Vec<ScenarioRun>,
}

/// Why scenarios differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasons {
    /// Each with the scenarios that it is about.
    pub reason: Vec<DifferenceReason>,
}

/// The counter that differs, and the mechanism suspected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DifferenceReason {
    /// What it is.
    pub says: String,
    /// Names of scenarios.
    pub scenarios: Vec<String>,
}

/// The page, of a kernel called `release`.
pub fn page(rows: &[PageRow], release: &str, reasons: &Reasons) -> String {
    let mut parts = vec![HEAD.replace("RELEASE", release), summary(rows)];
    for (section, head) in TABLES {
        let own = rows.iter().filter(|row| row.scenario.section == section);
        let own: Vec<String> = own.map(line).collect();
        if !own.is_empty() {
            parts.push(head.to_owned());
            parts.push(columns(section).to_owned());
            parts.extend(own);
        }
    }
    parts.push(collapse(rows));
    parts.push(UNLIKE.to_owned());
    parts.push(differences(rows, reasons));
    parts.push(undecided(rows));
    parts.push(counters(rows));
    parts.concat()
}

/// One scenario without a page: its line, every comparison, and the counters.
pub fn alone(row: &PageRow) -> String {
    let checks = row.verdict.checks.iter().map(|check| {
        let finding = match check.finding {
            ComparisonResult::Agrees => "agrees",
            ComparisonResult::Differs => "differs",
            ComparisonResult::Open => "open",
        };
        format!("| {} | {} | {finding} |\n", check.what, check.found)
    });
    let checks: Vec<String> = checks.collect();
    [
        columns(row.scenario.section),
        &line(row),
        "\n| comparison | Linux and ours | finding |\n|---|---|---|\n",
        &checks.concat(),
        &counters(std::slice::from_ref(row)),
    ]
    .concat()
}

/// The head of a section's table.
fn columns(section: PageTable) -> &'static str {
    if section == PageTable::Streams {
        STREAM_COLUMNS
    } else {
        ROUND_COLUMNS
    }
}

/// How many scenarios agree, with and without timers.
fn summary(rows: &[PageRow]) -> String {
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
    let answers = rows.iter().map(|row| row.theirs.len()).max();
    let timers = rows
        .iter()
        .filter(|row| row.verdict.timers && row.scenario.section != PageTable::Streams);
    let same = |row: &&PageRow| {
        let mut checks = row.verdict.checks.iter();
        checks
            .all(|check| check.finding == ComparisonResult::Agrees || !TIMES.contains(&check.what))
    };
    let (incasts, same) = (timers.clone().count(), timers.filter(same).count());
    [
        format!(
            "\nThe kernel has answered a scenario {} times at most; {SEEDS} seeds are \
             simulated for each answer.\n",
            answers.unwrap_or(0)
        ),
        "\n| scenarios | agree | differ | open |\n|---|---|---|---|\n".to_owned(),
        line("no timer expires in the kernel", false),
        line("a timer expires", true),
        format!(
            "\nOf the {incasts} scenarios with rounds in which a timer expires, {same} agree in round times, their mean and \
             their median.\n"
        ),
    ]
    .concat()
}

/// Comparisons of round times.
const TIMES: [&str; 4] = ["round times", "mean round", "goodput", "median"];

/// The line of a scenario in its table.
pub fn line(row: &PageRow) -> String {
    let cells = if row.scenario.has_rounds() {
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

fn incast(row: &PageRow) -> Vec<String> {
    let (theirs, ours) = (&row.verdict.theirs, &row.verdict.ours);
    vec![
        pair(theirs, ours, |side| format!("{:.0}", side.goodput)),
        pair(theirs, ours, |side| short(side.median)),
        pair(theirs, ours, |side| short(side.first)),
        // Where nothing waits nobody looks at the queue, and chosen losses are none of the port.
        if row.scenario.look > 0 {
            pair(theirs, ours, |side| short(side.queue))
        } else {
            "-".to_owned()
        },
        if row.scenario.extras.lose.is_none() {
            pair(theirs, ours, |side| short(side.drops))
        } else {
            "-".to_owned()
        },
        pair(theirs, ours, |side| short(side.marks)),
        pair(theirs, ours, |side| short(side.timeouts)),
        pair(theirs, ours, |side| {
            format!("{:.0} %", 100.0 * side.timeout_rounds)
        }),
    ]
}

fn stream(row: &PageRow) -> Vec<String> {
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
fn pair(theirs: &SideSummary, ours: &SideSummary, text: impl Fn(&SideSummary) -> String) -> String {
    let (theirs, ours) = (text(theirs), text(ours));
    if theirs == ours {
        theirs
    } else {
        format!("{theirs}; {ours}")
    }
}

/// From how many senders on goodput is below half of the line.
fn collapse(rows: &[PageRow]) -> String {
    let mut lines = vec![COLLAPSE.to_owned()];
    for cc in ["reno", "cubic", "dctcp"] {
        let first = |goodput: &dyn Fn(&PageRow) -> f64| {
            let below = rows.iter().find_map(|row| match row.scenario.kind {
                OracleTraffic::Incast { senders, .. }
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

/// Scenarios that are open, and why.
fn undecided(rows: &[PageRow]) -> String {
    let open = rows.iter().filter(|row| row.verdict.word() == "open");
    let line = |row: &PageRow| {
        let checks = row.verdict.checks.iter();
        let own = checks.filter(|check| check.finding == ComparisonResult::Open);
        let own: Vec<String> = own
            .map(|check| format!("{} ({})", check.what, check.found))
            .collect();
        format!("| {} | {} |\n", row.scenario.name, own.join(", "))
    };
    let lines: Vec<String> = open.map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    OPEN.to_owned() + &lines.concat()
}

/// What differs, with the letters of reasons, and below it what these say.
fn differences(rows: &[PageRow], reasons: &Reasons) -> String {
    let mut used: Vec<&DifferenceReason> = Vec::new();
    let mut lines = Vec::new();
    for row in rows.iter().filter(|row| row.verdict.word() == "differs") {
        let failed = row
            .verdict
            .checks
            .iter()
            .filter(|check| check.finding == ComparisonResult::Differs);
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
fn counters(rows: &[PageRow]) -> String {
    let mut lines = vec![COUNTED.to_owned()];
    for row in rows {
        let mean = |answers: &[ScenarioRun], name: &str| {
            let sum: u64 = answers.iter().map(|answer| answer.counter(name)).sum();
            number(sum) / number(answers.len().max(1) as u64)
        };
        let has = |answers: &[ScenarioRun], name: &str| {
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
`tools/oracle/data/linux.csv` and simulates anew.

The kernel's lab is one bridge in network namespaces: a link of a host is netem with a rate and a delay, the port towards
the receiver a token bucket with room for one packet over a queue in bytes, marks are RED's with weight 1, and nothing is
offloaded. The port here has that bucket, too (`switch.burst`). A packet waits for its tokens in the queue on both sides. RED marks a packet before the queue behind it drops it, and counts it as marked: of DCTCP there are as
many marks more as drops.

Both sides *agree* if every comparison does, and *differ* if one does. A scenario is *open* if too little happens to tell.

- No timer expires: goodput within 2 % and the mean queue within 10 %, by ratios whose intervals (below) lie within 10 and
  30 %.
- A timer expires: the round times of both sides must not be told apart (Kolmogorov-Smirnov at 0.001, whole boots
  permuted), which fewer than seven boots and seeds cannot be: such a scenario is open; nor the first rounds, one of each boot, which are the same
  above 0.01. Times within a thousandth of each other count as equal, as enough answers tell any two programs apart. Last rounds are left out: connections here close with the last answer, and 32 FINs at the port make it 8 us longer. Medians lie within 15 %; they are open if they do not and the round times are not told apart, as medians of
  rounds with and without a timeout may. The mean round, drops, timeouts and rounds with a timeout are compared by ratio: it has to lie within a factor of
  1.2, and its interval of 95 % within a factor of 1.5. Both sides differ if the interval lies outside of the factor of 1.2,
  and what is neither is open. The interval is that of boots, and of counts at least that of independent events: with fewer
  than about 26 of them in the kernel it is too wide to agree, and below 10 nothing agrees, however equal. Where neither side
  has any there is nothing to compare. Of a flow without end the goodput of boots takes the place of round times; one
  whose SYN was lost carries nothing in its time and is left out, on both sides, if few are. What a lost SYN does is asked
  below.
- Chance decides nothing (one sender, chosen losses, or flows without random losses): goodput within 2 %, medians within 5 %, and timeouts as above.

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
where the first one differs; what some senders and receivers received and sent is kept in `tools/oracle/data/streams`, and
tests hold endpoints to it. In eight incasts 237 of 240 senders send the same to the end. Of 88 that are compared in this as
well, 83 set PSH on the same segments, and the others on all but four. Receivers send the same for 93 to 99 % of their
acknowledgements, of a flow without end for 72 %: the others leave when the lab's application reads. A capture
is taken behind the links of the senders: it does not show what these have lost, and where they change the order of packets
(reordering) it does not show in which one they were sent.
";

const ROUND_COLUMNS: &str = "
| scenario | goodput | median round | first round | queue | drops | marks | timeouts | rounds with them | verdict |
|---|---|---|---|---|---|---|---|---|---|
";

const STREAM_COLUMNS: &str = "
| scenario | goodput | queue | drops | marks | timeouts | verdict |
|---|---|---|---|---|---|---|
";

/// Tables, in their order, with the text above them.
const TABLES: [(PageTable, &str); 7] = [
    (
        PageTable::Incasts,
        "
## Incasts

`incast-16x64k` means that 16 senders answer with 64 KiB each, 20 rounds on persistent connections. The port has
1 Gbit/s, 79 packets and K = 20, the round trip takes 0.1 ms, unless the name ends otherwise: b32 and b200 are 32 and 200
packets, k30 is K = 30, rto10ms a minimum RTO of 10 ms, 1ms a round trip of 1 ms, 10g means links of 10 Gbit/s. Where two
numbers stand, the first is Linux's and the second ours. Goodput is in Mbit/s, rounds in ms, the queue in packets; counts
are means of a boot.
",
    ),
    (
        PageTable::Few,
        "
## Answers of few segments

`incast-32x12s` means that 32 senders answer with 12 full segments each, in 30 rounds, at the same port.
",
    ),
    (
        PageTable::Pauses,
        "
## Pauses

Between the last answer and the next requests lies a pause of 0.5 to 10 RTO, after which a window counts as idle
(`tcp_slow_start_after_idle`). `pause-3rto-cubic` is one sender of 1 MB at a round trip of 100 ms, where no timer expires;
in the others 16 senders of 64 KiB share a port with 32 packets. 30 rounds. Pauses are no part of rounds, goodput and queue.
",
    ),
    (
        PageTable::Openings,
        "
## Handshakes that lose a segment

Each of 30 rounds opens a connection and asks at once for 64 KiB, at a round trip of 1 or 100 ms. The SYN, the SYN-ACK or
the ACK behind it is lost, or the first two copies. The second copy of the ACK is the request, which acknowledges as much.
",
    ),
    (
        PageTable::Losses,
        "
## One lost segment

One sender answers with 12 segments at a round trip of 1 ms, 30 times, and always the same one is lost. Of the last one
the probe is lost, too, if the name ends in `twice`.
",
    ),
    (
        PageTable::Settings,
        "
## Settings and applications

`nosack` sets `tcp_sack` to 0; `route5ms` gives the senders' route a minimum RTO of 5 ms; `rto10ms-200ms` is the minimum RTO
of senders and of the receiver. In `pieces` the request has two writes of 100 bytes, with Nagle's rule or TCP_NODELAY. A
`late-reader` asks for 64 KiB or 1 MB and reads 100 ms later.
",
    ),
    (
        PageTable::Streams,
        "
## Flows without end

Hosts have 10 Gbit/s and the port 1 Gbit/s. A flow lasts 0.5 s; of two the second begins 1 s after the first and both end
after 2 s. Losses and late packets are random; a late packet waits 0.1 ms longer. `writes` writes 60 kB every ms. `bulk-30ms` lasts 3 s on a path of 30 ms with 100 Mbit/s, whose port
holds 100 or 1000 packets.
",
    ),
];

const COLLAPSE: &str = "
## Where goodput collapses

Senders of 64 KiB from which on goodput is below half of the line:

| congestion control | Linux | ours |
|---|---|---|
";

const UNLIKE: &str = "
## What differs

| scenario | outside its band (Linux and ours) | cause |
|---|---|---|
";

const OPEN: &str = "
## What is open

| scenario | too few to tell (Linux and ours) |
|---|---|
";

const COUNTED: &str = "
## Counters

The kernel's counters (`nstat`), as means of a boot; ours in brackets where results have the same.

| scenario | counters |
|---|---|
";
