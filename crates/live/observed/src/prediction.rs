//! The results of a model of the present: whether to believe it, and the effects of cures.

use serde::{Deserialize, Serialize};

use crate::command::{CommandSite, CureCommand, Peers};
use crate::cure::{AttachPoint, Cure, CureAttachment, TriedValue};
use crate::fit::{Deviation, Fit};
use crate::rounds::{FlowTiming, Rounds};
use crate::seen::{Flow, Observation};
use crate::times::FlowTimes;

/// The predicted effect of one cure.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Predicted {
    /// Its name for people.
    pub name: String,
    /// Its label among the schemes of the scenario.
    pub scheme: String,
    /// How `tailwater attach` applies it, if it can.
    pub attach: Option<CureAttachment>,
    /// The setting and value, if the cure is a value of a setting.
    pub rung: Option<TriedValue>,
    /// All its commands, in order; empty if no command can apply it.
    pub commands: Vec<CureCommand>,
    /// The times of the flows with it; `None` if it could not be simulated.
    pub times: Option<FlowTimes>,
    /// The waiting time in the model of today divided by that with the cure. If the 99th percentile of flows gains
    /// less, its ratio instead.
    pub gain: Option<f64>,
}

/// The waiting time by which cures are ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    /// The 99th percentile of flows, if rounds cannot be found.
    #[default]
    FctP99S,
    /// The 99th percentile of rounds.
    RoundP99S,
    /// The median of rounds, if they are so few that the 99th percentile is the slowest: whether that has a timeout is
    /// chance.
    RoundP50S,
}

/// The value of a setting beyond which nothing is gained.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Knee {
    /// The setting's name for people.
    pub setting: String,
    /// The value with its unit.
    pub value: String,
    /// The waiting time with it, in seconds.
    pub waited_s: f64,
}

/// A model of the observation, and its results for cures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Prediction {
    /// Flows that were simulated.
    pub flows: u64,
    /// The flows that count: those that pass the port in the direction of most traffic. Flows in the opposite
    /// direction, such as requests for answers, do not meet its queue.
    pub judged: u64,
    /// Seconds in which they began: all of the observation, or its first part.
    pub seconds: f64,
    /// Rounds of these flows: all that one receiver requests at one time. `None` if they cannot be found.
    pub rounds: u64,
    /// The observed times of these flows.
    pub observed: FlowTimes,
    /// Their times in the model.
    pub model: FlowTimes,
    /// The scheme of the model.
    pub scheme: String,
    /// The waiting time by which cures are ranked.
    pub waited: RankedBy,
    /// The deviation of the model from the observation.
    pub fit: Fit,
    /// Whether its median, its tail and its timeouts fit.
    pub fits: bool,
    /// The factor by which the model errs: the largest of those of the median, of the 99th percentile, and of the
    /// waiting time.
    pub errs: f64,
    /// Assumptions of the model that were not observed.
    pub guessed: Vec<String>,
    /// The cure with the largest gain first; those that could not be simulated last.
    pub cures: Vec<Predicted>,
    /// Names of the cures that gain more than the model errs and can be applied by command, in the order in which to
    /// try them; empty if the model does not fit.
    pub advice: Vec<String>,
    /// Values of settings beyond which nothing is gained, if the model fits.
    pub knees: Vec<Knee>,
}

impl Prediction {
    /// The prediction for these flows of the observation. Those count that pass the port in the direction of most
    /// traffic. `model` is the result of the model of today, and each cure comes with its result.
    #[must_use]
    pub fn new(
        (seen, flows): (&Observation, &[Flow]),
        model: FlowTimes,
        cures: impl IntoIterator<Item = (Cure, Option<FlowTimes>)>,
    ) -> Self {
        let rounds = Rounds::of(flows);
        let outcomes: Vec<_> = flows.iter().map(FlowTiming::from).collect();
        let observed = FlowTimes::of(&outcomes, &rounds).unwrap_or_default();
        let fit = Fit::new(&observed, &model);
        let waited = match (rounds.count(), model.round_p99_s) {
            (0, _) | (_, None) => RankedBy::FctP99S,
            (100.., _) => RankedBy::RoundP99S,
            _ => RankedBy::RoundP50S,
        };
        let of_both = waited.of(&observed).zip(waited.of(&model));
        let of_waited = of_both.map_or(1.0, |(seen, said)| Deviation::of_times(seen, said).times);
        let peers = Peers::of(seen, flows);
        let cures = cures.into_iter().map(|(cure, times)| Predicted {
            commands: cure.commands(&peers),
            name: cure.name,
            scheme: cure.scheme,
            attach: cure.attach,
            rung: cure.rung,
            times,
            gain: None,
        });
        let mut said = Self {
            flows: flows.len() as u64,
            judged: flows.len() as u64,
            rounds: rounds.count() as u64,
            waited,
            fits: fit.fits(),
            errs: fit.median.times.max(fit.tail.times).max(of_waited),
            fit,
            observed,
            model,
            cures: cures.collect(),
            ..Self::default()
        };
        said.rank();
        said
    }

