//! One simulation as an environment.

use std::sync::Arc;

use base::cast::{real, single, whole};
use base::{FlowId, Span, Time};
use scenario::{Overrides, Problem, Problems, Source};
use schemes::FlowInfo;
use sim::error::RunError;
use sim::observation::{FlowState, PortState};
use sim::stepper::Stepper;
use tcp::Config;

use crate::draw::{Draw, Template};
use crate::facts::Facts;
use crate::settings::{Act, EnvironmentSettings, Feature, Term};
use crate::slot::{Counts, Slot, Slots};
use crate::view::View;

/// The common parts of environments.
#[derive(Debug)]
pub struct Task {
    settings: EnvironmentSettings,
    template: Template,
    /// Agents of every episode.
    agents: usize,
    /// Lowest and highest number of a decision.
    bounds: (f64, f64),
    max_window: f64,
}

/// Why an environment cannot go on.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EnvironmentFailure {
    /// The drawn settings are no valid scenario.
    #[error("{0}")]
    Scenario(Problems),
    /// The simulation says what went wrong.
    #[error("{0}")]
    Run(#[from] RunError),
    /// An episode has other agents than the first one.
    #[error(
        "an episode has {found} connections where the others have {expected}: agents of single flows need the same \
         number in all"
    )]
    Agents {
        /// Agents of this episode.
        found: usize,
        /// Agents of the others.
        expected: usize,
    },
}

/// A step of an environment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// What it was worth.
    pub reward: f64,
    /// Whether all flows are over.
    pub terminated: bool,
    /// Whether the episode was truncated: by the duration of the scenario, or by the number of its steps.
    pub truncated: bool,
    /// The terms of the step, in the order of [`Term::ALL`].
    pub terms: [f64; Term::ALL.len()],
}

/// What an episode came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Episode {
    /// The seed that repeats it.
    pub seed: u64,
    /// Its steps.
    pub steps: u64,
    /// Flows that are complete, and flows whose connection failed.
    pub completed: u64,
    /// Flows whose connection failed.
    pub failed: u64,
    /// Completion times of the complete flows, microseconds: the mean and the largest. NaN without any.
    pub fct_mean_us: f64,
    /// The largest.
    pub fct_max_us: f64,
    /// Packets dropped in front of receiving hosts and at the bottleneck.
    pub drops: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
}

impl Task {
    /// Agents in one simulation: with `overrides`, the scenario must have one scheme and one value of every setting,
    /// except for the settings that each episode draws.
    ///
    /// # Errors
    /// All errors in the scenario and in the settings.
    pub fn new(
        settings: EnvironmentSettings,
        (source, overrides): (Source, Overrides),
        draws: Vec<Draw>,
    ) -> Result<Self, Problems> {
        settings.check()?;
        let template = Template::new(source, overrides, draws)?;
        let largest = template.largest()?;
        let stepper =
            Stepper::new(largest.clone()).map_err(|error| Problem::new(error.to_string()))?;
        let facts = Facts::of(&settings, &largest, (stepper.topology(), stepper.seen()));
        let max_window = settings
            .max_window
            .unwrap_or_else(|| facts.filling_window(&largest));
        let bounds = match settings.act {
            Act::Window => (1.0, max_window),
            Act::Rate => (LEAST_RATE, 1.0),
            Act::Factor => (0.5, 2.0),
        };
        Ok(Self {
            agents: facts.agents,
            settings,
            template,
            bounds,
            max_window,
        })
    }

    /// The number of agents in every episode.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// The features that an agent sees.
    pub fn features(&self) -> &[Feature] {
        &self.settings.observe
    }

    /// The bounds of a decision; numbers outside count as the nearest bound.
    pub fn bounds(&self) -> (f64, f64) {
        self.bounds
    }

    /// The number of values in an observation.
    pub fn observation_len(&self) -> usize {
        self.agents * self.settings.observe.len()
    }
}

/// One simulation in which agents control the senders.
#[derive(Debug)]
pub struct Environment {
    task: Arc<Task>,
    stepper: Stepper,
    slots: Slots,
    /// For every connection: the slot that its sender and its agent share, and the counts at the last decision.
    senders: Vec<(Arc<Slot>, Counts)>,
    facts: Facts,
    /// Of every agent.
    views: Vec<View>,
    /// Ports at the last decision.
    ports: Vec<PortState>,
    /// Flows that were complete at the last decision.
    completed: u64,
    /// The time of the last decision.
    now: Time,
    steps: u64,
}

impl Environment {
    /// The episode with this seed, before its first flow starts.
    ///
    /// # Errors
    /// If the seed draws an invalid scenario, or one with other agents.
    pub fn new(task: Arc<Task>, seed: u64) -> Result<Self, EnvironmentFailure> {
        let slots = Slots::new(task.settings.act == Act::Rate);
        let (stepper, facts) = begin(&task, &slots, seed)?;
        let mut made = Self {
            task,
            senders: Vec::new(),
            views: Vec::new(),
            ports: Vec::new(),
            completed: 0,
            stepper,
            slots,
            facts,
            now: Time::ZERO,
            steps: 0,
        };
        made.settle_in();
        Ok(made)
    }

