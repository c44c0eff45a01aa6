//! What a model of the present says, whether to believe it, and what cures would change.

use serde::{Deserialize, Serialize};

use crate::command::{Command, Peers, Site};
use crate::cure::{Attach, AttachPoint, Cure, TriedValue};
use crate::fit::{Deviation, Fit};
use crate::rounds::{FlowTiming, Rounds};
use crate::seen::{Flow, Observation};
use crate::times::Times;

/// The predicted effect of one cure.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Predicted {
    /// Its name for people.
    pub name: String,
    /// Its label among the schemes of the scenario.
    pub scheme: String,
    /// How `tailwater attach` puts it there, if it can.
    pub attach: Option<Attach>,
    /// Which value of which setting it is, if it is one.
    pub rung: Option<TriedValue>,
    /// All that has to be typed for it, in this order; nothing if no command puts it there.
    pub commands: Vec<Command>,
    /// The flows with it; none if it could not be simulated.
    pub times: Option<Times>,
    /// What is waited for with the model of today, over the same with the cure; if the 99th percentile of flows gains
    /// less, by how much that does.
    pub gain: Option<f64>,
}

/// The waiting time by which cures are ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    /// The 99th percentile of flows, where nobody can tell rounds.
    #[default]
    FctP99S,
    /// The 99th percentile of rounds.
    RoundP99S,
    /// The median of rounds, where they are so few that the 99th percentile is the slowest: whether one of them has a
    /// timeout is chance.
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

/// A model of what was seen, and what it says of cures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Prediction {
    /// Flows that were simulated.
    pub flows: u64,
    /// Those of them by which everything is judged: that pass the port the way most of its traffic does. What goes the
    /// other way, as requests for answers, does not meet its queue.
    pub judged: u64,
    /// Seconds in which they began: all of the observation, or its first part.
    pub seconds: f64,
    /// Rounds of these flows: all that one receiver asks for at one time. None if they cannot be told.
    pub rounds: u64,
    /// The observed times of these flows.
    pub observed: Times,
    /// Their times in the model.
    pub model: Times,
    /// The scheme of the model.
    pub scheme: String,
    /// The waiting time by which cures are ranked.
    pub waited: RankedBy,
    /// How far the model is from what was seen.
    pub fit: Fit,
    /// Whether its median, its tail and its timeouts fit.
    pub fits: bool,
    /// By what factor the model errs: the largest of those of the median, of the 99th percentile, and of what is waited
    /// for.
    pub errs: f64,
    /// Assumptions of the model that were not observed.
    pub guessed: Vec<String>,
    /// Best first, by what they gain; those that could not be simulated last.
    pub cures: Vec<Predicted>,
    /// Names of the cures that gain more than the model errs and can be put there by command, the first to be tried
    /// first; none if the model does not fit.
    pub advice: Vec<String>,
    /// Values of settings beyond which nothing is gained, if the model fits.
    pub knees: Vec<Knee>,
}

impl Prediction {
    /// From these flows of what was seen, those that pass the port the way most of its traffic does, whose model of today
    /// says `model`, and cures with what the model says of each.
    #[must_use]
    pub fn new(
        (seen, flows): (&Observation, &[Flow]),
        model: Times,
        cures: impl IntoIterator<Item = (Cure, Option<Times>)>,
    ) -> Self {
        let rounds = Rounds::of(flows);
        let outcomes: Vec<_> = flows.iter().map(FlowTiming::from).collect();
        let observed = Times::of(&outcomes, &rounds).unwrap_or_default();
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

    /// The cures that are advised, the first to be tried first.
    pub fn advised(&self) -> impl Iterator<Item = &Predicted> {
        let named = |name: &String| self.cures.iter().find(|cure| cure.name == *name);
        self.advice.iter().filter_map(named)
    }

    /// The effect of the law that `attach` calls so, if that was simulated.
    #[must_use]
    pub fn of_law(&self, law: &str) -> Option<&Predicted> {
        let is_it = |attach: &Attach| attach.scheme == law;
        let mut cures = self.cures.iter();
        cures.find(|cure| cure.times.is_some() && cure.attach.as_ref().is_some_and(is_it))
    }

    /// The best cure that would gain more than the model errs, and that no command puts there.
    #[must_use]
    pub fn elsewhere(&self) -> Option<&Predicted> {
        let mut gaining = self.cures.iter().filter(|cure| self.gains(cure));
        gaining.find(|cure| cure.commands.is_empty())
    }

    /// Guesses by which the measures that do not fit are decided.
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

    /// Whether a cure gains more than the model errs, so that the gain is not the error.
    fn gains(&self, cure: &Predicted) -> bool {
        self.fits && cure.gain.is_some_and(|gain| gain > self.errs)
    }

    /// Sorts cures by what they gain, and finds what is to be said of them.
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

    /// What is waited for with the model of today over the same with a cure. Where that is rounds, the 99th percentile of
    /// flows has to gain as much: the median of rounds alone says nothing of their tail.
    fn gain_of(&self, times: &Times) -> Option<f64> {
        let ratio = |of: RankedBy| {
            let (today, with) = (of.of(&self.model)?, of.of(times)?);
            Some(today / with.max(SHORTEST_S))
        };
        Some(ratio(self.waited)?.min(ratio(RankedBy::FctP99S)?))
    }

    /// Of cures that differ by less than the model errs the simplest comes first; of each setting one value is advised.
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

    /// Whether a cure is no value of a setting, or the one that costs least of those that are as good as its best.
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

    /// The first value of each setting that is as good as the best of them, if the one before it is worse. The value of
    /// today stands before all others, but for a receive buffer, which is larger today.
    fn knees(&self) -> Vec<Knee> {
        let rungs = self.cures.iter();
        let rungs = rungs.filter_map(|cure| Some((cure.rung.as_ref()?, cure.gain?, cure.times?)));
        let mut rungs: Vec<_> = rungs.collect();
        rungs.sort_by_key(|(rung, ..)| (&rung.setting, rung.place));
        let ladders = rungs.chunk_by(|(one, ..), (other, ..)| one.setting == other.setting);
        let knee = |ladder: &[(&TriedValue, f64, Times)]| {
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

/// How much it takes to put a cure there, least first.
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
                Site::Here => Self::SettingHere,
                Site::Receiver => Self::SettingAtReceiver,
                Site::Senders | Site::Hosts => Self::SettingAtSenders,
            },
            ([one], Some(_)) if one.site == Site::Here => Self::AttachHere,
            ([_], Some(_)) => Self::AttachAtReceiver,
            _ => Self::Several,
        }
    }
}

impl RankedBy {
    /// Of these times; none if it never ends.
    #[must_use]
    pub const fn of(self, times: &Times) -> Option<f64> {
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
        let is_port = |way: &Attach| way.at == AttachPoint::Port;
        let is_here = self.commands.iter().all(|one| one.site == Site::Here);
        self.attach
            .as_ref()
            .is_some_and(|way| is_port(way) || is_here)
    }
}

/// Shorter times are none.
const SHORTEST_S: f64 = 1e-9;

#[cfg(test)]
pub(crate) mod tests;
