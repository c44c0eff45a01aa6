//! Simulates an observed network, as it is today and with every cure.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use api::{Destination, Error, Monitor, Request, RunOptions, Stage, StageWork};
use observed::{Flow, FlowTimes, FlowTiming, Observation, Prediction, Rounds};
use plan::work::Work;
use results::{Folder, deliver};
use scenario::{Overrides, Problems, Scenario, Source};

use crate::output::{self, Stop};
use crate::seen_file::write;
use crate::watch::watched;

/// A prediction, with the paths of its scenario and its run.
pub(crate) struct Modelled {
    pub(crate) prediction: Prediction,
    pub(crate) scenario: PathBuf,
    pub(crate) folder: PathBuf,
    /// The flows that count, in the order of their starts.
    pub(crate) judged: Vec<Flow>,
    /// Their times under each scheme that was simulated.
    timings: Vec<(String, Vec<FlowTiming>)>,
}

impl Modelled {
    /// The times of the flows that count under this scheme.
    pub(crate) fn timings(&self, scheme: &str) -> Option<&[FlowTiming]> {
        let mut all = self.timings.iter();
        let of_scheme = all.find(|(name, _)| name == scheme);
        of_scheme.map(|(_, timings)| &timings[..])
    }
}

/// Simulates the observed traffic in today's network and with the law that `attach` knows by this name, with these
/// settings. Returns nothing if the model has no such law, or if no flow was seen.
pub(crate) fn predict_law(
    out: &Path,
    (seen, flows): (&Observation, &[Flow]),
    (law, sets): (&str, Vec<String>),
    given: &[String],
) -> Result<Option<Modelled>, Stop> {
    let cures = seen.cures();
    let is_it = |attach: &observed::CureAttachment| attach.scheme == law;
    let mut cures = cures.iter();
    let Some(cure) = cures.find(|cure| cure.attach.as_ref().is_some_and(is_it)) else {
        return Ok(None);
    };
    if !write(out, seen, flows)? {
        return Ok(None);
    }
    let schemes = Some(format!("{},{}", seen.scheme(), cure.scheme));
    let overrides = Overrides {
        schemes,
        sets,
        ..Overrides::default()
    };
    predict(out, seen, flows, (given, overrides)).map(Some)
}

/// Simulates the scenario in the file `out`, changed by `overrides`, into a run folder beside it. If the simulation would
/// take more than some minutes, only the flows that began first are simulated.
pub(crate) fn predict(
    out: &Path,
    seen: &Observation,
    flows: &[Flow],
    (given, overrides): (&[String], Overrides),
) -> Result<Modelled, Stop> {
    let folder = free(&out.with_extension(""));
    let (source, part) = affordable(out, seen, flows)?;
    let request = Request {
        command: given.to_vec(),
        // The flows were observed once, so there is one seed.
        overrides: Overrides {
            seeds: Some(NonZeroU32::MIN),
            ..overrides
        },
        ..Request::new(source)
    };
    let to = Destination::new(&folder);
    let options = RunOptions::default().monitor(&Announcer);
    let kept = || {
        format!(
            "interrupted; simulate it with: tailwater run {}",
            out.display()
        )
    };
    let run = watched(
        None,
        || (),
        || output::complain(&kept()),
        || api::run_request(&request, to, &options),
    );
    let run = run.map_err(|error| match error {
        Error::Problems(problems) => Stop::WrongInput(problems),
        _ => Stop::Ended,
    })?;
    let passes = |flow: &&Flow| flow.leaves == seen.leaves();
    let outcomes = outcomes(&run, (seen, part), &passes)?;
    let judged: Vec<_> = part.iter().filter(passes).cloned().collect();
    let rows = run.summary().rows.iter().map(|row| row.scheme.clone());
    let timings: Vec<_> = rows.zip(outcomes).collect();
    let is_whole = part.len() == flows.len();
    let prediction = prediction(seen, (part, is_whole), (&judged, &timings)).ok_or_else(|| {
        output::complain("the model of today could not be simulated");
        Stop::Failed
    })?;
    Ok(Modelled {
        prediction,
        scenario: out.to_owned(),
        folder,
        judged,
        timings,
    })
}

/// The scenario, and as many of its flows as can be simulated in some minutes.
fn affordable<'a>(
    out: &Path,
    seen: &Observation,
    flows: &'a [Flow],
) -> Result<(Source, &'a [Flow]), Problems> {
    let file = out.to_string_lossy();
    let mut part = flows;
    let mut source = Source::find(&file)?;
    loop {
        let scenario = Scenario::load(source.clone(), &Overrides::default())?;
        let steps = scenario.points().iter();
        let steps: f64 = steps.map(|point| Work::of(point, true).steps()).sum();
        if steps <= MOST_STEPS || part.len() < 2 {
            return Ok((source, part));
        }
        // Flows are in the order of their starts.
        part = &part[..part.len() / 2];
        let trace = out.with_extension("part.csv");
        let name = out.file_stem().unwrap_or_default().to_string_lossy();
        let text = seen.trace(part);
        deliver(&trace, |file| file.write_all(text.as_bytes()))
            .map_err(|error| scenario::Problem::new(error.to_string()))?;
        let file_name = trace.file_name().unwrap_or_default().to_string_lossy();
        let text = seen.scenario(&name, &file_name, part);
        source = Source::new(file.clone(), text);
    }
}

