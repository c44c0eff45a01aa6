//! Switch hooks in Python: the work of a switch at a port besides queueing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::{self, Time};
use fabric::{self, Calls, SwitchHook};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use schemes::{MakeHook, PortInfo};

use super::attributes::attributes;
use super::class::Class;
use super::packet::{Backlog, Packet};
use super::param::Values;
use super::port::at_port;
use super::queue::limit_bytes;
use super::receiver::{set, time};
use super::{Player, played};

/// The base of hooks.
#[pyclass(subclass, frozen, module = "tailwater._tailwater")]
pub(crate) struct Hook {
    deadline: AtomicU64,
    port: OnceLock<PortInfo>,
}

at_port!(
    Hook,
    Self {
        deadline: AtomicU64::new(Time::NEVER.as_ps()),
        port: OnceLock::new(),
    },
    {
        #[getter]
        fn deadline(&self) -> Option<u64> {
            set(self.deadline.load(Ordering::Relaxed))
        }

        #[setter]
        fn set_deadline(&self, deadline: &Bound<'_, PyAny>) -> PyResult<()> {
            self.deadline
                .store(time("deadline", deadline)?, Ordering::Relaxed);
            Ok(())
        }
    }
);

/// Makes hooks.
pub(super) fn make(class: Option<Arc<Class>>, values: Arc<Values>) -> MakeHook {
    Box::new(move |port| {
        let class = class
            .as_ref()
            .expect("the class of a scenario is registered");
        Box::new(played(class, |py| {
            PlayedHook::new(py, class, &values, port)
        }))
    })
}

/// A hook that an object plays.
struct PlayedHook {
    player: Player,
    base: Py<Hook>,
    calls: Calls,
    on_arrival: Option<Py<PyAny>>,
    on_departure: Option<Py<PyAny>>,
    on_level: Option<Py<PyAny>>,
    on_reverse: Option<Py<PyAny>>,
    on_deadline: Option<Py<PyAny>>,
}

impl PlayedHook {
    fn new(py: Python<'_>, class: &Arc<Class>, values: &Values, port: &PortInfo) -> PyResult<Self> {
        let (player, base) = Player::new::<Hook>(py, class, values, |base| {
            base.get().port.get_or_init(|| *port);
        })?;
        let needed = [
            ("on_arrival", Calls::ARRIVAL),
            ("on_departure", Calls::DEPARTURE),
            ("on_level", Calls::LEVEL),
            ("on_reverse", Calls::REVERSE),
            ("on_deadline", Calls::TIMER),
        ];
        let needed = needed.into_iter().filter(|(name, _)| class.has(name));
        Ok(Self {
            base,
            calls: needed.fold(Calls::NONE, |all, (_, call)| all.with(call)),
            on_arrival: player.method(py, "on_arrival")?,
            on_departure: player.method(py, "on_departure")?,
            on_level: player.method(py, "on_level")?,
            on_reverse: player.method(py, "on_reverse")?,
            on_deadline: player.method(py, "on_deadline")?,
            player,
        })
    }
}

/// Passes a packet to a method of a hook.
fn show(
    (class, method): (&Class, Option<&Py<PyAny>>),
    queue: fabric::Backlog,
    packet: &mut base::Packet,
    at: Time,
) {
    let Some(method) = method else { return };
    *packet = played(class, |py| {
        Packet::shown(py, *packet, |packet| {
            let arguments = (Backlog(queue), packet, at.as_ps());
            method.bind(py).call1(arguments).map(drop)
        })
    });
}

impl SwitchHook for PlayedHook {
    fn calls(&self) -> Calls {
        self.calls
    }

    fn on_arrival(&mut self, queue: fabric::Backlog, packet: &mut base::Packet, now: Time) {
        let by = (&*self.player.class, self.on_arrival.as_ref());
        show(by, queue, packet, now);
    }

    fn on_departure(&mut self, queue: fabric::Backlog, packet: &mut base::Packet, at: Time) {
        let by = (&*self.player.class, self.on_departure.as_ref());
        show(by, queue, packet, at);
    }

    fn on_level(&mut self, queue: fabric::Backlog, at: Time) {
        if let Some(method) = &self.on_level {
            played(&self.player.class, |py| {
                method.call1(py, (Backlog(queue), at.as_ps())).map(drop)
            });
        }
    }

    fn on_reverse(&mut self, queue: fabric::Backlog, packet: &mut base::Packet, now: Time) {
        let by = (&*self.player.class, self.on_reverse.as_ref());
        show(by, queue, packet, now);
    }

    fn deadline(&self) -> Time {
        Time::from_ps(self.base.get().deadline.load(Ordering::Relaxed))
    }

    fn on_deadline(&mut self, queue: fabric::Backlog, at: Time) {
        // The deadline is over unless the call sets another one.
        self.base
            .get()
            .deadline
            .store(Time::NEVER.as_ps(), Ordering::Relaxed);
        if let Some(method) = &self.on_deadline {
            played(&self.player.class, |py| {
                method.call1(py, (Backlog(queue), at.as_ps())).map(drop)
            });
        }
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        self.player.gauges(sink);
    }
}
