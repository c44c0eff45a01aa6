//! A trial: the law is attached to its port once, and acts in the periods of a plan, by leases of two seconds.
//!
//! If this process ends for any reason, no lease is renewed, and two seconds later all packets pass unchanged. All
//! privileges are given up before the first period: leases are written into an open map, and the law is removed through
//! open links.

use std::time::Duration;
use std::{fs, thread};

use machine::interrupt;
use machine::privilege::drop_all;
use observed::Flow;
use observed::trial::{SeenConnections, TrialEnd, TrialFlow, TrialPeriod, TrialPlan};
use programs::observer::DeviceObserver;
use programs::{Direction, Maps, Pinned, Reason};
use protocol::{Line, TrialBeginLine};
use scenario::Problem;

use crate::attach::{Attach, attach};
use crate::detach::{Which, detach};
use crate::error::DeployError;
use crate::namespace::inside;
use crate::observe::{Count, LOOK, Port, now};
use crate::record::{Lock, Record};
use crate::settings::AttachableLaw;

/// Carries out a plan, whose file has this hash, and reports each period and flow. A signal ends it early.
///
/// # Errors
/// If the plan is not one for this machine, a law stands there already, or the kernel refuses.
pub fn trial(plan: &TrialPlan, hash: &str, tell: &mut dyn FnMut(&Line)) -> Result<(), DeployError> {
    let (device, netns) = (plan.device.clone(), plan.netns.clone());
    let port = inside(&netns, || {
        Port::find(&netns, &device, &mut machine::netlink::Devices::open()?)
    })?;
    let scheme = law(plan)?;
    if let Some(other) = Record::of(&port.place)? {
        let (law, place) = (other.scheme.name(), port.place.told());
        return Err(DeployError::Failed(format!(
            "{law} stands at {place} already: a trial begins where nothing stands, so detach it first"
        )));
    }
    let mut observer = port.observer()?;
    let begin = now();
    inside(&netns, || Ok(observer.attach(port.place.device)?))?;
    attach(&Attach {
        scheme,
        device: plan.device.clone(),
        netns: plan.netns.clone(),
        sets: plan.sets.clone(),
        buffer: plan.buffer,
        queue_of: None,
        no_retract: false,
        shadow: false,
        lease: Duration::ZERO,
        dry_run: false,
        certified: None,
    })?;
    let standing = Standing::open(&port);
    let Ok(standing) = standing else {
        detach(&Which::Device(netns, device), false)?;
        return standing.map(drop);
    };
    let dropped = drop_all();
    let plan_hash = hash.to_owned();
    tell(&Line::TrialBegin(TrialBeginLine { plan: plan_hash }));
    let mut run = Run {
        plan,
        standing,
        begin,
        count: Count::new(begin, port.queue_bps()).listing(),
        connections: SeenConnections::default(),
        periods: Vec::new(),
        flows: Vec::new(),
        judged: 0,
        parent: parent(),
        tell,
    };
    let ended = match dropped {
        Ok(()) => run.carry_out(&observer),
        Err(error) => Err(error.into()),
    };
    // In any case, nothing of the law stays.
    let cleaned = run.standing.take_away();
    observer.detach();
    let (stopped, by_guard) = ended?;
    run.count.end(&observer)?;
    run.keep();
    let (rewritten, marked) = run.standing.changed()?;
    let end = TrialEnd {
        stopped,
        by_guard,
        rewritten,
        marked,
        lost: run.count.lost(),
        detached: cleaned?,
    };
    (run.tell)(&Line::TrialEnd(end));
    Ok(())
}

/// The law of a plan, which a lease alone can switch.
fn law(plan: &TrialPlan) -> Result<AttachableLaw, DeployError> {
    let scheme = AttachableLaw::named(&plan.law).ok_or_else(|| {
        let problem = Problem::new(format!(
            "this version does not have the law of the plan: {}",
            plan.law
        ));
        problem.help("make a new plan")
    })?;
    if !scheme.has_queue() {
        let name = scheme.name();
        let problem = Problem::new(format!(
            "{name} stands at a receiver, and a trial switches laws at a port"
        ));
        let help = "compare two observations of equal length, before and after `tailwater attach`";
        return Err(problem.help(help).into());
    }
    Ok(scheme)
}

