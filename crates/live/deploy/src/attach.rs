//! Attaches a law to a port, or changes the settings of an attached law.

use std::path::PathBuf;
use std::time::Duration;

use programs::{Direction, HookedProgram, LoadOptions, Pinned, Port};
use protocol::{AttachAction, AttachLine, LoadedProgram};
use scenario::Problem;

use crate::certified;
use crate::device::{DeviceId, FoundDevice};
use crate::error::DeployError;
use crate::namespace::inside;
use crate::record::{Lock, Program, Record};
use crate::settings::{self, AttachableLaw, Settled};

/// An order to attach a law to a device.
#[derive(Clone, Debug)]
pub struct Attach {
    /// The law.
    pub scheme: AttachableLaw,
    /// The device by which ACKs come in.
    pub device: String,
    /// The name of its network namespace; empty for that of this process.
    pub netns: String,
    /// Settings, as `KEY=VALUE`.
    pub sets: Vec<String>,
    /// Size of the queue in bytes, if the queue does not state it.
    pub buffer: Option<u64>,
    /// The device whose queue fills, if it is another one.
    pub queue_of: Option<String>,
    /// Whether the right edge of a window may never move back.
    pub no_retract: bool,
    /// Whether the law only decides and counts, and changes no packet.
    pub shadow: bool,
    /// For how long the law acts; [`Duration::MAX`] is for ever.
    pub lease: Duration,
    /// Whether nothing is to be changed.
    pub dry_run: bool,
    /// A certificate without which nothing acts.
    pub certified: Option<PathBuf>,
}

/// Attaches a law and reports what was done.
///
/// # Errors
/// If the input is wrong, or the kernel refuses; then nothing is left of it.
pub fn attach(order: &Attach) -> Result<AttachLine, DeployError> {
    inside(&order.netns, || {
        let plan = Plan::make(order)?;
        if let Some(file) = &order.certified {
            certified::check(file, order.scheme, &plan.settled.law)?;
        }
        plan.carry_out()
    })
}

/// A law that is loaded and records its calls, but is not attached.
pub(crate) struct Beside {
    pub(crate) settled: Settled,
    pub(crate) port: Port,
    pub(crate) mtu: u32,
    record: Record,
}

/// Loads the law of an order in addition to whatever is attached to its device.
pub(crate) fn beside(order: &Attach) -> Result<Beside, DeployError> {
    let plan = Plan::make(order)?;
    let port = plan.verified(true)?;
    Ok(Beside {
        settled: plan.settled,
        port,
        mtu: plan.record.mtu,
        record: plan.record,
    })
}

impl Beside {
    /// Lets it see packets for this time, or until the returned hooks are dropped.
    pub(crate) fn begin(&self, lease: Duration) -> Result<Vec<HookedProgram>, DeployError> {
        self.port.renew(lease)?;
        let hooks = Direction::BOTH.map(|way| self.port.hook(way, self.record.device(way)));
        let hooks = hooks.into_iter().filter_map(Result::transpose);
        Ok(hooks.collect::<Result<_, _>>()?)
    }
}

/// A checked plan for attaching.
struct Plan<'a> {
    order: &'a Attach,
    settled: Settled,
    record: Record,
    hints: Vec<String>,
}

impl<'a> Plan<'a> {
    fn make(order: &'a Attach) -> Result<Self, DeployError> {
        let queue_of = order.queue_of.as_deref();
        let law = order.scheme.law();
        if queue_of.is_some() && !law.changes_acks {
            let name = order.scheme.name();
            let problem = Problem::new(format!(
                "--queue-of: {name} does not change ACKs, so it needs no second device"
            ));
            return Err(problem
                .help("name the device whose queue fills with --dev")
                .into());
        }
        if !order.scheme.has_queue() {
            return Self::at_receiver(order);
        }
        let found = FoundDevice::find(&order.netns, queue_of.unwrap_or(&order.device))?;
        let buffer = found.buffer(order.buffer)?;
        let mtu = found.device.mtu;
        let settled = settings::settle(order.scheme, &order.sets, buffer, mtu)?;
        let (place, _) = DeviceId::find(&order.netns, &order.device)?;
        let hints = hints(&found);
        let record = Record {
            queue_of: (found.place != place).then_some(found.place),
            root: Some(found.root),
            buffer,
            ..Self::record(order, place, mtu, &settled)
        };
        Ok(Self {
            order,
            settled,
            record,
            hints,
        })
    }

    /// The plan for a law that does not read a queue.
    fn at_receiver(order: &'a Attach) -> Result<Self, DeployError> {
        let name = order.scheme.name();
        if order.shadow {
            let problem = Problem::new(format!(
                "--shadow: {name} has to deliver the grants that it counts, so it cannot run without acting"
            ));
            let help = "attach a law of a port with --shadow instead";
            return Err(problem.help(help).into());
        }
        let queue = [
            ("--buffer", order.buffer.is_some()),
            ("--queue-of", order.queue_of.is_some()),
        ];
        if let Some((option, _)) = queue.into_iter().find(|(_, given)| *given) {
            let problem = Problem::new(format!(
                "{option}: {name} looks at no queue of this machine"
            ));
            let help = order.scheme.law().budget.map_or_else(
                || format!("leave out {option}"),
                |key| format!("set its budget, the data that all senders together may have in flight: --set {key}=60KB"),
            );
            return Err(problem.help(help).into());
        }
        let (place, device) = DeviceId::find(&order.netns, &order.device)?;
        let settled = settings::settle(order.scheme, &order.sets, NO_BUFFER, device.mtu)?;
        let record = Self::record(order, place, device.mtu, &settled);
        Ok(Self {
            order,
            settled,
            record,
            hints: Vec::new(),
        })
    }