    /// Begins the episode with this seed.
    ///
    /// # Errors
    /// Like [`Environment::new`]. After an error the previous episode still exists.
    pub fn reset(&mut self, seed: u64) -> Result<(), EnvironmentFailure> {
        if self.task.template.is_drawn() {
            let (stepper, facts) = begin(&self.task, &self.slots, seed)?;
            (self.stepper, self.facts) = (stepper, facts);
        } else {
            self.stepper.reset(seed)?;
            self.facts = facts(&self.task, &self.stepper)?;
        }
        self.settle_in();
        Ok(())
    }

    /// Applies these decisions, a number for every agent, and advances to the next decision.
    ///
    /// # Panics
    /// If the number of decisions is not the number of agents.
    pub fn step(&mut self, decisions: &[f32]) -> Step {
        assert_eq!(
            decisions.len(),
            self.task.agents,
            "one decision for each agent"
        );
        self.decide(decisions);
        let until = self.now + self.facts.interval;
        self.stepper.advance(until);
        self.steps += 1;
        self.look();
        let terms = self.account(until);
        self.ports.clone_from(&self.stepper.seen().ports);
        self.now = until;
        let flows = &self.stepper.seen().flows;
        let terminated = flows.iter().all(FlowState::is_over);
        let most = self.task.settings.max_steps;
        let is_cut = self.stepper.finished() || most.is_some_and(|most| self.steps >= most);
        let of_each = Term::ALL.iter().zip(terms);
        let weights = &self.task.settings.reward;
        let worth = |(term, value): (&Term, f64)| {
            let own = weights.iter().filter(|(of, _)| of == term);
            own.map(|(_, weight)| weight * value).sum::<f64>()
        };
        Step {
            reward: of_each.map(worth).sum(),
            terminated,
            truncated: is_cut && !terminated,
            terms,
        }
    }

    /// Writes the observations: agents one after the other, each with the requested features.
    ///
    /// # Panics
    /// If `into` has the wrong length.
    pub fn observe(&self, into: &mut [f32]) {
        let features = &self.task.settings.observe;
        assert_eq!(
            into.len(),
            self.task.observation_len(),
            "room for every feature"
        );
        for ((agent, view), seen) in self
            .views
            .iter()
            .enumerate()
            .zip(into.chunks_exact_mut(features.len()))
        {
            for (feature, number) in features.iter().zip(seen) {
                *number = single(view.feature(*feature, agent, (&self.facts, self.now)));
            }
        }
    }

    /// The results of the episode so far.
    pub fn episode(&self) -> Episode {
        let seen = self.stepper.seen();
        let (mut completed, mut sum, mut largest) = (0, 0.0, f64::NAN);
        for flow in &seen.flows {
            if let (Some(start), Some(end)) = (flow.start, flow.completion) {
                let took = end.since(start).as_micros();
                completed += 1;
                sum += took;
                largest = took.max(largest);
            }
        }
        Episode {
            seed: self.seed(),
            steps: self.steps,
            completed,
            failed: seen.flows.iter().filter(|flow| flow.failed).count() as u64,
            fct_mean_us: sum / real(completed),
            fct_max_us: largest,
            drops: seen.ports.iter().map(|port| port.counters.drops).sum(),
            timeouts: self
                .senders
                .iter()
                .map(|(slot, _)| slot.counts().timeouts)
                .sum(),
        }
    }

    /// The seed of the episode.
    pub fn seed(&self) -> u64 {
        self.stepper.point().seed
    }

    /// The simulated time, in microseconds.
    pub fn now_us(&self) -> f64 {
        self.now.since(Time::ZERO).as_micros()
    }

    /// The simulation.
    pub fn stepper(&self) -> &Stepper {
        &self.stepper
    }

    /// Begins an episode: advances to the first start.
    fn settle_in(&mut self) {
        let point = self.stepper.point();
        let config = |group: u32| {
            let group = &point.groups[group as usize];
            sim::endpoint_config(&group.keys, &group.roles())
        };
        let configs: Vec<Config> = (0..).take(point.groups.len()).map(config).collect();
        let connections = &self.stepper.seen().connections;
        let slots = self
            .slots
            .renew(connections.iter().map(|one| &configs[one.group as usize]));
        self.senders = slots.into_iter().map(|slot| (slot, Counts::NONE)).collect();
        self.views.clear();
        self.views.resize(self.facts.agents, View::FRESH);
        // The first decision is at the first start.
        self.now = self.stepper.first_start().before(Span::from_ps(1));
        self.stepper.advance(self.now);
        self.ports.clone_from(&self.stepper.seen().ports);
        self.completed = 0;
        self.steps = 0;
        self.look();
    }