/// The law that was attached for a trial, open for as long as it lasts.
struct Standing {
    record: Record,
    pins: Pinned,
    maps: Maps,
    /// When the last lease that was written ends.
    lease_ends: Duration,
}

/// A running trial.
struct Run<'a> {
    plan: &'a TrialPlan,
    standing: Standing,
    begin: Duration,
    count: Count,
    connections: SeenConnections,
    periods: Vec<TrialPeriod>,
    /// The flows of the last periods.
    flows: Vec<TrialFlow>,
    /// Periods that the guard has judged.
    judged: usize,
    parent: Option<i32>,
    tell: &'a mut dyn FnMut(&Line),
}

/// Why a trial ended early, if it did, and whether the guard ended it.
type Stopped = (Option<String>, bool);

impl Run<'_> {
    /// All periods, and an equally long time after them.
    fn carry_out(&mut self, observer: &DeviceObserver) -> Result<Stopped, DeployError> {
        let plan = self.plan;
        for (number, on) in (0..).zip(plan.schedule.iter().copied().chain([false])) {
            let period = Duration::from_secs_f64(plan.shape.period_s);
            let begin = now();
            let stopped = self.period(observer, on, begin + period)?;
            let since = |time: Duration| time.saturating_sub(self.begin).as_secs_f64();
            let over = TrialPeriod {
                number,
                on,
                begin_s: since(begin),
                end_s: since(now()),
            };
            // A partial period does not count.
            if stopped.0.is_none() {
                self.periods.push(over);
                (self.tell)(&Line::TrialPeriod(over));
            } else {
                return Ok(stopped);
            }
            let old_s = since(now()) - (2.0 * plan.shape.period_s).max(TOLD_LATE_S);
            self.connections.forget(old_s);
        }
        Ok((None, false))
    }

    /// One period. Returns why it ended early, if it did.
    fn period(
        &mut self,
        observer: &DeviceObserver,
        on: bool,
        until: Duration,
    ) -> Result<Stopped, DeployError> {
        while now() < until {
            let left = until.saturating_sub(now());
            if on {
                self.standing.renew(left.min(LEASE))?;
            }
            thread::sleep(LOOK.min(left));
            self.count.look(observer, now())?;
            self.keep();
            // The caller removes the law at the hooks, if it is still the trial's.
            if let Some(why) = self.is_over()? {
                return Ok((Some(why), false));
            }
            if let Some(why) = self.guard() {
                return Ok((Some(why), true));
            }
        }
        Ok((None, false))
    }

    /// Why the trial cannot continue, if so.
    fn is_over(&mut self) -> Result<Option<String>, DeployError> {
        let interrupted = interrupt::heard().map(|_| "it was interrupted".to_owned());
        let left = || {
            (self.parent != parent()).then(|| "the command that started it has ended".to_owned())
        };
        Ok(match interrupted.or_else(left) {
            None => self.standing.drift()?,
            why => why,
        })
    }

    /// Why the guard ends the trial, if so. A period is judged when its last flows were reported.
    fn guard(&mut self) -> Option<String> {
        let told_s = now().saturating_sub(self.begin).as_secs_f64() - CLOSED_LATE_S;
        let over = self.periods.iter().filter(|period| period.end_s <= told_s);
        let over = over.count();
        if over == self.judged {
            return None;
        }
        self.judged = over;
        self.plan.guarded(&self.periods[..over], &self.flows)
    }

    /// Reports new flows.
    fn keep(&mut self) {
        for flow in self.count.taken() {
            let opened_s = self.connections.opened(&flow);
            if flow.leaves == self.plan.leaves {
                let flow = anonymous(&flow, opened_s);
                if self.flows.len() >= MOST_FLOWS {
                    // The guard no longer needs periods of long ago.
                    self.flows.drain(..MOST_FLOWS / 2);
                }
                self.flows.push(flow);
                (self.tell)(&Line::TrialFlow(flow));
            }
        }
    }
}

