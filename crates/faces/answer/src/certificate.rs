//! The decisions of a law in the shadow, and whether the simulator makes the same ones, for people.

use protocol::{Certificate, LEAST_DECISIONS, LoggedLine, PredictedTail};

use crate::observation::time;
use crate::words::{counted, grouped, three_digits};

/// The log of decisions.
pub fn logged(done: &LoggedLine) -> String {
    let place = match done.netns.as_str() {
        "" => done.device.clone(),
        netns => format!("{} in {netns}", done.device),
    };
    format!(
        "{} in the shadow at {place}: {} of {} in {:.1} s\n",
        done.scheme,
        counted(done.decisions, "decision"),
        counted(done.calls, "call"),
        done.seconds
    )
}

/// A certificate.
pub fn certificate(found: &Certificate) -> String {
    let mut out = format!(
        "{} at {}: {} of {} as in the simulator, bit by bit\n",
        found.law,
        found.device,
        counted(found.decisions, "decision"),
        counted(found.calls, "call"),
    );
    let mut line = |text: String| {
        out.push_str("  ");
        out.push_str(&text);
        out.push('\n');
    };
    let changes = counted(found.would_change, "packet");
    line(match found.least_window_bytes {
        Some(least) => format!(
            "acting would have changed {changes} of {}, to windows of {} bytes and more",
            counted(found.connections, "connection"),
            grouped(least)
        ),
        None => format!("acting would have changed {changes}"),
    });
    if found.below_two_segments > 0 {
        line(format!(
            "{} would have had less than two segments: below that a lost segment takes a timeout",
            counted(found.below_two_segments, "connection")
        ));
    }
    if let Some(tail) = &found.predicted {
        line(predicted(tail));
    }
    let by = &found.decided_by;
    line(format!(
        "kernel: {}, types {}",
        by.kernel,
        short(&by.btf_sha256)
    ));
    line(format!(
        "program: {}, by {}; text of the law: {}",
        short(&by.program_sha256),
        by.compiler,
        short(&by.law_sha256)
    ));
    line(if found.decisions < LEAST_DECISIONS {
        format!(
            "to act, --certified needs {} decisions: log for longer",
            grouped(LEAST_DECISIONS)
        )
    } else {
        "this certificate allows --certified on this machine".to_owned()
    });
    out
}

/// The 99th percentile without the law and with it.
fn predicted(tail: &PredictedTail) -> String {
    let errs = three_digits(tail.errs);
    let today = format!(
        "p99 {} of {}, and {} in the model of today",
        time(tail.observed_s),
        counted(tail.flows, "flow"),
        time(tail.model_s)
    );
    if tail.fits {
        let with_law = time(tail.with_law_s);
        format!("predicted: p99 {with_law} with it; {today}, which errs {errs} times")
    } else {
        format!("predicted: nothing, because the model does not fit: {today}")
    }
}

/// The first digits of a hash.
fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use protocol::{DecidedBy, Settings};

    use super::*;

    fn found() -> Certificate {
        Certificate {
            version: "1".to_owned(),
            law: "hscc".to_owned(),
            device: "eth1".to_owned(),
            settings: Settings::default(),
            decided_by: DecidedBy {
                kernel: "6.12.1 #1 SMP".to_owned(),
                btf_sha256: "ba7816bf8f01cfea".to_owned(),
                compiler: "clang version 19.1.7".to_owned(),
                program_sha256: "1234567890abcdef".to_owned(),
                law_sha256: "fedcba0987654321".to_owned(),
            },
            decisions: 1_000_000,
            calls: 3_000_000,
            would_change: 12_345,
            connections: 40,
            least_window_bytes: Some(1_536),
            below_two_segments: 40,
            predicted: Some(PredictedTail {
                flows: 1_357,
                observed_s: 0.248,
                model_s: 0.245,
                with_law_s: 0.0807,
                errs: 1.1,
                fits: true,
            }),
        }
    }

    #[test]
    fn a_certificate_says_what_was_decided_where_and_what_acting_would_have_done() {
        insta::assert_snapshot!(certificate(&found()), @"
        hscc at eth1: 1,000,000 decisions of 3,000,000 calls as in the simulator, bit by bit
          acting would have changed 12,345 packets of 40 connections, to windows of 1,536 bytes and more
          40 connections would have had less than two segments: below that a lost segment takes a timeout
          predicted: p99 80.7 ms with it; p99 248 ms of 1,357 flows, and 245 ms in the model of today, which errs 1.10 times
          kernel: 6.12.1 #1 SMP, types ba7816bf8f01
          program: 1234567890ab, by clang version 19.1.7; text of the law: fedcba098765
          this certificate allows --certified on this machine
        ");
        let misfit = found().predicted.map(|tail| PredictedTail {
            fits: false,
            ..tail
        });
        let few = Certificate {
            predicted: misfit,
            decisions: 999_999,
            least_window_bytes: None,
            below_two_segments: 0,
            ..found()
        };
        let text = certificate(&few);
        assert!(
            text.contains("acting would have changed 12,345 packets\n"),
            "{text}"
        );
        assert!(
            text.contains("nothing, because the model does not fit: p99 248 ms"),
            "{text}"
        );
        assert!(
            text.contains("needs 1,000,000 decisions: log for longer"),
            "{text}"
        );
    }

    #[test]
    fn a_log_is_told_with_its_decisions() {
        let done = LoggedLine {
            device: "p1".to_owned(),
            netns: "s0".to_owned(),
            scheme: "mark".to_owned(),
            seconds: 60.04,
            calls: 5_000,
            decisions: 1,
        };
        assert_eq!(
            logged(&done),
            "mark in the shadow at p1 in s0: 1 decision of 5,000 calls in 60.0 s\n"
        );
    }
}