    fn decide(&self, decisions: &[f32]) {
        let (least, most) = self.task.bounds;
        for ((slot, _), place) in self.senders.iter().zip(&self.facts.connections) {
            let decision = f64::from(decisions[place.agent]).clamp(least, most);
            let mss = real(slot.mss());
            match self.task.settings.act {
                Act::Window => slot.set_window(rounded(decision * mss)),
                Act::Rate => slot.set_rate(decision * self.facts.link),
                Act::Factor => {
                    let window = real(slot.window()) * decision;
                    slot.set_window(rounded(window.clamp(mss, self.task.max_window * mss)));
                }
            }
        }
    }

    /// Observes everything, and takes the counts since the last observation.
    fn look(&mut self) {
        let seen = self.stepper.seen();
        let facts = &self.facts;
        self.views.iter_mut().for_each(View::begin_step);
        for (((slot, past), place), state) in self
            .senders
            .iter_mut()
            .zip(&facts.connections)
            .zip(&seen.connections)
        {
            let counts = slot.counts();
            let view = &mut self.views[place.agent];
            view.add(counts.since(*past), place.round_trip);
            *past = counts;
            let mss = real(slot.mss());
            view.in_flight += real(state.in_flight) / mss;
            view.remaining += real(state.in_flight + state.unsent) / mss;
        }
        for flow in &seen.flows {
            if let Some(start) = flow.start.filter(|_| !flow.is_over()) {
                let connection = flow.connection as usize;
                let (slot, _) = &self.senders[connection];
                let view = &mut self.views[facts.connections[connection].agent];
                view.active += 1;
                view.oldest = view.oldest.min(start);
                let round_trip = facts.connections[connection].round_trip;
                view.windows += slot.allowed(round_trip) / real(slot.mss());
            }
        }
        for (view, (_, port)) in self.views.iter_mut().zip(&facts.links) {
            let (now, past) = (&seen.ports[*port], &self.ports[*port]);
            view.waiting = now.waiting;
            view.drops = now.counters.drops - past.counters.drops;
            view.end_step();
        }
    }

    /// The terms of the step up to `until`.
    fn account(&mut self, until: Time) -> [f64; Term::ALL.len()] {
        let seen = self.stepper.seen();
        let facts = &self.facts;
        let interval = facts.interval.as_secs();
        let counts = self.views.iter().map(|view| view.counts);
        let counts = counts.fold(Counts::NONE, Counts::and);
        let ratios: f64 = self.views.iter().map(|view| view.ratios).sum();
        let runs = |flow: &FlowState| {
            let begin = flow.start?.max(self.now);
            // The time of a connection's failure is unknown, so its flows count up to the step of the failure.
            let end = flow
                .completion
                .unwrap_or(if flow.failed { begin } else { until });
            Some(end.max(begin).since(begin).as_secs())
        };
        let drops = seen.ports.iter().zip(&self.ports);
        let drops: u64 = drops
            .map(|(now, past)| now.counters.drops - past.counters.drops)
            .sum();
        let completed = seen
            .flows
            .iter()
            .filter(|flow| flow.completion.is_some())
            .count() as u64;
        let terms = std::array::from_fn(|place| match Term::ALL[place] {
            Term::Goodput => real(counts.acked) / (facts.capacity * interval),
            Term::FlowTime => seen.flows.iter().filter_map(runs).sum::<f64>() / interval,
            Term::Delay if counts.rtts == 0 => 0.0,
            Term::Delay => ratios / real(counts.rtts) - 1.0,
            Term::Queue => real(seen.ports[facts.bottleneck].waiting) / facts.buffer,
            Term::Drops => real(drops),
            Term::Losses => real(counts.losses),
            Term::Timeouts => real(counts.timeouts),
            Term::Completed => real(completed - self.completed),
        });
        self.completed = completed;
        terms
    }
}

/// The simulation with a seed, at time zero.
fn begin(task: &Task, slots: &Slots, seed: u64) -> Result<(Stepper, Facts), EnvironmentFailure> {
    let point = task
        .template
        .point(seed)
        .map_err(EnvironmentFailure::Scenario)?;
    let own = slots.clone();
    let senders = move |id: FlowId, info: &FlowInfo| own.sender(id, info);
    let stepper = Stepper::with_senders(point, Arc::new(senders))?;
    let facts = facts(task, &stepper)?;
    Ok((stepper, facts))
}

fn facts(task: &Task, stepper: &Stepper) -> Result<Facts, EnvironmentFailure> {
    let facts = Facts::of(
        &task.settings,
        stepper.point(),
        (stepper.topology(), stepper.seen()),
    );
    if facts.agents == task.agents {
        return Ok(facts);
    }
    Err(EnvironmentFailure::Agents {
        found: facts.agents,
        expected: task.agents,
    })
}

/// A window in bytes, at least zero.
fn rounded(bytes: f64) -> u64 {
    whole(bytes.round())
}

/// The least rate, as a share of the link, so that packets leave eventually.
const LEAST_RATE: f64 = 0.001;
