//! `tailwater observe --incident`: turns the worst incast into a scenario, and finds the fewest of its flows that show
//! it.

use std::fs;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use base::cast::{index, real, whole};
use observed::{Flow, Incident, Observation, fewest};
use results::deliver;
use scenario::{Overrides, Problem, Problems, Scenario, Source};
use serde_json::{Value, json};

use crate::output::Stop;
use crate::seen_file::write;

/// An incident and its files.
pub(crate) struct Kept {
    incident: Incident,
    file: PathBuf,
    /// The fewest flows, if the model shows the incident.
    least: Option<Least>,
    /// An incast without a trace, if it shows the incident, too.
    plain: Option<Plain>,
}

/// An incast that needs no file of flows.
struct Plain {
    senders: usize,
    bytes: u64,
    within_s: f64,
    file: PathBuf,
}

/// The fewest flows that show an incident.
struct Least {
    flows: usize,
    file: PathBuf,
    /// Whether each of them was tried without.
    is_tried: bool,
}

/// Writes the worst incast of an observation to the file `out`, and its minimal form beside it. `None` without an
/// incast.
pub(crate) fn keep(out: &Path, seen: &Observation, flows: &[Flow]) -> Result<Option<Kept>, Stop> {
    let Some(incident) = Incident::worst(flows) else {
        return Ok(None);
    };
    write(out, seen, &incident.flows)?;
    let mut looks = Looks {
        out,
        seen,
        left: MOST_LOOKS,
    };
    let mut plain = None;
    let least = if looks.show(&incident.flows)? {
        let flows = fewest(&incident.flows, &mut |flows| looks.show(flows))?;
        let stem = out.file_stem().unwrap_or_default().to_string_lossy();
        let file = out.with_file_name(format!("{stem}-least.toml"));
        write(&file, seen, &flows)?;
        plain = looks.plain(&incident, &flows)?;
        Some(Least {
            flows: flows.len(),
            file,
            is_tried: looks.left > 0,
        })
    } else {
        None
    };
    // Nobody needs the trace of the intermediate scenarios.
    drop(fs::remove_file(looks.trace()));
    Ok(Some(Kept {
        incident,
        file: out.to_owned(),
        least,
        plain,
    }))
}

impl Kept {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let Self {
            incident,
            file,
            least,
            plain,
        } = self;
        let counted = |number, thing| answer::words::counted(number, thing);
        let mut lines = vec![
            format!(
                "incident at {:.3} s: at most {} flows at once, {} and {} of theirs; {} in {:.3} s, without addresses\n",
                incident.from_s,
                incident.most,
                counted(incident.timeouts, "timeout"),
                counted(incident.drops, "drop"),
                counted(incident.flows.len() as u64, "flow"),
                incident.seconds,
            ),
            format!("  kept: {}\n", file.display()),
        ];
        let Some(least) = least else {
            let text = "  the model shows no timeout with these flows: it does not fit them, so no smaller set was \
                searched\n";
            lines.push(text.to_owned());
            return lines.concat();
        };
        let flows = counted(least.flows as u64, "flow");
        let claim = if least.is_tried {
            "without any one of these, none waits for a timer"
        } else {
            "fewer may do: more simulations were not tried"
        };
        let (file, mut sliders) = (least.file.display(), None);
        lines.push(format!("  least: {flows} in {file}; {claim}\n"));
        if let Some(plain) = plain {
            let file = plain.file.display();
            lines.push(format!(
                "  plain: {} of {} bytes within {:.3} ms in {file}; flows wait for timers under {SEEDS} of {SEEDS} seeds\n",
                counted(plain.senders as u64, "flow"),
                answer::words::grouped(plain.bytes),
                plain.within_s * 1e3,
            ));
            sliders = Some(format!("  move sliders: tailwater explore {file}\n"));
        }
        let look = plain.as_ref().map_or(&least.file, |plain| &plain.file);
        lines.push(format!("  look: tailwater run {}\n", look.display()));
        lines.extend(sliders);
        lines.concat()
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let Self {
            incident,
            file,
            least,
            plain,
        } = self;
        json!({
            "from_s": incident.from_s,
            "seconds": incident.seconds,
            "most": incident.most,
            "timeouts": incident.timeouts,
            "drops": incident.drops,
            "flows": incident.flows.len(),
            "scenario": file,
            "least": least.as_ref().map(|least| json!({
                "flows": least.flows,
                "scenario": least.file,
                "is_tried": least.is_tried,
            })),
            "plain": plain.as_ref().map(|plain| json!({
                "senders": plain.senders,
                "bytes": plain.bytes,
                "within_s": plain.within_s,
                "scenario": plain.file,
            })),
        })
    }
}

/// Simulations of some of the flows, in the observed network.
struct Looks<'a> {
    out: &'a Path,
    seen: &'a Observation,
    /// More are not tried.
    left: u32,
}