/// The prediction from the times that the judged flows have under each scheme.
fn prediction(
    seen: &Observation,
    (flows, is_whole): (&[Flow], bool),
    (judged, timings): (&[Flow], &[(String, Vec<FlowTiming>)]),
) -> Option<Prediction> {
    let rounds = Rounds::of(judged);
    let times = |scheme: &str| {
        let (_, outcomes) = timings.iter().find(|(name, _)| name == scheme)?;
        let is_known = outcomes.len() == judged.len();
        FlowTimes::of(outcomes, &rounds).filter(|_| is_known)
    };
    let cures = seen.cures().into_iter().map(|cure| {
        let times = times(&cure.scheme);
        (cure, times)
    });
    let today = times(seen.scheme())?;
    let prediction = Prediction::new((seen, judged), today, cures);
    let last = flows.iter().map(|flow| flow.start_s).fold(0.0, f64::max);
    Some(Prediction {
        flows: flows.len() as u64,
        seconds: if is_whole { seen.seconds } else { last },
        scheme: seen.scheme().to_owned(),
        guessed: seen.guesses(flows),
        ..prediction
    })
}

/// The results of the passing flows, in order, for each row of the run. Times count from where a flow was seen, not from the
/// request for it.
fn outcomes(
    run: &Folder,
    (seen, flows): (&Observation, &[Flow]),
    passes: &dyn Fn(&&Flow) -> bool,
) -> Result<Vec<Vec<FlowTiming>>, Problems> {
    let mut outcomes = vec![Vec::new(); run.summary().rows.len()];
    // There is one seed, so a point is a row.
    run.flows(&mut |point, record| {
        let judged = flows.get(record.flow as usize).filter(passes);
        if let Some((outcomes, flow)) = outcomes.get_mut(point as usize).zip(judged) {
            let asking_s = flow.start_s - seen.begins_s(flow);
            outcomes.push(FlowTiming {
                start_s: record.start_us / 1e6 + asking_s,
                fct_s: record.fct_us.get().unwrap_or(f64::INFINITY) / 1e6 - asking_s,
                timeouts: record.timeouts,
            });
        }
    })?;
    Ok(outcomes)
}

/// The folder, or with a number appended the first one that does not exist.
pub(crate) fn free(folder: &Path) -> PathBuf {
    let numbered = |number: u32| match number {
        1 => folder.to_owned(),
        number => {
            let mut name = folder.as_os_str().to_owned();
            name.push(format!("-{number}"));
            name.into()
        }
    };
    let found = (1..u32::MAX).map(numbered).find(|folder| !folder.exists());
    found.unwrap_or_else(|| folder.to_owned())
}

/// Reports how much is simulated.
struct Announcer;

impl Monitor for Announcer {
    fn during(&self, stage: &Stage<'_>, work: StageWork<'_>) -> Result<(), Error> {
        output::complain(&format!(
            "simulating the observed flows: {}",
            answer::words::counted(stage.simulations(), "simulation")
        ));
        work()
    }
}

/// Where the report of a run is.
pub(crate) fn page(folder: &Path) -> PathBuf {
    folder.join(api::REPORT)
}

