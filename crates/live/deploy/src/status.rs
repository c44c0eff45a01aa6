//! The attached laws: their places, their effects, and changes since they were attached.

use std::time::Duration;

use machine::netlink::Devices;
use programs::{AttachedProgram, Maps, Pinned, Reason};
use protocol::{Passed, Reading, StatusLine};

use crate::detach::Which;
use crate::device::{Root, namespace};
use crate::error::DeployError;
use crate::namespace::inside;
use crate::record::Record;
use crate::settings::{self, Settled};

/// An attached law, opened for reading. Reading it again needs no privileges.
#[derive(Debug)]
pub struct Attachment {
    record: Record,
    pins: Option<Pinned>,
    maps: Option<Maps>,
    /// The devices of its namespace, if that still exists.
    devices: Option<Devices>,
    /// Its programs as the kernel lists them.
    standing: Vec<AttachedProgram>,
}

/// Opens what was attached.
///
/// # Errors
/// If a record cannot be read, or the kernel refuses.
pub fn attachments(which: &Which) -> Result<Vec<Attachment>, DeployError> {
    let records = which.records()?.into_iter();
    records.map(Attachment::open).collect()
}

impl Attachment {
    fn open(record: Record) -> Result<Self, DeployError> {
        let pins = Pinned::open(&record.place.pins())?;
        // A partial attachment may have no maps.
        let maps = pins.as_ref().and_then(|pins| pins.maps().ok());
        let standing = pins.as_ref().map(Pinned::standing).transpose();
        let standing = standing?.unwrap_or_default();
        let number = record.place.namespace;
        let devices = inside(&record.place.netns, || {
            Ok((namespace()? == number).then(Devices::open).transpose()?)
        });
        Ok(Self {
            record,
            pins,
            maps,
            devices: devices.unwrap_or(None),
            standing,
        })
    }

    /// Its current status line.
    ///
    /// # Errors
    /// If a map cannot be read.
    pub fn told(&mut self) -> Result<StatusLine, DeployError> {
        let mut drift = self.strangers();
        let backlog = self.look_at_device(&mut drift)?;
        let Record {
            place, queue_of, ..
        } = &self.record;
        let mut line = StatusLine {
            device: place.name.clone(),
            netns: place.netns.clone(),
            queue_of: queue_of.as_ref().map(|place| place.name.clone()),
            scheme: self.record.scheme.name().to_owned(),
            settings: self.record.settings.iter().cloned().collect(),
            buffer_bytes: self.record.root.as_ref().map(|_| self.record.buffer),
            no_retract: self.record.no_retract,
            shadow: self.record.shadow,
            queue_bytes: backlog,
            drift,
            ..StatusLine::default()
        };
        if let Some(maps) = &self.maps {
            self.add_acts(maps, &mut line)?;
        }
        if line.acts == Some(true) && line.watched == Some(false) {
            let text = "the watchdog does not run, so waiting connections may wait 200 ms longer: attach again";
            line.drift.push(text.to_owned());
        }
        Ok(line)
    }

    /// Adds the effects of its programs.
    fn add_acts(&self, maps: &Maps, line: &mut StatusLine) -> Result<(), DeployError> {
        let left = maps.lease_left()?;
        line.acts = Some(!left.is_zero());
        line.lease_left_s = (left < Duration::MAX).then_some(left.as_secs_f64());
        let settled = self.settled()?;
        if let Some(memory) = maps.law(&settled.law)? {
            for reading in self.record.scheme.law().readings {
                let Some(value) = (reading.read)(&memory) else {
                    continue;
                };
                let value = match reading.words {
                    Some(_) => Reading::Flag(value != 0),
                    None => Reading::Number(value),
                };
                line.readings.insert(reading.key.to_owned(), value);
            }
            if !self.record.scheme.has_queue() {
                line.watched = Some(self.record.place.is_watched());
            }
        }
        // A connection has two directions.
        let directions = maps.directions();
        line.known_connections = directions.map(|directions| directions.div_ceil(2) as u64);
        let counts = maps.counts()?;
        let of = |reason| counts.iter().find(|(own, _)| *own == reason);
        let of = |reason| Some(of(reason).map_or(0, |(_, count)| *count));
        line.rewritten = of(Reason::Rewritten);
        line.marked = of(Reason::Marked);
        line.told = of(Reason::Told);
        line.would_change = of(Reason::Shadowed).filter(|_| self.record.shadow);
        let others = [
            Reason::Rewritten,
            Reason::Marked,
            Reason::Told,
            Reason::Shadowed,
        ];
        let passed = counts.iter();
        let passed = passed.filter(|(reason, count)| *count > 0 && !others.contains(reason));
        let passed = passed.map(|(reason, count)| Passed {
            why: reason.says().to_owned(),
            packets: *count,
        });
        line.passed = Some(passed.collect());
        Ok(())
    }

    /// The law as it was attached.
    fn settled(&self) -> Result<Settled, DeployError> {
        let Record {
            scheme,
            buffer,
            mtu,
            settings,
            ..
        } = &self.record;
        let sets = settings.iter().map(|(key, text)| format!("{key}={text}"));
        let sets: Vec<_> = sets.collect();
        Ok(settings::settle(*scheme, &sets, *buffer, *mtu)?)
    }

    /// Programs that are missing or have been replaced.
    fn strangers(&self) -> Vec<String> {
        let mut drift = Vec::new();
        if !self.record.is_complete {
            drift.push("an attach was interrupted; attach again, or detach".to_owned());
        }
        for program in &self.record.programs {
            let way = &program.way;
            let standing = self.standing.iter();
            let mut here = standing
                .filter(|standing| standing.way.name() == way)
                .peekable();
            if here.peek().is_none() {
                drift.push(format!("the program at {way} is missing"));
            } else if !here.any(|standing| program.is(standing)) && self.record.is_complete {
                drift.push(format!("another program is attached at {way}"));
            }
        }
        drift
    }

    /// The current queue of the device, and how device and queue differ from before.
    fn look_at_device(&mut self, drift: &mut Vec<String>) -> Result<Option<u32>, DeployError> {
        let queue_of = self.record.queue_of.as_ref();
        let place = queue_of.unwrap_or(&self.record.place);
        let Some(devices) = &mut self.devices else {
            let text = match place.netns.as_str() {
                "" => "its network namespace is not the one of this command".to_owned(),
                netns => format!("the network namespace {netns} is gone"),
            };
            drift.push(text);
            return Ok(None);
        };
        let device = devices.named(&place.name)?;
        let device = device.filter(|device| device.index == place.device);
        let Some(device) = device else {
            drift.push(format!("the device {} is gone", place.name));
            return Ok(None);
        };
        if self.pins.as_ref().is_some_and(|pins| !pins.is_attached()) {
            drift.push("a program was detached by another command".to_owned());
        }
        let queue = devices.queue(place.device)?;
        let now = queue.as_ref().map(|queue| Root::of(queue, device.mtu));
        let Some(was) = &self.record.root else {
            return Ok(None);
        };
        if now.as_ref() != Some(was) {
            let now = now.map_or_else(|| "none".to_owned(), |root| root.told());
            drift.push(format!("the queue is {now}, but was {}", was.told()));
        }
        Ok(queue.map(|queue| queue.backlog))
    }
}
