//! Disciplines of queues in Python.

use std::sync::{Arc, OnceLock};

use base::{self, Time};
use fabric::{self, Discipline, Limit, QueueDisc, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use schemes::{MakeQueue, PortInfo};

use super::attributes::attributes;
use super::class::Class;
use super::packet::{Backlog, Packet};
use super::param::Values;
use super::port::at_port;
use super::{Player, played};

/// The base of queues.
#[pyclass(subclass, frozen, module = "tailwater._tailwater")]
pub(crate) struct Queue {
    pub(super) port: OnceLock<PortInfo>,
}

at_port!(
    Queue,
    Self {
        port: OnceLock::new(),
    },
    {}
);

/// The limit of a port in bytes, if it has one.
pub(super) fn limit_bytes(port: &PortInfo) -> Option<u64> {
    match port.limit {
        Limit::Unlimited => None,
        Limit::Bytes(bytes) => Some(bytes),
        Limit::Packets(packets) => Some(packets.saturating_mul(port.packet_bytes)),
    }
}

/// Makes disciplines, which replace those of the scenario.
pub(super) fn make(class: Option<Arc<Class>>, values: Arc<Values>) -> MakeQueue {
    Box::new(move |port, _| {
        let class = class
            .as_ref()
            .expect("the class of a scenario is registered");
        let queue = played(class, |py| {
            let (player, _) = Player::new::<Queue>(py, class, &values, |base| {
                base.get().port.get_or_init(|| *port);
            })?;
            Ok(PlayedQueue {
                on_arrival: player.method(py, "on_arrival")?,
                is_congested: player.method(py, "is_congested")?,
                on_empty: player.method(py, "on_empty")?,
                player,
            })
        });
        Discipline::Custom(Box::new(queue))
    })
}

/// A discipline that an object plays.
struct PlayedQueue {
    player: Player,
    on_arrival: Option<Py<PyAny>>,
    is_congested: Option<Py<PyAny>>,
    on_empty: Option<Py<PyAny>>,
}

impl QueueDisc for PlayedQueue {
    fn on_arrival(
        &mut self,
        backlog: fabric::Backlog,
        packet: &mut base::Packet,
        now: Time,
    ) -> Verdict {
        let Some(on_arrival) = &self.on_arrival else {
            return Verdict::Accept;
        };
        let mut verdict = Verdict::Accept;
        *packet = played(&self.player.class, |py| {
            Packet::shown(py, *packet, |packet| {
                let said = on_arrival
                    .bind(py)
                    .call1((Backlog(backlog), packet, now.as_ps()))?;
                verdict = match said.extract::<Option<&str>>() {
                    Ok(None | Some("accept")) => Verdict::Accept,
                    Ok(Some("drop")) => Verdict::Drop,
                    _ => {
                        return Err(PyValueError::new_err(format!(
                            "on_arrival cannot return {}: \"accept\", \"drop\" or None",
                            said.repr()?
                        )));
                    }
                };
                Ok(())
            })
        });
        verdict
    }

    fn is_congested(&self, backlog: fabric::Backlog) -> bool {
        self.is_congested.as_ref().is_some_and(|method| {
            played(&self.player.class, |py| {
                method.call1(py, (Backlog(backlog),))?.is_truthy(py)
            })
        })
    }

    fn on_empty(&mut self, at: Time) {
        if let Some(method) = &self.on_empty {
            played(&self.player.class, |py| {
                method.call1(py, (at.as_ps(),)).map(drop)
            });
        }
    }
}
