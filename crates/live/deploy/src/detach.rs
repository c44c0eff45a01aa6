//! Removes laws: only programs that were recorded.

use programs::{Direction, Pinned};
use protocol::{DetachAction, DetachLine};

use crate::device::{DeviceId, namespace};
use crate::error::DeployError;
use crate::namespace::inside;
use crate::record::{Lock, Record};

/// The laws to remove.
#[derive(Clone, Debug)]
pub enum Which {
    /// All of this machine.
    All,
    /// Those of a device, by the name of its network namespace and its own.
    Device(String, String),
}

/// Detaches laws and reports them; with `dry_run`, those that it would detach.
///
/// # Errors
/// If something else stands where a law was: that stays.
pub fn detach(which: &Which, dry_run: bool) -> Result<Vec<DetachLine>, DeployError> {
    let _lock = Lock::take()?;
    let mut told = Vec::new();
    for record in which.records()? {
        let action = if dry_run {
            DetachAction::WouldDetach
        } else {
            let pins = Pinned::open(&record.place.pins())?;
            Record::clean(Some(&record), pins, &record.place)?;
            DetachAction::Detached
        };
        told.push(DetachLine {
            action,
            scheme: record.scheme.name().to_owned(),
            device: record.place.name,
            netns: record.place.netns,
        });
    }
    Ok(told)
}

impl Which {
    /// Their records.
    pub(crate) fn records(&self) -> Result<Vec<Record>, DeployError> {
        let all = Record::all()?.into_iter();
        Ok(match self {
            Self::All => all.collect(),
            Self::Device(netns, name) => {
                // A namespace that no longer exists is known by its name alone.
                let number = inside(netns, || Ok(namespace()?)).ok();
                let is_its = |place: &DeviceId| match number {
                    Some(number) => place.namespace == number,
                    None => !netns.is_empty() && place.netns == *netns,
                };
                all.filter(|record| record.place.name == *name && is_its(&record.place))
                    .collect()
            }
        })
    }
}

impl Record {
    /// Removes all that an attach made, completely or in part, if nothing else is attached there.
    pub(crate) fn clean(
        record: Option<&Self>,
        pins: Option<Pinned>,
        place: &DeviceId,
    ) -> Result<(), DeployError> {
        match (record, pins) {
            (Some(record), Some(pins)) => record.take_away(pins),
            (None, Some(_)) => Err(strange(place)),
            (_, None) => Ok(place.forget()?),
        }
    }

    /// Removes its programs and its record.
    pub(crate) fn take_away(&self, mut pins: Pinned) -> Result<(), DeployError> {
        let standing = pins.standing()?;
        let known = standing
            .iter()
            .all(|standing| self.programs.iter().any(|program| program.is(standing)));
        if !known {
            return Err(strange(&self.place));
        }
        for way in Direction::BOTH {
            pins.remove(way)?;
        }
        Ok(self.place.forget()?)
    }
}

/// A program without a record belongs to somebody else.
fn strange(place: &DeviceId) -> DeployError {
    DeployError::Failed(format!(
        "at {} there is a program that tailwater did not load, so it stays; `rm -r {}` removes it",
        place.told(),
        place.pins().display()
    ))
}
