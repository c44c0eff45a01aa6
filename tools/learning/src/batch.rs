//! Many environments that advance together, on all cores.

use std::iter;
use std::num::NonZeroUsize;
use std::process;
use std::sync::Arc;

use engine::random::Stream;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::environment::{Environment, EnvironmentFailure, Episode, Step, Task};
use crate::settings::{Autoreset, Term};

/// Environments of one task, each with its own episodes.
#[derive(Debug)]
pub struct Batch {
    task: Arc<Task>,
    members: Vec<Member>,
    autoreset: Autoreset,
    threads: Threads,
}

/// The results of a step, with room for all environments, one after the other.
#[derive(Debug)]
pub struct StepResults<'a> {
    /// The agents' observations: [`Task::observation_len`] numbers for each environment.
    pub observations: &'a mut [f32],
    /// The agents' last observations in an episode, if [`Autoreset::SameStep`] overwrites them; otherwise it may be
    /// empty.
    pub finals: &'a mut [f32],
    /// What the step was worth.
    pub rewards: &'a mut [f64],
    /// Whether all flows are over.
    pub terminated: &'a mut [bool],
    /// Whether an episode was truncated.
    pub truncated: &'a mut [bool],
    /// The terms of the step: the numbers of [`Term::ALL`] for each environment.
    pub terms: &'a mut [f64],
}

/// The decisions for a step of one environment, and the buffers for its results.
struct StepBuffers<'a> {
    decisions: &'a [f32],
    seen: &'a mut [f32],
    last: Option<&'a mut [f32]>,
    reward: &'a mut f64,
    terms: &'a mut [f64],
    terminated: &'a mut bool,
    truncated: &'a mut bool,
}

#[derive(Debug)]
struct Member {
    environment: Option<Environment>,
    /// The seed from which its episodes follow, and the number of the next episode.
    seed: u64,
    episode: u64,
    /// Whether its episode is over.
    is_over: bool,
    /// The episode that ended with the last step.
    ended: Option<Episode>,
}

/// The threads of one process: a forked process has none of them.
#[derive(Debug)]
struct Threads {
    jobs: usize,
    pool: Option<(u32, ThreadPool)>,
}

impl Batch {
    /// This many environments on this many threads. No episode has begun.
    pub fn new(
        task: Task,
        environments: NonZeroUsize,
        autoreset: Autoreset,
        jobs: NonZeroUsize,
    ) -> Self {
        let member = |_| Member {
            environment: None,
            seed: 0,
            episode: 0,
            is_over: false,
            ended: None,
        };
        Self {
            task: Arc::new(task),
            members: (0..environments.get()).map(member).collect(),
            autoreset,
            threads: Threads {
                jobs: jobs.get().min(environments.get()),
                pool: None,
            },
        }
    }

    /// What they have in common.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Begins an episode of every environment that has an entry in `seeds`. An entry with a seed restarts its sequence
    /// of episodes; an entry without one continues it.
    ///
    /// The first episode after a seed has this seed, so that a run with it is the same simulation. Later episodes have
    /// seeds derived from it.
    ///
    /// # Errors
    /// If an episode cannot begin.
    ///
    /// # Panics
    /// If `seeds` has not one entry for each environment.
    pub fn reset(
        &mut self,
        seeds: &[Option<Option<u64>>],
        observations: &mut [f32],
    ) -> Result<(), EnvironmentFailure> {
        assert_eq!(
            seeds.len(),
            self.members.len(),
            "a place for each environment"
        );
        let (task, size) = (&self.task, self.task.observation_len());
        let members = self.members.par_iter_mut().zip(seeds);
        let members = members.zip(observations.par_chunks_exact_mut(size));
        let reset = |((member, seed), seen): ((&mut Member, &Option<Option<u64>>), &mut [f32])| {
            let Some(seed) = seed else {
                return Ok(());
            };
            if let Some(seed) = seed {
                (member.seed, member.episode) = (*seed, 0);
            }
            member.begin(task, seen)
        };
        self.threads.run(|| members.map(reset).collect())
    }

