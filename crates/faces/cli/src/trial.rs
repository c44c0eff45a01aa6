//! `tailwater trial`: watches, predicts, writes the plan, has the privileged program carry it out, and evaluates it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use observed::trial::{
    ExpectedEffect, ModelledFlows, SeenConnections, TrialEnd, TrialFlow, TrialGuard, TrialMeasure,
    TrialPeriod, TrialPlan, TrialResult, TrialShape, Unexpected, schedule,
};
use observed::{Flow, Observation};
use protocol::{Line, sha256};
use results::deliver;
use scenario::{Problem, Problems};
use serde_json::json;

use crate::args::law::LawArgs;
use crate::args::text_or_json::TextOrJson;
use crate::args::trial::{SettleArgs, TrialArgs, TrialCommand, TrialOrder};
use crate::law_settings;
use crate::observe::{Seen, Watched};
use crate::output::{self, Stop};
use crate::predict::{self, predict_law};
use crate::privileged;

/// Runs the command, which the user `given` as these words.
pub(crate) fn trial(args: &TrialArgs, given: &[String]) -> Result<(), Stop> {
    match (&args.then, &args.order) {
        (Some(TrialCommand::Settle(args)), _) => settle(args),
        (None, Some(order)) => carry_out((order, &args.law), given),
        (None, None) => unreachable!("the law and the device are required without a subcommand"),
    }
}

/// The whole way of a trial.
fn carry_out((order, law): (&TrialOrder, &LawArgs), given: &[String]) -> Result<(), Stop> {
    let measure = measure(order)?;
    law_settings::check(&order.scheme, &law.sets)?;
    // Whether the periods are long enough is only known after timers were seen.
    TrialShape::new(order.periods, order.period.as_secs_f64(), Some(0.0)).map_err(refused)?;
    let folder = order.out.clone().unwrap_or_else(|| {
        let usual = Path::new("results").join(format!("trial-{}", order.dev));
        predict::free(&usual)
    });
    let mut files = Files::create(&folder)?;
    let (seen, flows) = before((order, law), given)?;
    let plan = planned((order, law), measure, (&seen, &flows), (&folder, given))?;
    let hash = files.freeze(&plan)?;
    if order.format == TextOrJson::Table {
        output::answer(&answer::trial::planned(&plan))?;
    }
    output::complain(&format!(
        "{} is the plan, and SHA-256 {hash} is its hash",
        files.plan.display()
    ));
    if order.dry_run {
        return match order.format {
            TextOrJson::Table => Ok(()),
            TextOrJson::Json => {
                output::answer(&output::pretty(&json!({ "plan": plan, "hash": hash })))
            }
        };
    }
    output::complain(&format!(
        "if this command ends for any reason, packets pass unchanged two seconds later, and tailwater trial settle {} \
         prints the result",
        folder.display()
    ));
    let mut kept = Ok(());
    let words: [OsString; 5] = [
        "trial".into(),
        "--plan".into(),
        files.plan.clone().into(),
        "--hash".into(),
        (&hash).into(),
    ];
    let done = privileged::call(given, words.into(), &mut |line| {
        if let Line::TrialPeriod(period) = line {
            output::complain(&progress(&plan, period));
        }
        if kept.is_ok() {
            kept = files.keep(line);
        }
    });
    drop(done?);
    kept.map_err(|error| failed(&files.lines, &error))?;
    tell(&folder, order.format)
}

/// The measure, which the goal and the guard share.
fn measure(order: &TrialOrder) -> Result<TrialMeasure, Problems> {
    let goal = order.goal.map(|(measure, _)| measure);
    let guard = order.guard.map(|(measure, _)| measure);
    match (goal, guard) {
        (Some(goal), Some(guard)) if goal != guard => {
            let text = format!("--goal is about {goal}, but --guard is about {guard}");
            let problem = Problem::new(text);
            Err(problem
                .help("a trial has one measure: name it in both")
                .into())
        }
        _ => Ok(goal.or(guard).unwrap_or_default()),
    }
}