/// The most steps of all simulations together: ten million take about a second.
const MOST_STEPS: f64 = 2e9;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn flow(number: u32) -> Flow {
        Flow {
            start_s: f64::from(number) * 1e-5,
            fct_s: 0.002,
            ..Flow::lossless(format!("10.0.0.{number}:5"), "10.0.1.1:80", 20_000)
        }
    }

    #[test]
    fn what_was_seen_is_simulated_with_every_cure() {
        let folder = std::env::temp_dir().join(format!("tw-predicts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let flows: Vec<_> = (1..=10).map(flow).collect();
        let seen = Observation {
            flows: 10,
            seconds: 1.0,
            rate_bps: 1_000_000_000,
            min_rtt_us: Some(60.0),
            min_rto_ms: Some(200.0),
            ..Observation::default()
        };
        let out = folder.join("seen.toml");
        fs::write(folder.join("seen.csv"), seen.trace(&flows)).unwrap();
        fs::write(&out, seen.scenario("seen", "seen.csv", &flows)).unwrap();
        let Ok(modelled) = predict(&out, &seen, &flows, (&[], Overrides::default())) else {
            panic!("a scenario without mistakes");
        };
        let said = modelled.prediction;
        // 200 KB at 1 Gbit/s and some round trips.
        assert!((0.0015..0.0025).contains(&said.model.fct_p99_s), "{said:?}");
        assert!(
            said.fits && said.cures.len() == seen.cures().len(),
            "{said:?}"
        );
        assert_eq!((said.rounds, said.model.round_p99_s), (0, None));
        assert!(
            said.cures.iter().all(|cure| cure.times.is_some()),
            "{said:?}"
        );
        assert!(page(&modelled.folder).is_file());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn rounds_are_simulated_as_those_that_were_seen() {
        let folder = std::env::temp_dir().join(format!("tw-rounds-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // Twelve answers at once, every 100 ms; each follows a request that comes in.
        let answer = |number: u32| Flow {
            start_s: 0.1 * f64::from(number / 12) + 1e-5 * f64::from(number % 12),
            ..flow(number + 1)
        };
        let request = |answer: &Flow| Flow {
            bytes: 6,
            fct_s: 0.0,
            sender: answer.receiver.clone(),
            receiver: answer.sender.clone(),
            leaves: false,
            ..answer.clone()
        };
        let answers = (0..60).map(answer);
        let flows: Vec<_> = answers
            .flat_map(|answer| [request(&answer), answer])
            .collect();
        let seen = Observation {
            flows: 120,
            seconds: 1.0,
            rate_bps: 1_000_000_000,
            min_rtt_us: Some(60.0),
            ..Observation::default()
        };
        let out = folder.join("seen.toml");
        fs::write(folder.join("seen.csv"), seen.trace(&flows)).unwrap();
        fs::write(&out, seen.scenario("seen", "seen.csv", &flows)).unwrap();
        let Ok(modelled) = predict(&out, &seen, &flows, (&[], Overrides::default())) else {
            panic!("a scenario without mistakes");
        };
        let said = modelled.prediction;
        // Requests in the other direction do not meet the queue, and do not count for the median.
        assert_eq!((said.flows, said.judged, said.rounds), (120, 60, 5));
        assert!(
            said.model.fct_p50_s > 1e-3 && said.observed.fct_p50_s > 1e-3,
            "{said:?}"
        );
        let model = said.model.round_p50_s.expect("rounds");
        // All rounds are alike: each lasts as long as its slowest flow, plus at most the 110 us between the starts.
        let slowest = said.model.fct_p99_s;
        assert!(
            (slowest - 1e-6..slowest + 111e-6).contains(&model),
            "{said:?}"
        );
        for cure in &said.cures {
            let times = cure.times.expect("it was simulated");
            assert!(
                times
                    .round_p99_s
                    .is_some_and(|took| took >= times.fct_p99_s - 1e-6),
                "{cure:?}"
            );
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_time_of_a_request_is_not_that_of_its_answer() {
        let folder = std::env::temp_dir().join(format!("tw-asked-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // The servers are 20 ms away. Their answers fit into a first window.
        let connection = |number: u32| {
            let start_s = 0.1 * f64::from(number);
            let answer = Flow {
                start_s,
                opened_s: Some(start_s - 0.02),
                bytes: 10_000,
                fct_s: 0.001,
                ..flow(number)
            };
            let request = Flow {
                start_s: start_s - 0.019,
                opened_s: Some(start_s - 0.04),
                bytes: 100,
                sender: answer.receiver.clone(),
                receiver: answer.sender.clone(),
                leaves: false,
                ..answer.clone()
            };
            [request, answer]
        };
        let flows: Vec<_> = (1..=10).flat_map(connection).collect();
        let seen = Observation {
            flows: 20,
            seconds: 2.0,
            rate_bps: 100_000_000,
            packet_bytes: [1, 0],
            min_rtt_us: Some(20_000.0),
            ..Observation::default()
        };
        let joined = seen.with_requests(&flows);
        assert!(joined.len() == 10 && joined.iter().all(|flow| flow.request.is_some()));
        let out = folder.join("seen.toml");
        fs::write(folder.join("seen.csv"), seen.trace(&joined)).unwrap();
        fs::write(&out, seen.scenario("seen", "seen.csv", &joined)).unwrap();
        let Ok(modelled) = predict(&out, &seen, &joined, (&[], Overrides::default())) else {
            panic!("a scenario without mistakes");
        };
        let said = modelled.prediction;
        // 10 KB at 100 Mbit/s take 0.8 ms, and a round trip more would be 20 ms.
        assert!((0.000_8..0.002).contains(&said.model.fct_p99_s), "{said:?}");
        assert_eq!((said.flows, said.judged, said.seconds), (10, 10, 2.0));
        fs::remove_dir_all(folder).unwrap();
    }
}