    /// The record of a law at `place` that reads no queue, before anything is done.
    fn record(order: &Attach, place: DeviceId, mtu: u32, settled: &Settled) -> Record {
        Record {
            is_complete: false,
            place,
            queue_of: None,
            root: None,
            scheme: order.scheme,
            settings: settled.texts.clone(),
            buffer: NO_BUFFER,
            mtu,
            no_retract: order.no_retract,
            shadow: order.shadow,
            build: programs::build(&settled.law),
            version: sim::VERSION.to_owned(),
            programs: Vec::new(),
        }
    }

    fn carry_out(mut self) -> Result<AttachLine, DeployError> {
        if self.order.dry_run {
            let port = self.verified(false)?;
            let programs = numbered(&port)?;
            return Ok(self.line(AttachAction::WouldAttach, &programs));
        }
        let _lock = Lock::take()?;
        let before = Record::of(&self.record.place)?;
        let pins = Pinned::open(&self.record.place.pins())?;
        let action = match (before, pins) {
            (Some(before), Some(pins)) if before.stands(&pins)? => {
                if before.is_like(&self.record) {
                    self.renew(&before, &pins)?
                } else if before.queue_of == self.record.queue_of {
                    self.undone_by_failure(|plan| plan.replace(&before, pins))?;
                    AttachAction::Replaced
                } else {
                    before.take_away(pins)?;
                    self.undone_by_failure(Self::begin)?;
                    AttachAction::Replaced
                }
            }
            (before, pins) => {
                Record::clean(before.as_ref(), pins, &self.record.place)?;
                self.undone_by_failure(Self::begin)?;
                AttachAction::Attached
            }
        };
        if !self.order.scheme.has_queue() {
            let is_other = !matches!(action, AttachAction::Renewed | AttachAction::Updated);
            if !self.record.place.let_watch(is_other)? {
                let text = "the watchdog of waiting connections did not start";
                self.settled.warnings.push(text.to_owned());
            }
        }
        let programs = self.record.programs.clone();
        Ok(self.line(action, &programs))
    }

    /// Renews the lease of the attached law, and changes its settings if they differ.
    fn renew(&mut self, before: &Record, pins: &Pinned) -> Result<AttachAction, DeployError> {
        let maps = pins.maps()?;
        self.record.programs.clone_from(&before.programs);
        self.record.is_complete = true;
        let action = if *before == self.record {
            AttachAction::Renewed
        } else {
            maps.revise(&self.settled.law)?;
            step("revised");
            self.record.write()?;
            AttachAction::Updated
        };
        maps.renew(self.order.lease)?;
        Ok(action)
    }

    /// Attaches at a free device.
    fn begin(&mut self) -> Result<(), DeployError> {
        let port = self.load()?;
        self.record.programs = numbered(&port)?;
        self.record.write()?;
        step("noted");
        self.record.place.make_pins()?;
        step("made a folder");
        for way in Direction::BOTH {
            self.hook(&port, way)?;
        }
        self.pin_watchdog(&port)?;
        self.finish()
    }

    /// Replaces another law: at each hook in one step, and at both within microseconds.
    fn replace(&mut self, before: &Record, mut pins: Pinned) -> Result<(), DeployError> {
        let port = self.load()?;
        let new = numbered(&port)?;
        self.record.programs = [before.programs.clone(), new.clone()].concat();
        self.record.write()?;
        step("noted");
        for way in Direction::BOTH {
            if !pins.replace(way, &port)? {
                pins.remove(way)?;
                self.hook(&port, way)?;
            }
            step(match way {
                Direction::Egress => "replaced egress",
                Direction::Ingress => "replaced ingress",
            });
        }
        self.pin_watchdog(&port)?;
        self.record.programs = new;
        self.finish()
    }

    /// Lets the kernel verify the programs, and sets all they need before the first packet.
    fn load(&self) -> Result<Port, DeployError> {
        let port = self.verified(false)?;
        step("loaded");
        port.renew(self.order.lease)?;
        step("filled maps");
        Ok(port)
    }

    /// The law in the kernel, which records its calls or does not.
    fn verified(&self, records: bool) -> Result<Port, DeployError> {
        let setup = LoadOptions {
            apart: self.record.queue_of.is_some(),
            no_retract: self.record.no_retract,
            shadow: self.record.shadow,
            records,
        };
        Ok(Port::load_with(&self.settled.law, setup)?)
    }