    /// The cures that are advised, in the order in which to try them.
    pub fn advised(&self) -> impl Iterator<Item = &Predicted> {
        let named = |name: &String| self.cures.iter().find(|cure| cure.name == *name);
        self.advice.iter().filter_map(named)
    }

    /// The effect of the law that `attach` knows by this name, if it was simulated.
    #[must_use]
    pub fn of_law(&self, law: &str) -> Option<&Predicted> {
        let is_it = |attach: &CureAttachment| attach.scheme == law;
        let mut cures = self.cures.iter();
        cures.find(|cure| cure.times.is_some() && cure.attach.as_ref().is_some_and(is_it))
    }

    /// The best cure that would gain more than the model errs but cannot be applied by command.
    #[must_use]
    pub fn elsewhere(&self) -> Option<&Predicted> {
        let mut gaining = self.cures.iter().filter(|cure| self.gains(cure));
        gaining.find(|cure| cure.commands.is_empty())
    }

    /// Guesses that influence the measures that do not fit.
    #[must_use]
    pub fn suspects(&self) -> Vec<&str> {
        let decides = |guess: &&str| {
            let of = |keys: &[&str]| keys.contains(guess);
            !self.fit.median.fits && of(&["rate", "delay", "mss", "schemes"])
                || !self.fit.tail.fits && of(&["buffer", "min_rto", "rate", "schemes"])
                || !self.fit.timeouts.fits && of(&["buffer", "min_rto", "schemes"])
        };
        let keys = self
            .guessed
            .iter()
            .filter_map(|guess| guess.split(' ').next());
        keys.filter(decides).collect()
    }

    /// Whether a cure gains more than the model errs, so that the gain is not just the error.
    fn gains(&self, cure: &Predicted) -> bool {
        self.fits && cure.gain.is_some_and(|gain| gain > self.errs)
    }

    /// Sorts cures by their gain, and derives advice and knees.
    fn rank(&mut self) {
        let mut cures = std::mem::take(&mut self.cures);
        for cure in &mut cures {
            cure.gain = cure.times.and_then(|times| self.gain_of(&times));
        }
        let gain = |cure: &Predicted| cure.gain.unwrap_or(0.0);
        cures.sort_by(|one, other| gain(other).total_cmp(&gain(one)));
        self.cures = cures;
        self.advice = self.advise();
        if self.fits {
            self.knees = self.knees();
        }
    }

    /// The waiting time in the model of today divided by that with a cure. If cures are ranked by rounds, the 99th
    /// percentile of flows has to gain as much: the median of rounds alone says nothing of their tail.
    fn gain_of(&self, times: &FlowTimes) -> Option<f64> {
        let ratio = |of: RankedBy| {
            let (today, with) = (of.of(&self.model)?, of.of(times)?);
            Some(today / with.max(SHORTEST_S))
        };
        Some(ratio(self.waited)?.min(ratio(RankedBy::FctP99S)?))
    }

    /// If cures differ by less than the model errs, the simplest comes first. Of each setting one value is advised.
    fn advise(&self) -> Vec<String> {
        let mut gaining: Vec<_> = self.cures.iter().filter(|cure| self.gains(cure)).collect();
        gaining.retain(|cure| !cure.commands.is_empty() && self.is_enough(cure));
        let best = gaining.first().and_then(|cure| cure.gain).unwrap_or(0.0);
        let order = |cure: &&Predicted| {
            let is_best = cure.gain.is_some_and(|gain| gain * self.errs >= best);
            (!is_best, is_best.then(|| Effort::of(cure)))
        };
        gaining.sort_by_key(order);
        gaining.iter().map(|cure| cure.name.clone()).collect()
    }

