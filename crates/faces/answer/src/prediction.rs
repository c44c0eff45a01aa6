//! The prediction of a model for an observed network, for people.

use std::fmt::Write;
use std::path::Path;

use observed::{CureCommand, Deviation, FlowTimes, Observation, Predicted, Prediction, RankedBy};

use crate::observation::time;
use crate::words::{counted, grouped, three_digits};

/// Whether to believe the model; every cure with its gain; which cures to try and how; and the paths of the scenario,
/// its run and its report.
pub fn predicted(
    seen: &Observation,
    prediction: &Prediction,
    (scenario, folder, page): (&Path, &Path, &Path),
) -> String {
    format!(
        "{}{}{}Files: {}, to look at: {}\n",
        model(seen, prediction, scenario),
        cures(prediction),
        advice(seen, prediction),
        folder.display(),
        page.display()
    )
}

/// The model of today's network, beside the observation.
fn model(seen: &Observation, said: &Prediction, scenario: &Path) -> String {
    let part = if said.flows == seen.flows {
        String::new()
    } else {
        format!(
            "simulated: the first {} of {} flows, which began within {} s\n",
            grouped(said.flows),
            grouped(seen.flows),
            three_digits(said.seconds)
        )
    };
    let way = if said.judged == said.flows {
        String::new()
    } else {
        let (goes, others) = if seen.leaves() {
            ("leave by", "come in")
        } else {
            ("come in by", "leave")
        };
        format!(
            "judged by the {} that {goes} {}, and not by the {} that {others}\n",
            counted(said.judged, "flow"),
            seen.place(),
            grouped(said.flows - said.judged)
        )
    };
    let (model, observed) = (of(said, &said.model), of(said, &said.observed));
    let beside = format!("model of today: {model}; observed: {observed}");
    if said.fits {
        let rounds = match said.rounds {
            0 => String::new(),
            rounds => format!(
                "flows come in rounds, {}, each of which lasts as long as its slowest flow\n",
                counted(rounds, "round")
            ),
        };
        let errs = factor(said.errs);
        return format!("{part}{beside}: it fits, and errs {errs}\n{way}{rounds}");
    }
    let guessed = said
        .guessed
        .iter()
        .map(|guess| format!("  guessed: {guess}\n"));
    format!(
        "{part}THE MODEL DOES NOT FIT THIS NETWORK: {}\n{beside}\n{way}{}\n{}",
        misfits(said).join("; "),
        remedy(said, scenario),
        guessed.collect::<String>()
    )
}

fn of(said: &Prediction, times: &FlowTimes) -> String {
    let rounds = match (said.waited, said.waited.of(times)) {
        (RankedBy::FctP99S, _) | (_, None) => String::new(),
        (_, Some(took)) => format!(", {}", waited(said, took)),
    };
    format!(
        "p50 {}, p99 {}, {}{rounds}",
        time(times.fct_p50_s),
        time(times.fct_p99_s),
        counted(times.timeouts, "timeout")
    )
}