/// Watches the device before the law acts.
fn before(
    (order, law): (&TrialOrder, &LawArgs),
    given: &[String],
) -> Result<(Observation, Vec<Flow>), Stop> {
    let seconds = order.before.unwrap_or(order.period).as_secs();
    output::complain(&format!(
        "watching {} for {seconds} s before anything acts",
        order.dev
    ));
    let devs = [order.dev.clone()];
    let watched = Watched {
        devs: &devs,
        netns: law.netns.as_deref(),
        seconds,
        metrics: None,
        flows: true,
    };
    let Seen {
        observation: seen,
        flows,
        ..
    } = watched.watch_one(given)?;
    let judged: Vec<Flow> = judged(&seen, &flows);
    let each = judged.len() as u64 * order.period.as_secs() / seconds.max(1);
    if each < LEAST_FLOWS {
        return Err(refused(format!(
            "{} in {seconds} s: a period needs at least {LEAST_FLOWS} flows that end in it; make periods longer by --of",
            answer::words::counted(judged.len() as u64, "flow")
        ))
        .into());
    }
    SeenConnections::are_new(&judged).map_err(|why| {
        output::complain(&why);
        output::complain("let clients open new connections, or watch for longer with --before, until connections are seen \
            from their beginning");
        Stop::Failed
    })?;
    let flows = seen.with_requests(&flows);
    Ok((seen, flows))
}

/// The flows that pass the port in the direction of most of its traffic.
fn judged(seen: &Observation, flows: &[Flow]) -> Vec<Flow> {
    let passes = |flow: &&Flow| flow.leaves == seen.leaves();
    flows.iter().filter(passes).cloned().collect()
}

/// The plan, with the model's prediction for the law.
fn planned(
    (order, law): (&TrialOrder, &LawArgs),
    measure: TrialMeasure,
    (seen, flows): (&Observation, &[Flow]),
    (folder, given): (&Path, &[String]),
) -> Result<TrialPlan, Stop> {
    let shape = TrialShape::new(order.periods, order.period.as_secs_f64(), seen.min_rto_ms);
    let shape = shape.map_err(refused)?;
    let expected = expected(
        (order, law),
        (measure, &shape),
        (seen, flows),
        (folder, given),
    )?;
    let judged = judged(seen, flows);
    let mut times: Vec<f64> = judged.iter().map(|flow| flow.fct_s).collect();
    Ok(TrialPlan {
        version: sim::VERSION.to_owned(),
        law: order.scheme.clone(),
        sets: law.sets.clone(),
        buffer: law.buffer,
        device: order.dev.clone(),
        netns: law.netns.clone().unwrap_or_default(),
        shape,
        seed: order.seed,
        schedule: schedule(order.periods, order.seed),
        measure,
        goal: order.goal.map(|(_, goal)| goal),
        guard: order
            .guard
            .map_or(TrialGuard { worse: 0.5 }, |(_, guard)| guard),
        leaves: seen.leaves(),
        flows_before: judged.len() as u64,
        before_s: measure.of(&mut times).unwrap_or_default(),
        expected: expected.ok(),
        unexpected: expected.err(),
        analysis: ANALYSIS.to_owned(),
    })
}

/// The effect of the law in the model, or why there is none.
fn expected(
    (order, law): (&TrialOrder, &LawArgs),
    (measure, shape): (TrialMeasure, &TrialShape),
    (seen, flows): (&Observation, &[Flow]),
    (folder, given): (&Path, &[String]),
) -> Result<Result<ExpectedEffect, Unexpected>, Stop> {
    let out = folder.join("before.toml");
    let settings = (order.scheme.as_str(), law.sets.clone());
    let modelled = predict_law(&out, (seen, flows), settings, given)?;
    let Some(modelled) = modelled else {
        return Ok(Err(Unexpected::NotModelled));
    };
    let prediction = &modelled.prediction;
    if !prediction.fits {
        return Ok(Err(Unexpected::DoesNotFit));
    }
    let effect = || {
        let with_law = &prediction.of_law(&order.scheme)?.scheme;
        let flows = ModelledFlows {
            flows: &modelled.judged,
            today: modelled.timings(&prediction.scheme)?,
            law: modelled.timings(with_law)?,
            seconds: prediction.seconds,
        };
        ExpectedEffect::of(&flows, shape, measure, order.seed)
    };
    Ok(effect().ok_or(Unexpected::TooFew))
}

fn progress(plan: &TrialPlan, period: &TrialPeriod) -> String {
    let with = if period.on { &plan.law } else { "nothing" };
    match plan.schedule.len() as u64 {
        all if u64::from(period.number) < all => {
            format!("period {} of {all} is over, with {with}", period.number + 1)
        }
        _ => "the time after the trial is over".to_owned(),
    }
}

/// Prints the result of the trial in a folder.
fn settle(args: &SettleArgs) -> Result<(), Stop> {
    tell(&args.folder, args.format)
}

fn tell(folder: &Path, format: TextOrJson) -> Result<(), Stop> {
    let (plan, hash, found, end) = read(folder)?;
    output::answer(&match format {
        TextOrJson::Table => answer::trial::settled(&plan, &found, &end),
        TextOrJson::Json => output::pretty(&json!({
            "plan": plan, "hash": hash, "result": found, "end": end,
        })),
    })
}

