//! `tailwater certify`: repeats every decision of a log, and writes a certificate if all are equal.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use observed::{Flow, Observation};
use protocol::{Certificate, PredictedTail, Uncertified};
use scenario::{Problem, Problems};
use serde_json::{Value, json};

use crate::args::deploy::CertifyArgs;
use crate::args::text_or_json::TextOrJson;
use crate::output::{self, Stop};
use crate::predict::predict_law;

/// Reads the log, and writes and prints the certificate.
pub(crate) fn certify(args: &CertifyArgs, given: &[String]) -> Result<(), Stop> {
    let seen = args.seen.as_deref().map(read_seen).transpose()?;
    let log = File::open(&args.log).map_err(|error| unreadable(&args.log, &error.to_string()))?;
    let certified = protocol::certify(BufReader::new(log));
    let mut certificate = certified.map_err(|error| refused(&args.log, &error))?;
    if let Some(seen) = seen {
        certificate.predicted = predicted(&args.log, &certificate, &seen, given)?;
    }
    let out = args.out.clone().unwrap_or_else(|| usual(&args.log));
    let text = output::pretty(&json!(certificate));
    fs::write(&out, &text).map_err(|error| {
        output::complain(&format!("{}: {error}", out.display()));
        Stop::Failed
    })?;
    output::complain(&format!("wrote {}", out.display()));
    tell(&certificate, &text, args.format)
}

/// The 99th percentile that the model of what was seen has with the law and its settings; nothing if it has no such law.
fn predicted(
    log: &Path,
    certificate: &Certificate,
    (seen, flows): &(Observation, Vec<Flow>),
    given: &[String],
) -> Result<Option<PredictedTail>, Stop> {
    let sets = certificate.settings.iter();
    let sets = sets.map(|(key, value)| format!("{key}={value}")).collect();
    let (out, law) = (log.with_extension("seen.toml"), &certificate.law);
    let modelled = predict_law(&out, (seen, flows), (law, sets), given)?;
    let tail = modelled.and_then(|modelled| {
        let said = modelled.prediction;
        let with_law_s = said.of_law(law)?.times?.fct_p99_s;
        Some(PredictedTail {
            flows: said.judged,
            observed_s: said.observed.fct_p99_s,
            model_s: said.model.fct_p99_s,
            with_law_s,
            errs: said.errs,
            fits: said.fits,
        })
    });
    if tail.is_none() {
        output::complain(&format!(
            "no completion time is predicted: no flow was seen, or the senders that are there would not notice {law}"
        ));
    }
    Ok(tail)
}

/// Reads the answer of `observe --format json` about one device.
fn read_seen(file: &Path) -> Result<(Observation, Vec<Flow>), Problems> {
    let text = fs::read_to_string(file).map_err(|error| not_seen(file, &error.to_string()))?;
    let value: Value =
        serde_json::from_str(&text).map_err(|error| not_seen(file, &error.to_string()))?;
    let part = |key: &str| value.get(key).cloned().unwrap_or_default();
    let wrong = |key: &str, error: serde_json::Error| not_seen(file, &format!("{key}: {error}"));
    let seen: Observation =
        serde_json::from_value(part("observed")).map_err(|error| wrong("observed", error))?;
    let flows: Vec<Flow> =
        serde_json::from_value(part("flows")).map_err(|error| wrong("flows", error))?;
    let flows = seen.with_requests(&flows);
    Ok((seen, flows))
}

fn not_seen(file: &Path, why: &str) -> Problems {
    let problem = Problem::new(format!("--seen {}: {why}", file.display()));
    let help = "sudo tailwater observe --dev DEV --for TIME --format json > FILE writes one, of one device";
    problem.help(help).into()
}

fn tell(certificate: &Certificate, text: &str, format: TextOrJson) -> Result<(), Stop> {
    output::answer(&match format {
        TextOrJson::Table => answer::certificate::certificate(certificate),
        TextOrJson::Json => text.to_owned(),
    })
}

/// The default path of a certificate.
fn usual(log: &Path) -> PathBuf {
    log.with_extension("certificate.json")
}