    /// Whether a cure is not a value of a setting, or is the cheapest value that is as good as the best one.
    fn is_enough(&self, cure: &Predicted) -> bool {
        let Some(rung) = &cure.rung else { return true };
        let values = self.cures.iter().filter_map(|other| {
            let of = other.rung.as_ref()?;
            (of.setting == rung.setting).then_some((of.place, other.gain?))
        });
        let best = values.clone().map(|(_, gain)| gain).fold(0.0, f64::max);
        let enough = values.filter(|(_, gain)| gain * self.errs >= best);
        enough.map(|(place, _)| place).min() == Some(rung.place)
    }

    /// The first value of each setting that is as good as the best, if the value before it is worse. Today's value
    /// counts as the first, except for a receive buffer, which is larger today.
    fn knees(&self) -> Vec<Knee> {
        let rungs = self.cures.iter();
        let rungs = rungs.filter_map(|cure| Some((cure.rung.as_ref()?, cure.gain?, cure.times?)));
        let mut rungs: Vec<_> = rungs.collect();
        rungs.sort_by_key(|(rung, ..)| (&rung.setting, rung.place));
        let ladders = rungs.chunk_by(|(one, ..), (other, ..)| one.setting == other.setting);
        let knee = |ladder: &[(&TriedValue, f64, FlowTimes)]| {
            let (first, ..) = *ladder.first()?;
            let is_last = first.setting == "receive buffer";
            // Today gains nothing and loses nothing.
            let best = ladder.iter().map(|(_, gain, _)| *gain).fold(1.0, f64::max);
            let is_enough = |gain: f64| gain * self.errs >= best;
            let at = ladder.iter().position(|(_, gain, _)| is_enough(*gain))?;
            let is_beyond = is_last || at + 1 < ladder.len();
            let is_above = if is_last { at > 0 } else { !is_enough(1.0) };
            let (rung, _, times) = &ladder[at];
            (is_beyond && is_above).then(|| Knee {
                setting: rung.setting.clone(),
                value: rung.value.clone(),
                waited_s: self.waited.of(times).unwrap_or_default(),
            })
        };
        ladders.filter_map(knee).collect()
    }
}

/// The effort of applying a cure, least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effort {
    SettingHere,
    AttachHere,
    SettingAtReceiver,
    AttachAtReceiver,
    SettingAtSenders,
    Several,
}

impl Effort {
    fn of(cure: &Predicted) -> Self {
        match (&cure.commands[..], &cure.attach) {
            ([one], None) => match one.site {
                CommandSite::Here => Self::SettingHere,
                CommandSite::Receiver => Self::SettingAtReceiver,
                CommandSite::Senders | CommandSite::Hosts => Self::SettingAtSenders,
            },
            ([one], Some(_)) if one.site == CommandSite::Here => Self::AttachHere,
            ([_], Some(_)) => Self::AttachAtReceiver,
            _ => Self::Several,
        }
    }
}

impl RankedBy {
    /// The value in these times; `None` if it never ends.
    #[must_use]
    pub const fn of(self, times: &FlowTimes) -> Option<f64> {
        match self {
            Self::FctP99S => Some(times.fct_p99_s),
            Self::RoundP99S => times.round_p99_s,
            Self::RoundP50S => times.round_p50_s,
        }
    }
}

impl Predicted {
    /// Whether it can be attached by the device that was watched.
    #[must_use]
    pub fn is_attached_here(&self) -> bool {
        let is_port = |way: &CureAttachment| way.at == AttachPoint::Port;
        let is_here = self
            .commands
            .iter()
            .all(|one| one.site == CommandSite::Here);
        self.attach
            .as_ref()
            .is_some_and(|way| is_port(way) || is_here)
    }
}

/// Shorter times count as this one.
const SHORTEST_S: f64 = 1e-9;

#[cfg(test)]
pub(crate) mod tests;