    /// A step of every environment: `decisions` has a number for every agent of the first environment, then of the
    /// next.
    ///
    /// # Errors
    /// If an episode cannot begin.
    ///
    /// # Panics
    /// If an environment has not begun, or a buffer has the wrong length.
    pub fn step(
        &mut self,
        decisions: &[f32],
        told: StepResults<'_>,
    ) -> Result<(), EnvironmentFailure> {
        let (task, autoreset) = (&self.task, self.autoreset);
        let places = told.places(task, decisions);
        assert_eq!(
            places.len(),
            self.members.len(),
            "a place for each environment"
        );
        let members = self.members.par_iter_mut().zip(places);
        let step =
            |(member, place): (&mut Member, StepBuffers<'_>)| member.step(task, autoreset, place);
        self.threads.run(|| members.map(step).collect())
    }

    /// Episodes that ended with the last step, each with the number of its environment.
    pub fn ended(&self) -> impl Iterator<Item = (usize, &Episode)> {
        let members = self.members.iter().enumerate();
        members.filter_map(|(number, member)| Some((number, member.ended.as_ref()?)))
    }

    /// Every environment that has begun.
    pub fn environments(&self) -> impl Iterator<Item = &Environment> {
        self.members
            .iter()
            .filter_map(|member| member.environment.as_ref())
    }
}

impl Member {
    fn begin(&mut self, task: &Arc<Task>, seen: &mut [f32]) -> Result<(), EnvironmentFailure> {
        let seed = match self.episode {
            0 => self.seed,
            // As many bits as every number format can represent.
            later => Stream::new(self.seed, "episode", later).bits() >> 11,
        };
        self.episode += 1;
        (self.is_over, self.ended) = (false, None);
        match &mut self.environment {
            Some(environment) => environment.reset(seed)?,
            None => self.environment = Some(Environment::new(Arc::clone(task), seed)?),
        }
        if let Some(environment) = &self.environment {
            environment.observe(seen);
        }
        Ok(())
    }

    fn step(
        &mut self,
        task: &Arc<Task>,
        autoreset: Autoreset,
        place: StepBuffers<'_>,
    ) -> Result<(), EnvironmentFailure> {
        self.ended = None;
        let step = if self.is_over {
            let is_next = autoreset == Autoreset::NextStep;
            if is_next {
                self.begin(task, place.seen)?;
            }
            Step {
                reward: 0.0,
                terminated: !is_next,
                truncated: false,
                terms: [0.0; Term::ALL.len()],
            }
        } else {
            self.go_on(task, autoreset, (place.decisions, place.seen, place.last))?
        };
        *place.reward = step.reward;
        *place.terminated = step.terminated;
        *place.truncated = step.truncated;
        place.terms.copy_from_slice(&step.terms);
        Ok(())
    }

    fn go_on(
        &mut self,
        task: &Arc<Task>,
        autoreset: Autoreset,
        (decisions, seen, last): (&[f32], &mut [f32], Option<&mut [f32]>),
    ) -> Result<Step, EnvironmentFailure> {
        let environment = self.environment.as_mut().expect(BEGUN);
        let step = environment.step(decisions);
        environment.observe(seen);
        if step.terminated || step.truncated {
            let episode = environment.episode();
            self.is_over = true;
            if autoreset == Autoreset::SameStep {
                if let Some(last) = last {
                    last.copy_from_slice(seen);
                }
                self.begin(task, seen)?;
            }
            self.ended = Some(episode);
        }
        Ok(step)
    }
}

impl<'a> StepResults<'a> {
    /// The buffers of every environment.
    fn places(self, task: &Task, decisions: &'a [f32]) -> Vec<StepBuffers<'a>> {
        let size = task.observation_len();
        let decisions = decisions.chunks_exact(task.agents());
        let finals = self.finals.chunks_exact_mut(size).map(Some);
        let finals = finals.chain(iter::repeat_with(|| None));
        let seen = self.observations.chunks_exact_mut(size).zip(finals);
        let values = self
            .rewards
            .iter_mut()
            .zip(self.terms.chunks_exact_mut(Term::ALL.len()));
        let flags = self.terminated.iter_mut().zip(self.truncated);
        let all = decisions.zip(seen).zip(values.zip(flags));
        let place =
            |((decisions, (seen, last)), ((reward, terms), (terminated, truncated)))| StepBuffers {
                decisions,
                seen,
                last,
                reward,
                terms,
                terminated,
                truncated,
            };
        all.map(place).collect()
    }
}

impl Threads {
    /// Does `work` with the threads, which are started at the first call.
    fn run<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> T {
        let process = process::id();
        if self
            .pool
            .as_ref()
            .is_none_or(|(owner, _)| *owner != process)
        {
            let made = ThreadPoolBuilder::new().num_threads(self.jobs).build();
            self.pool = made.ok().map(|pool| (process, pool));
        }
        match &self.pool {
            Some((_, pool)) => pool.install(work),
            None => work(),
        }
    }
}

/// An environment is reset before its first step.
const BEGUN: &str = "the environment has begun";