/// Ends without a certificate. A difference is an answer; a file that is no log is the user's mistake.
fn refused(log: &Path, why: &Uncertified) -> Stop {
    match why {
        Uncertified::Unreadable(_) => unreadable(log, &why.to_string()),
        Uncertified::OtherText { .. } => {
            let problem = Problem::new(format!("{}: {why}", log.display()));
            let help = "certify it with the version that wrote it, or log again with this version";
            Stop::WrongInput(problem.help(help).into())
        }
        Uncertified::Missing { .. }
        | Uncertified::Difference { .. }
        | Uncertified::OtherFate { .. } => {
            output::complain(&format!("{}: no certificate: {why}", log.display()));
            Stop::Failed
        }
    }
}

fn unreadable(log: &Path, why: &str) -> Stop {
    let problem = Problem::new(format!("{}: {why}", log.display()));
    let help = "sudo tailwater attach LAW --dev DEV --for TIME --shadow --log FILE writes a log";
    Stop::WrongInput(problem.help(help).into())
}

#[cfg(test)]
mod tests {
    use protocol::DecidedBy;

    use super::*;

    /// An answer of one of many servers to one client, at once with the others.
    fn answer(number: u32) -> Flow {
        let sender = format!("10.0.0.{number}:80");
        let receiver = format!("10.0.1.1:{}", 4_000 + number);
        Flow {
            start_s: 1e-5 * f64::from(number),
            fct_s: 0.22,
            ..Flow::lossless(sender, receiver, 64 << 10)
        }
    }

    fn certificate(law: &str, window: &str) -> Certificate {
        let key = format!("{law}.window");
        Certificate {
            version: String::new(),
            law: law.to_owned(),
            device: "eth1".to_owned(),
            settings: [(key, window.to_owned())].into_iter().collect(),
            decided_by: DecidedBy {
                kernel: String::new(),
                btf_sha256: String::new(),
                compiler: String::new(),
                program_sha256: String::new(),
                law_sha256: String::new(),
            },
            decisions: 1,
            calls: 1,
            would_change: 0,
            connections: 0,
            least_window_bytes: None,
            below_two_segments: 0,
            predicted: None,
        }
    }

    #[test]
    fn a_certificate_predicts_the_tail_with_the_law_and_its_settings() {
        let folder = std::env::temp_dir().join(format!("tw-certify-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let seen = Observation {
            flows: 20,
            seconds: 1.0,
            rate_bps: 100_000_000,
            min_rtt_us: Some(60.0),
            min_rto_ms: Some(200.0),
            // Of larger ones the first windows alone overflow the queue, before any law acts.
            initial_window: Some(2),
            queue: Some(observed::Queue {
                room_bytes: Some(64_000),
                ..observed::Queue::default()
            }),
            packet_bytes: [1_000, 0],
            ..Observation::default()
        };
        let flows: Vec<_> = (1..=20).map(answer).collect();
        let file = folder.join("seen.json");
        let text = json!({ "observed": seen, "flows": flows, "notes": [] }).to_string();
        fs::write(&file, text).expect("a file");
        let Ok(read) = read_seen(&file) else {
            panic!("it is what observe prints")
        };
        assert_eq!(read, (seen, flows));
        let log = |name: &str| folder.join(name).with_extension("log");
        let of = |name: &str, law: &str, window: &str| {
            let Ok(tail) = predicted(&log(name), &certificate(law, window), &read, &[]) else {
                panic!("a scenario without mistakes")
            };
            tail
        };
        let two = of("two", "hscc", "2").expect("the model has HSCC");
        assert_eq!(two.flows, 20);
        assert!((two.observed_s - 0.22).abs() < 1e-9, "{two:?}");
        // 1.3 MB take 105 ms; drop-tail waits for a timer of 200 ms.
        assert!(two.model_s > 0.2 && two.with_law_s < 0.15, "{two:?}");
        // So large a window is that of TCP alone.
        let large = of("large", "hscc", "1000").expect("the model has HSCC");
        assert!((large.with_law_s - large.model_s).abs() < 1e-9, "{large:?}");
        assert_eq!(of("none", "nothing", "2"), None);
        fs::write(&file, "{}").expect("a file");
        let Err(Problems(why)) = read_seen(&file) else {
            panic!("it is none")
        };
        assert!(why[0].to_string().contains("observed: "), "{}", why[0]);
        fs::remove_dir_all(folder).expect("the folder goes");
    }
}