fn anonymous(flow: &Flow, opened_s: Option<f64>) -> TrialFlow {
    TrialFlow {
        start_s: flow.start_s,
        fct_s: flow.fct_s,
        bytes: flow.bytes,
        opened_s,
    }
}

impl Standing {
    fn open(port: &Port) -> Result<Self, DeployError> {
        let gone = || DeployError::Failed("somebody detached the law of the trial".to_owned());
        let record = Record::of(&port.place)?.ok_or_else(gone)?;
        let pins = Pinned::open(&port.place.pins())?.ok_or_else(gone)?;
        Ok(Self {
            maps: pins.maps()?,
            record,
            pins,
            lease_ends: Duration::ZERO,
        })
    }

    /// Lets the law act for this long from now on.
    fn renew(&mut self, lease: Duration) -> Result<(), DeployError> {
        self.lease_ends = now() + lease;
        Ok(self.maps.renew(lease)?)
    }

    /// The change that somebody else made, if any.
    fn drift(&self) -> Result<Option<String>, DeployError> {
        let why = if !self.is_own()? {
            "somebody changed what is attached"
        } else if !self.pins.is_attached() {
            "the device is gone, or somebody detached a program"
        } else if self.is_renewed()? {
            "somebody renewed the lease of the law"
        } else {
            return Ok(None);
        };
        Ok(Some(why.to_owned()))
    }

    /// Whether the lease is longer than the last one that was written.
    fn is_renewed(&self) -> Result<bool, DeployError> {
        let ends = now().saturating_add(self.maps.lease_left()?);
        Ok(ends > self.lease_ends.max(now()) + Duration::from_millis(10))
    }

    /// True if the record and the programs at the hooks are those of the trial.
    fn is_own(&self) -> Result<bool, DeployError> {
        if Record::of(&self.record.place)?.as_ref() != Some(&self.record) {
            return Ok(false);
        }
        let numbers = self.pins.numbers()?;
        Ok(numbers.iter().all(|(way, link, number)| {
            let mut programs = self.record.programs.iter();
            programs.any(|own| {
                own.way == way.name() && own.number == *number && own.link == Some(*link)
            })
        }))
    }

    /// Removes the law, if it is still that of the trial. Returns whether it was.
    fn take_away(&mut self) -> Result<bool, DeployError> {
        let _lock = Lock::take()?;
        if !self.is_own()? || self.is_renewed()? {
            return Ok(false);
        }
        self.renew(Duration::ZERO)?;
        for way in Direction::BOTH {
            self.pins.remove(way)?;
        }
        self.record.place.forget()?;
        Ok(true)
    }

    /// The numbers of lowered windows and of marked packets.
    fn changed(&self) -> Result<(u64, u64), DeployError> {
        let counts = self.maps.counts()?;
        let of = |reason| counts.iter().find(|(own, _)| *own == reason);
        let of = |reason| of(reason).map_or(0, |(_, count)| *count);
        Ok((of(Reason::Rewritten), of(Reason::Marked)))
    }
}

/// The parent process. When it ends, another one takes its place (`exit.c, find_new_reaper`).
fn parent() -> Option<i32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    parent.trim().parse().ok()
}

/// How long a law acts after the process that switches it has died.
const LEASE: Duration = Duration::from_secs(2);
/// Seconds from the end of a flow until it is reported, if its connection closed.
const CLOSED_LATE_S: f64 = 2.5;
/// The number of flows that the guard remembers: 40 MB.
const MOST_FLOWS: usize = 1_000_000;
/// Flows of connections that stay open are reported after a long silence, at the latest after this many seconds.
const TOLD_LATE_S: f64 = 60.0;