/// Reads and settles the files of a trial.
fn read(folder: &Path) -> Result<(TrialPlan, String, TrialResult, TrialEnd), Problems> {
    let opened = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).map_err(|error| {
            let problem = Problem::new(format!("{}: {error}", path.display()));
            Problems::from(problem.help("name the folder of a trial, as in results/trial-eth1"))
        })
    };
    let plan = opened(PLAN)?;
    let hash = sha256(&plan);
    let plan: TrialPlan = serde_json::from_slice(&plan).map_err(|error| {
        let problem = Problem::new(format!("{}: {error}", folder.join(PLAN).display()));
        problem.help("settle it with the version that made it")
    })?;
    let text = opened(protocol::FILE)?;
    let text = String::from_utf8_lossy(&text);
    // A killed trial may have left half a line.
    let whole = text.rfind('\n').map_or(0, |last| last + 1);
    let lines = protocol::read_all(&text[..whole]).map_err(|error| {
        let problem = Problem::new(format!(
            "{}: {error}",
            folder.join(protocol::FILE).display()
        ));
        problem.help("restore the file as the trial wrote it")
    })?;
    let (mut periods, mut flows, mut end, mut begun) =
        (Vec::new(), Vec::<TrialFlow>::new(), None, None);
    for line in lines {
        match line {
            Line::TrialBegin(begin) => begun = Some(begin.plan),
            Line::TrialPeriod(period) => periods.push(period),
            Line::TrialFlow(flow) => flows.push(flow),
            Line::TrialEnd(told) => end = Some(told),
            _ => {}
        }
    }
    if begun.as_ref().is_some_and(|begun| *begun != hash) {
        let begun = begun.unwrap_or_default();
        let path = folder.join(PLAN);
        let problem = Problem::new(format!(
            "{} is not the plan that this trial began with: its SHA-256 is {hash}, and that of the plan was {begun}",
            path.display()
        ));
        return Err(problem
            .help("the plan must not change after the start: restore it")
            .into());
    }
    let killed = || TrialEnd {
        stopped: Some("it was killed".to_owned()),
        ..TrialEnd::default()
    };
    let end = end.unwrap_or_else(killed);
    let found = plan.settle(&periods, &flows, &end);
    Ok((plan, hash, found, end))
}

/// The files of a running trial.
struct Files {
    plan: PathBuf,
    lines: PathBuf,
    file: File,
}

impl Files {
    fn create(folder: &Path) -> Result<Self, Stop> {
        let lines = folder.join(protocol::FILE);
        let create = || {
            fs::create_dir_all(folder)?;
            File::create_new(&lines)
        };
        let file = create().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let text = format!(
                    "--out {}: this folder already has a trial",
                    folder.display()
                );
                let problem = Problem::new(text).help("choose another folder");
                Stop::WrongInput(problem.into())
            }
            _ => failed(&lines, &error),
        })?;
        Ok(Self {
            plan: folder.join(PLAN),
            lines,
            file,
        })
    }

    /// Writes the plan, and returns its hash.
    fn freeze(&self, plan: &TrialPlan) -> Result<String, Stop> {
        let text = output::pretty(&json!(plan));
        deliver(&self.plan, |file| file.write_all(text.as_bytes())).map_err(|error| {
            output::complain(&error.to_string());
            Stop::Failed
        })?;
        Ok(sha256(text.as_bytes()))
    }

    fn keep(&mut self, line: &Line) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }
}

fn failed(path: &Path, error: &io::Error) -> Stop {
    output::complain(&format!("{}: {error}", path.display()));
    Stop::Failed
}

fn refused(why: String) -> Problems {
    Problem::new(why).into()
}

/// The file of a trial's plan.
const PLAN: &str = "plan.json";
/// A period with fewer flows has no measure.
const LEAST_FLOWS: u64 = 5;
/// The method by which every trial is evaluated.
const ANALYSIS: &str = "Of each pair of neighbouring periods, the logarithm of the measure with the law over that without it. The effect is \
     the mean of these. Its probability under chance is that of a mean as large if coins give each pair its sign; its \
     interval of 97 % is that of the means of subsets of pairs. Flows do not count that begin within the settling time \
     after a switch or before the next one, that are not over at the next one, or whose connection opened before their \
     period. A probability of at most 1/32 is a difference: then at most ten of 200 trials of a law without effect are expected to be called one. \
     The prediction holds if the effect lies in its interval of 80 %.";