impl Looks<'_> {
    /// Whether some flow waits for a timer after a drop, with only these flows.
    fn show(&mut self, flows: &[Flow]) -> Result<bool, Problems> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(false);
        };
        self.left = left;
        let trace = self.trace();
        let text = self.seen.trace(flows);
        deliver(&trace, |file| file.write_all(text.as_bytes()))
            .map_err(|error| Problem::new(error.to_string()))?;
        let file = trace.file_name().unwrap_or_default().to_string_lossy();
        let text = self.seen.scenario("incident", &file, flows);
        self.is_shown_by(text, NonZeroU32::MIN)
    }

    /// A plain incast with the fewest senders that show it with all seeds. It tries numbers from the smallest
    /// sufficient one up to the observed one, with flows of one size that begin within the observed time.
    fn plain(&self, incident: &Incident, least: &[Flow]) -> Result<Option<Plain>, Stop> {
        let mut sizes: Vec<f64> = least.iter().map(|flow| real(flow.bytes)).collect();
        let bytes = whole(observed::percentile(&mut sizes, 0.5));
        let starts = || least.iter().map(|flow| flow.start_s);
        let first_s = starts().fold(f64::INFINITY, f64::min);
        let within_s = starts().fold(0.0, f64::max) - first_s;
        let stem = self.out.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}-plain");
        let file = self.out.with_file_name(format!("{name}.toml"));
        let most = index(incident.most.into()).max(least.len());
        for senders in least.len()..=most {
            let text = self.seen.plain_scenario(&name, (senders, bytes), within_s);
            if self.is_shown_by(text.clone(), SEEDS)? {
                deliver(&file, |file| file.write_all(text.as_bytes()))
                    .map_err(|error| Problems::from(Problem::new(error.to_string())))?;
                return Ok(Some(Plain {
                    senders,
                    bytes,
                    within_s,
                    file,
                }));
            }
        }
        Ok(None)
    }

    /// Whether, in a scenario of today's network, packets are dropped and a flow waits for a timer, with each seed.
    fn is_shown_by(&self, text: String, seeds: NonZeroU32) -> Result<bool, Problems> {
        let source = Source::new(self.out.to_string_lossy(), text);
        let overrides = Overrides {
            schemes: Some(self.seen.scheme().to_owned()),
            seeds: Some(seeds),
            ..Overrides::default()
        };
        let scenario = Scenario::load(source, &overrides)?;
        let mut outcomes = scenario.points().iter().map(sim::run::run);
        Ok(outcomes.all(|outcome| {
            outcome.is_ok_and(|outcome| outcome.metrics.timeouts > 0 && outcome.metrics.drops > 0)
        }))
    }

    fn trace(&self) -> PathBuf {
        self.out.with_extension("look.csv")
    }
}

/// A plain incast must show it with all of these seeds.
const SEEDS: NonZeroU32 = NonZeroU32::new(10).expect("ten is above zero");
/// The most simulations, each of some milliseconds.
const MOST_LOOKS: u32 = 3_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of one of many servers to a client.
    fn answer(number: u32, bytes: u64, timeouts: u32) -> Flow {
        let sender = format!("192.168.7.{number}:80");
        let receiver = format!("192.168.9.1:{}", 4_000 + number);
        Flow {
            start_s: 2.0 + 1e-5 * f64::from(number),
            fct_s: 0.3,
            timeouts,
            drops: timeouts,
            ..Flow::lossless(sender, receiver, bytes)
        }
    }

    #[test]
    fn an_incident_is_shrunk_to_flows_none_of_which_can_be_left_out() {
        let folder = std::env::temp_dir().join(format!("tw-incident-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let out = folder.join("incident.toml");
        let seen = Observation {
            seconds: 10.0,
            rate_bps: 100_000_000,
            min_rtt_us: Some(60.0),
            min_rto_ms: Some(200.0),
            queue: Some(observed::Queue {
                room_bytes: Some(64_000),
                ..observed::Queue::default()
            }),
            packet_bytes: [1_000, 0],
            ..Observation::default()
        };
        let flows: Vec<_> = (1..=40).map(|number| answer(number, 20_000, 1)).collect();
        let Ok(Some(kept)) = keep(&out, &seen, &flows) else {
            panic!("an incident");
        };
        let least = kept.least.as_ref().expect("the model shows it");
        assert!(least.is_tried && least.flows <= 20, "{} flows", least.flows);
        let rows = |file: &Path| fs::read_to_string(file.with_extension("csv")).expect("a trace");
        assert_eq!(rows(&least.file).lines().count(), least.flows + 1);
        assert_eq!(rows(&out).lines().count(), 41);
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("a text");
            assert!(!text.contains("192.168"), "{}", path.display());
        }
        let text = kept.text();
        assert!(text.contains("without any one of these"), "{text}");
        let plain = kept.plain.as_ref().expect("a plain incast shows it");
        assert!((least.flows..=40).contains(&plain.senders) && plain.bytes == 20_000);
        let source = Source::find(&plain.file.to_string_lossy()).expect("the file");
        assert!(Scenario::load(source, &Overrides::default()).is_ok());
        // A network without losses has no incident.
        let quiet: Vec<_> = (1..=40).map(|number| answer(number, 20_000, 0)).collect();
        assert!(matches!(keep(&out, &seen, &quiet), Ok(None)));
        fs::remove_dir_all(folder).expect("the folder goes");
    }
}