    /// Links the program for this direction, if the law has one, and pins it.
    fn hook(&self, port: &Port, way: Direction) -> Result<(), DeployError> {
        let Some(hook) = port.hook(way, self.record.device(way))? else {
            return Ok(());
        };
        step(match way {
            Direction::Egress => "linked egress",
            Direction::Ingress => "linked ingress",
        });
        let file = self.record.place.pins().join(way.name());
        hook.pin(&file)?;
        step(match way {
            Direction::Egress => "pinned egress",
            Direction::Ingress => "pinned ingress",
        });
        Ok(())
    }

    /// Replaces the watchdog's program, if the law has one.
    fn pin_watchdog(&self, port: &Port) -> Result<(), DeployError> {
        self.record.place.unpin_watchdog()?;
        port.pin_watchdog(&self.record.place.pins())?;
        step("pinned release");
        Ok(())
    }

    /// Records that all was done.
    fn finish(&mut self) -> Result<(), DeployError> {
        let pins = Pinned::open(&self.record.place.pins())?;
        let standing = pins.map(|pins| pins.standing()).transpose();
        for standing in standing?.unwrap_or_default() {
            let programs = self.record.programs.iter_mut();
            for program in programs.filter(|program| program.is(&standing)) {
                program.link = Some(standing.link);
            }
        }
        self.record.is_complete = true;
        self.record.write()?;
        step("recorded");
        Ok(())
    }

    /// Removes what was created if not all could be created: then everything passes as without a law.
    fn undone_by_failure(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<(), DeployError>,
    ) -> Result<(), DeployError> {
        make(self).inspect_err(|_| {
            let pins = Pinned::open(&self.record.place.pins()).unwrap_or(None);
            // The first failure is reported.
            drop(Record::clean(Some(&self.record), pins, &self.record.place));
        })
    }

    fn line(&self, action: AttachAction, programs: &[Program]) -> AttachLine {
        let Record {
            place, queue_of, ..
        } = &self.record;
        let lease = self.order.lease;
        let root = self.record.root.as_ref();
        let programs = programs.iter().map(|program| LoadedProgram {
            way: program.way.clone(),
            tag: program.tag.clone(),
        });
        AttachLine {
            action,
            device: place.name.clone(),
            netns: place.netns.clone(),
            queue_of: queue_of.as_ref().map(|place| place.name.clone()),
            scheme: self.record.scheme.name().to_owned(),
            settings: self.settled.texts.iter().cloned().collect(),
            queue: root.map(|root| root.kind.clone()),
            buffer_bytes: root.map(|_| self.record.buffer),
            mtu_bytes: self.record.mtu,
            no_retract: self.record.no_retract,
            shadow: self.record.shadow,
            lease_s: (lease < Duration::MAX).then_some(lease.as_secs_f64()),
            programs: programs.collect(),
            pins: place.pins(),
            warnings: self.settled.warnings.clone(),
            hints: self.hints.clone(),
        }
    }
}

impl Record {
    /// The device at whose hook the program for this direction is attached.
    fn device(&self, way: Direction) -> u32 {
        match (way, &self.queue_of) {
            (Direction::Egress, Some(queue_of)) => queue_of.device,
            _ => self.place.device,
        }
    }

    /// True if exactly the recorded programs are pinned and their device still exists.
    fn stands(&self, pins: &Pinned) -> Result<bool, DeployError> {
        let standing = pins.standing()?;
        let known = standing.iter().all(|standing| {
            let mut programs = self.programs.iter();
            standing.device.is_some() && programs.any(|program| program.is(standing))
        });
        Ok(self.is_complete && known && standing.len() == self.programs.len())
    }

    /// Whether the same programs suffice for both, perhaps with other settings.
    fn is_like(&self, other: &Self) -> bool {
        let key = |of: &Self| {
            let Self {
                scheme,
                build,
                no_retract,
                shadow,
                queue_of,
                ..
            } = of;
            (*scheme, *build, *no_retract, *shadow, queue_of.clone())
        };
        key(self) == key(other)
    }
}

/// The programs of a law that was loaded, without links.
fn numbered(port: &Port) -> Result<Vec<Program>, DeployError> {
    let programs = port.programs()?.into_iter();
    let program = |(way, number, tag): (Direction, u32, String)| Program {
        way: way.name().to_owned(),
        number,
        tag,
        link: None,
    };
    Ok(programs.map(program).collect())
}

/// Hints: settings outside this program that would help.
fn hints(found: &FoundDevice) -> Vec<String> {
    let name = &found.place.name;
    let train = (found.device.train > 1).then(|| {
        format!(
            "{name} takes up to {} segments of a connection as one packet; where few packets fill its queue, `ip link \
             set dev {name} gso_max_segs 1` and `ethtool -K {name} gro off` make it fill and drain by segments",
            found.device.train
        )
    });
    train.into_iter().collect()
}

/// Size of the queue for a law that does not read it: no setting exceeds it.
const NO_BUFFER: u64 = 1 << 30;

/// Ends the process if a test asks for it, as `kill -9` between two steps would.
#[cfg(debug_assertions)]
fn step(name: &str) {
    if std::env::var("TAILWATER_DIE_AFTER").is_ok_and(|step| step == name) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
fn step(_: &str) {}