/// Each measure that does not fit, with its deviation.
fn misfits(said: &Prediction) -> Vec<String> {
    let measure = |name: &str, apart: &Deviation, (fewer, more): (&str, &str)| {
        let way = if apart.model < apart.observed {
            fewer
        } else {
            more
        };
        (!apart.fits).then(|| {
            let (times, most) = (factor(apart.times), factor(apart.most));
            format!("its {name} {times} too {way}, where {most} would fit")
        })
    };
    let times = ("short", "long");
    [
        measure("median is", &said.fit.median, times),
        measure("99th percentile is", &said.fit.tail, times),
        measure("timeouts are", &said.fit.timeouts, ("few", "many")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The advice for a model that does not fit.
fn remedy(said: &Prediction, scenario: &Path) -> String {
    let file = scenario.display();
    let longer = if said.judged < MANY {
        format!(
            "watch for longer, for the 99th percentile of {} is that of the slowest {}; then ",
            counted(said.judged, "flow"),
            said.judged / 100 + 1
        )
    } else {
        String::new()
    };
    let suspects = said.suspects();
    let correct = match (&suspects[..], &said.guessed[..]) {
        ([], []) => {
            format!(
                "nothing in {file} was guessed, so look for what it does not tell of this network"
            )
        }
        ([], _) => format!("correct in {file} what was guessed"),
        (suspects, _) => format!(
            "correct in {file} what was guessed, above all {}",
            suspects.join(", ")
        ),
    };
    format!(
        "no cure is advised: {longer}{correct}, and simulate it again with: tailwater run {file}"
    )
}

/// Every cure, best first.
fn cures(said: &Prediction) -> String {
    let has_rounds = said.waited != RankedBy::FctP99S;
    let mut head = vec!["with a cure", "p50", "p99", "timeouts", "gain"];
    if has_rounds {
        let slow = match said.waited {
            RankedBy::RoundP99S => "round p99",
            _ => "slowest",
        };
        head.splice(1..1, ["round p50", slow]);
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    rows.extend(said.cures.iter().map(|cure| {
        let Some(times) = &cure.times else {
            return vec![cure.name.clone(), "failed".to_owned()];
        };
        let took =
            |took: Option<f64>| has_rounds.then(|| took.map_or_else(|| "never".to_owned(), time));
        let cells = [
            Some(cure.name.clone()),
            took(times.round_p50_s),
            took(times.round_p99_s),
            Some(time(times.fct_p50_s)),
            Some(time(times.fct_p99_s)),
            Some(grouped(times.timeouts)),
            Some(cure.gain.map_or_else(|| "none".to_owned(), three_digits)),
        ];
        cells.into_iter().flatten().collect()
    }));
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(String::len).max().unwrap_or(0)
    };
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = width(column);
            if column == 0 {
                format!("{cell:width$}")
            } else {
                format!("  {cell:>width$}")
            }
        });
        let text: String = cells.collect();
        text.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// The best cures that gain more than the model's error, each with its commands and its gain; or, if no cure can be
/// attached here, where it can.
fn advice(seen: &Observation, said: &Prediction) -> String {
    let mut out = String::new();
    if !said.fits {
        return out;
    }
    for knee in &said.knees {
        writeln!(
            out,
            "knee: {} {} has {}, and nothing beyond it gains more than the model errs",
            knee.setting,
            knee.value,
            waited(said, knee.waited_s)
        )
        .expect("a text takes everything");
    }
    if !said.advised().any(Predicted::is_attached_here) {
        writeln!(
            out,
            "nothing that can be attached at {} gains more than the model errs ({})",
            seen.place(),
            factor(said.errs)
        )
        .expect("a text takes everything");
    }
    // Cures that can be attached here are always listed.
    let first: Vec<_> = said.advised().take(MOST_SAID).collect();
    let is_told = first.iter().any(|cure| cure.is_attached_here());
    let here = said
        .advised()
        .find(|cure| !is_told && cure.is_attached_here());
    for cure in first.into_iter().chain(here) {
        out.push_str(&tried(said, cure));
    }
    if said.advice.is_empty() {
        out.push_str(&elsewhere(said));
    }
    out
}

/// The cure that would help if there is no command for it.
fn elsewhere(said: &Prediction) -> String {
    match said.elsewhere() {
        Some(cure) => format!(
            "elsewhere: {} would gain {}, but no command puts it there\n",
            cure.name,
            factor(cure.gain.unwrap_or(1.0))
        ),
        None => "elsewhere: no other cure that was simulated does either\n".to_owned(),
    }
}

/// How to try one cure, and its effect in the model.
fn tried(said: &Prediction, cure: &Predicted) -> String {
    let mut out = format!("try it: {}\n", cure.name);
    let mut line = |text: String| writeln!(out, "  {text}").expect("a text takes everything");
    let becomes = |of: RankedBy| {
        let (today, with) = (of.of(&said.model)?, of.of(cure.times.as_ref()?)?);
        Some(format!(
            "{} {} becomes {}",
            name(of),
            time(today),
            time(with)
        ))
    };
    let tail = (said.waited != RankedBy::FctP99S).then_some(RankedBy::FctP99S);
    let all = [Some(said.waited), tail].into_iter().flatten();
    let all: Vec<_> = all.filter_map(becomes).collect();
    line(format!(
        "gain {}: {}; the model errs {}",
        factor(cure.gain.unwrap_or(1.0)),
        all.join(", "),
        factor(said.errs)
    ));
    for CureCommand {
        place,
        command,
        or,
        undo,
        ..
    } in &cure.commands
    {
        line(format!("{place}: {command}"));
        if let Some(or) = or {
            line(format!("or {or}"));
        }
        line(format!("undo: {undo}"));
    }
    out
}

/// The waiting time by which cures are ranked, with its name.
fn waited(said: &Prediction, seconds: f64) -> String {
    format!("{} {}", name(said.waited), time(seconds))
}

const fn name(waited: RankedBy) -> &'static str {
    match waited {
        RankedBy::FctP99S => "p99",
        RankedBy::RoundP99S => "round p99",
        RankedBy::RoundP50S => "round p50",
    }
}

/// As in "1.30 times".
fn factor(times: f64) -> String {
    format!("{} times", three_digits(times))
}

/// With fewer flows the 99th percentile depends on a few.
const MANY: u64 = 1_000;
/// The most cures whose commands are shown; JSON has all.
const MOST_SAID: usize = 3;

#[cfg(test)]
mod tests {
    use observed::{Cure, Flow, Queue, VerdictEvidence};

    use super::*;

    fn times(p50_ms: f64, p99_ms: f64, timeouts: u64) -> FlowTimes {
        FlowTimes {
            fct_p50_s: p50_ms / 1e3,
            fct_p99_s: p99_ms / 1e3,
            timeouts,
            ..FlowTimes::default()
        }
    }

    /// A port of 200 Mbit/s with a limit of 96 KB, to which 24 containers of other machines send.
    fn seen() -> Observation {
        Observation {
            device: "p1".to_owned(),
            flows: 1_200,
            rate_bps: 200_000_000,
            min_rtt_us: Some(20.0),
            min_rto_ms: Some(200.0),
            queue: Some(Queue {
                kind: "tbf".to_owned(),
                room_bytes: Some(96_000),
                burst_bytes: Some(5_000),
                ..Queue::default()
            }),
            judged: VerdictEvidence {
                receiver: Some("10.0.3.7".to_owned()),
                ..VerdictEvidence::default()
            },
            ..Observation::default()
        }
    }

    /// Answers that take 26.3 ms in the median and 233 ms in the slowest of a hundred.
    fn flows() -> Vec<Flow> {
        let answer = |number: u32| Flow {
            start_s: f64::from(number),
            fct_s: if number.is_multiple_of(50) {
                0.233
            } else {
                0.026_3
            },
            timeouts: u32::from(number.is_multiple_of(50)),
            is_told: false,
            ..Flow::lossless(
                format!("10.0.0.{}:5000", 2 + number % 24),
                "10.0.3.7:41000",
                65_536,
            )
        };
        (0..1_200).map(answer).collect()
    }

    /// The prediction of a model with this median and these 99th percentiles with cures, in ms; other cures fail.
    fn said(seen: &Observation, p50_ms: f64, cures: &[(&str, f64)]) -> Prediction {
        let with = |cure: Cure| {
            let found = cures.iter().find(|(name, _)| *name == cure.name);
            (cure, found.map(|(_, p99)| times(p50_ms, *p99, 3)))
        };
        let is_said = |cure: &Cure| cures.iter().any(|(name, _)| *name == cure.name);
        let all = seen.cures().into_iter().filter(is_said).map(with);
        let said = Prediction::new((seen, &flows()), times(p50_ms, 236.0, 24), all);
        Prediction {
            seconds: 60.0,
            guessed: vec!["delay = \"10us\": no handshake was seen".to_owned()],
            ..said
        }
    }

    fn told(seen: &Observation, prediction: &Prediction) -> String {
        let folder = Path::new("results/seen");
        let files = (
            Path::new("results/seen.toml"),
            folder,
            &*folder.join("report.html"),
        );
        predicted(seen, prediction, files)
    }

    #[test]
    fn a_setting_that_gains_is_told_with_its_command_and_a_law_that_does_not_gain_is_not() {
        let cures = [
            ("rwndq", 227.0),
            ("min_rto 10ms", 64.0),
            ("rcc (grant)", 81.0),
        ];
        insta::assert_snapshot!(told(&seen(), &said(&seen(), 24.0, &cures)), @"
        model of today: p50 24.0 ms, p99 236 ms, 24 timeouts; observed: p50 26.3 ms, p99 233 ms, 24 timeouts: it fits, and errs 1.10 times
        with a cure       p50      p99  timeouts  gain
        min_rto 10ms  24.0 ms  64.0 ms         3  3.69
        rcc (grant)   24.0 ms  81.0 ms         3  2.91
        rwndq         24.0 ms   227 ms         3  1.04
        nothing that can be attached at p1 gains more than the model errs (1.10 times)
        try it: min_rto 10ms
          gain 3.69 times: p99 236 ms becomes 64.0 ms; the model errs 1.10 times
          at each sender, 10.0.0.2 and 23 others: sudo ip route change $(ip route get fibmatch 10.0.3.7 | sed 's/rto_min lock [^ ]*//') rto_min 10ms
          or for every route, from Linux 6.11 on, before servers are started: sudo sysctl -w net.ipv4.tcp_rto_min_us=10000
          undo: sudo ip route change $(ip route get fibmatch 10.0.3.7 | sed 's/rto_min lock [^ ]*//')
        try it: rcc (grant)
          gain 2.91 times: p99 236 ms becomes 81.0 ms; the model errs 1.10 times
          at the receiver, 10.0.3.7: sudo tailwater attach rcc --dev DEVICE --set rcc.max_queue=48500B --for 10m
          undo: sudo tailwater detach --dev DEVICE
        Files: results/seen, to look at: results/seen/report.html
        ");
    }

    #[test]
    fn a_model_that_does_not_fit_says_by_how_much_and_what_to_do_and_advises_nothing() {
        let cures = [("rwndq", 227.0), ("min_rto 10ms", 64.0)];
        insta::assert_snapshot!(told(&seen(), &said(&seen(), 3.85, &cures)), @r#"
        THE MODEL DOES NOT FIT THIS NETWORK: its median is 6.83 times too short, where 1.50 times would fit
        model of today: p50 3.85 ms, p99 236 ms, 24 timeouts; observed: p50 26.3 ms, p99 233 ms, 24 timeouts
        no cure is advised: correct in results/seen.toml what was guessed, above all delay, and simulate it again with: tailwater run results/seen.toml
          guessed: delay = "10us": no handshake was seen
        with a cure       p50      p99  timeouts  gain
        min_rto 10ms  3.85 ms  64.0 ms         3  3.69
        rwndq         3.85 ms   227 ms         3  1.04
        Files: results/seen, to look at: results/seen/report.html
        "#);
        // With few flows, the 99th percentile is not known.
        let few = Prediction {
            flows: 300,
            judged: 300,
            ..said(&seen(), 3.85, &cures)
        };
        let told = told(&seen(), &few);
        for words in [
            "simulated: the first 300 of 1,200 flows, which began within 60.0 s",
            "watch for longer, for the 99th percentile of 300 flows is that of the slowest 4; then correct",
        ] {
            assert!(told.contains(words), "{words} in {told}");
        }
    }

    #[test]
    fn each_measure_that_does_not_fit_is_named() {
        let said = Prediction::new((&seen(), &flows()), times(60.0, 90.0, 240), []);
        assert_eq!(
            misfits(&said),
            [
                "its median is 2.28 times too long, where 1.50 times would fit",
                "its 99th percentile is 2.59 times too short, where 1.50 times would fit",
                "its timeouts are 10.0 times too many, where 2.93 times would fit"
            ]
        );
    }

    #[test]
    fn where_nothing_at_the_device_gains_it_says_so_and_what_would_elsewhere() {
        let lines = |seen: &Observation, cures: &[(&str, f64)]| {
            let told = told(seen, &said(seen, 20.0, cures));
            let lines = told.lines().skip_while(|line| !line.starts_with("nothing"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let none = lines(&seen(), &[("rwndq", 227.0), ("hscc", 236.0)]);
        assert_eq!(
            none[..2],
            [
                "nothing that can be attached at p1 gains more than the model errs (1.31 times)",
                "elsewhere: no other cure that was simulated does either"
            ]
        );
        // A queue for which no command changes the limit.
        let mut unknown = seen();
        unknown.queue.as_mut().expect("a queue").kind = "fq_codel".to_owned();
        let room = lines(&unknown, &[("rwndq", 227.0), ("buffer x4", 80.0)]);
        assert_eq!(
            room[1],
            "elsewhere: buffer x4 would gain 2.95 times, but no command puts it there"
        );
        let hosts = lines(&seen(), &[("rwndq", 227.0), ("receive buffer 8 KiB", 80.0)]);
        assert_eq!(hosts[1], "try it: receive buffer 8 KiB");
    }

    #[test]
    fn a_knee_is_told_with_what_it_has() {
        let cures = [
            ("receive buffer 8 KiB", 900.0),
            ("receive buffer 16 KiB", 400.0),
            ("receive buffer 32 KiB", 237.0),
            ("receive buffer 64 KiB", 236.0),
        ];
        let told = told(&seen(), &said(&seen(), 24.0, &cures));
        let knee = "knee: receive buffer 32 KiB has p99 237 ms, and nothing beyond it gains more than the model errs\n";
        assert!(told.contains(knee), "{told}");
    }

    #[test]
    fn rounds_are_told_where_there_are_some() {
        let with_rounds = |took_ms: f64| FlowTimes {
            round_p50_s: Some(took_ms / 2e3),
            round_p99_s: Some(took_ms / 1e3),
            ..times(26.0, 233.0, 24)
        };
        let mut said = said(&seen(), 24.0, &[("hscc", 90.0)]);
        said.rounds = 50;
        said.waited = RankedBy::RoundP50S;
        said.judged = 600;
        said.observed = with_rounds(231.0);
        said.model = with_rounds(240.0);
        said.cures[0].times = Some(FlowTimes {
            fct_p99_s: 0.065,
            ..with_rounds(66.0)
        });
        said.cures[0].gain = Some(3.58);
        let told = told(&seen(), &said);
        for words in [
            "round p50 120 ms; observed",
            "judged by the 600 flows that leave by p1, and not by the 600 that come in",
            "flows come in rounds, 50 rounds",
            "with a cure  round p50  slowest      p50      p99  timeouts",
            "gain 3.58 times: round p50 120 ms becomes 33.0 ms, p99 233 ms becomes 65.0 ms; the model errs",
        ] {
            assert!(told.contains(words), "{words} in {told}");
        }
    }
}
