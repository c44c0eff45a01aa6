//! Receivers in Python: they control a receiving host over all its connections.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::{self, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use schemes::{HostInfo, MakeReceiver};
use tcp::{self, AckKind, AckVerdict, ReceiverCc, Release, Released, Slot};

use super::attributes::attributes;
use super::class::Class;
use super::packet::Packet;
use super::param::Values;
use super::sender::whole;
use super::{Player, played};

/// The base of receivers.
#[pyclass(subclass, frozen, module = "tailwater._tailwater")]
pub(crate) struct Receiver {
    deadline: AtomicU64,
    host: OnceLock<HostInfo>,
}

attributes!(
    Receiver,
    it,
    {
        let deadline: Option<u64> = set(it.deadline.load(Ordering::Relaxed));
        let rate: u64 = it.host.get().map_or(0, |host| host.rate.as_bps());
        let mss: u16 = it.host.get().map_or(0, |host| host.mss);
        let packet_bytes: u64 = it.host.get().map_or(0, |host| host.packet_bytes);
    },
    {
        #[new]
        #[pyo3(signature = (*_arguments, **_named))]
        fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyAny>>) -> Self {
            Self {
                deadline: AtomicU64::new(Time::NEVER.as_ps()),
                host: OnceLock::new(),
            }
        }

        #[setter]
        fn set_deadline(&self, deadline: &Bound<'_, PyAny>) -> PyResult<()> {
            self.deadline
                .store(time("deadline", deadline)?, Ordering::Relaxed);
            Ok(())
        }
    }
);

/// A time, if it is set.
pub(super) fn set(time: u64) -> Option<u64> {
    (time != Time::NEVER.as_ps()).then_some(time)
}

/// Picoseconds, or never.
pub(super) fn time(name: &str, time: &Bound<'_, PyAny>) -> PyResult<u64> {
    if time.is_none() {
        return Ok(Time::NEVER.as_ps());
    }
    time.extract().map_err(|_| {
        let text = time
            .repr()
            .map_or_else(|_| "?".to_owned(), |text| text.to_string());
        PyValueError::new_err(format!(
            "{name} cannot be {text}: it is a time in whole picoseconds, or None"
        ))
    })
}

/// The data that has arrived.
#[pyclass(frozen, module = "tailwater")]
pub(crate) struct Arrival(tcp::Arrival);

attributes!(
    Arrival,
    it,
    {
        let offset: u64 = it.0.offset;
        let expected: u64 = it.0.expected;
        let payload: u64 = it.0.payload;
        let new_bytes: u64 = it.0.new_bytes;
        let in_order: u64 = it.0.in_order;
        let held: u64 = it.0.held;
        let marked: bool = it.0.marked;
        let extension: (u32, u32, u32) = it.0.extension.0.into();
    },
    {
        fn __repr__(&self) -> String {
            let tcp::Arrival {
                offset, payload, ..
            } = &self.0;
            format!("Arrival(offset={offset}, payload={payload}, ...)")
        }
    }
);

/// The acknowledgement in a segment towards a sender.
#[pyclass(frozen, module = "tailwater")]
pub(crate) struct AckSent(tcp::AckSent);

attributes!(
    AckSent,
    it,
    {
        let ack: u64 = it.0.ack;
        let window: u64 = it.0.window;
        let syn: bool = it.0.syn;
    },
    {
        fn __repr__(&self) -> String {
            let tcp::AckSent { ack, window, .. } = self.0;
            format!("AckSent(ack={ack}, window={window}, ...)")
        }
    }
);

/// Makes receivers.
pub(super) fn make(class: Option<Arc<Class>>, values: Arc<Values>) -> MakeReceiver {
    Box::new(move |host| {
        let class = class
            .as_ref()
            .expect("the class of a scenario is registered");
        let receiver = played(class, |py| PlayedReceiver::new(py, class, &values, host));
        schemes::Receiver::Custom(Box::new(receiver))
    })
}

/// A receiver that an object plays.
struct PlayedReceiver {
    player: Player,
    base: Py<Receiver>,
    on_data: Option<Py<PyAny>>,
    window: Option<Py<PyAny>>,
    on_ack_ready: Option<Py<PyAny>>,
    on_ack_sent: Option<Py<PyAny>>,
    stamp: Option<Py<PyAny>>,
    next_release: Option<Py<PyAny>>,
}

impl PlayedReceiver {
    fn new(py: Python<'_>, class: &Arc<Class>, values: &Values, host: &HostInfo) -> PyResult<Self> {
        let (player, base) = Player::new::<Receiver>(py, class, values, |base| {
            base.get().host.get_or_init(|| *host);
        })?;
        Ok(Self {
            base,
            on_data: player.method(py, "on_data")?,
            window: player.method(py, "window")?,
            on_ack_ready: player.method(py, "on_ack_ready")?,
            on_ack_sent: player.method(py, "on_ack_sent")?,
            stamp: player.method(py, "stamp")?,
            next_release: player.method(py, "next_release")?,
            player,
        })
    }
}

impl ReceiverCc for PlayedReceiver {
    fn on_open(&mut self, slot: Slot, syn: &base::Packet, mss: u16, now: Time) {
        if self.player.class.has("on_open") {
            let object = &self.player.object;
            played(&self.player.class, |py| {
                let call = |packet: &Bound<'_, Packet>| {
                    let arguments = (slot.0, packet, mss, now.as_ps());
                    object.bind(py).call_method1("on_open", arguments).map(drop)
                };
                Packet::shown(py, *syn, call).map(drop)
            });
        }
    }

    fn on_close(&mut self, slot: Slot, now: Time) {
        if self.player.class.has("on_close") {
            played(&self.player.class, |py| {
                let arguments = (slot.0, now.as_ps());
                self.player
                    .object
                    .call_method1(py, "on_close", arguments)
                    .map(drop)
            });
        }
    }

    fn on_data(&mut self, slot: Slot, arrival: &tcp::Arrival, now: Time) {
        if let Some(on_data) = &self.on_data {
            played(&self.player.class, |py| {
                on_data
                    .call1(py, (slot.0, Arrival(*arrival), now.as_ps()))
                    .map(drop)
            });
        }
    }

    fn window(&self, slot: Slot, buffer: u64) -> u64 {
        let Some(window) = &self.window else {
            return buffer;
        };
        played(&self.player.class, |py| {
            whole("window", window.bind(py).call1((slot.0, buffer))?.as_any())
        })
    }

    fn on_ack_ready(&mut self, slot: Slot, kind: AckKind, now: Time) -> AckVerdict {
        let Some(on_ack_ready) = &self.on_ack_ready else {
            return AckVerdict::Send;
        };
        played(&self.player.class, |py| {
            let kind = match kind {
                AckKind::Syn => intern!(py, "syn"),
                AckKind::Data => intern!(py, "data"),
                AckKind::Fin => intern!(py, "fin"),
            };
            let verdict = on_ack_ready.bind(py).call1((slot.0, kind, now.as_ps()))?;
            match verdict.extract::<Option<&str>>() {
                Ok(None | Some("send")) => Ok(AckVerdict::Send),
                Ok(Some("hold")) => Ok(AckVerdict::Hold),
                _ => Err(PyValueError::new_err(format!(
                    "on_ack_ready cannot return {}: \"send\", \"hold\" or None",
                    verdict.repr()?
                ))),
            }
        })
    }

    fn on_ack_sent(&mut self, slot: Slot, sent: &tcp::AckSent, now: Time) {
        if let Some(on_ack_sent) = &self.on_ack_sent {
            played(&self.player.class, |py| {
                on_ack_sent
                    .call1(py, (slot.0, AckSent(*sent), now.as_ps()))
                    .map(drop)
            });
        }
    }

    fn stamp(&mut self, slot: Slot, packet: &mut base::Packet) {
        let Some(stamp) = &self.stamp else { return };
        *packet = played(&self.player.class, |py| {
            Packet::shown(py, *packet, |packet| {
                stamp.bind(py).call1((slot.0, packet)).map(drop)
            })
        });
    }

    fn next_release(&mut self, now: Time) -> Option<Release> {
        let next_release = self.next_release.as_ref()?;
        played(&self.player.class, |py| {
            let next = next_release.bind(py).call1((now.as_ps(),))?;
            if next.is_none() {
                return Ok(None);
            }
            let alone = next.extract::<u32>().map(|slot| (slot, false));
            let (slot, push) = alone
                .or_else(|_| next.extract::<(u32, bool)>())
                .map_err(|_| {
                    let text = next
                        .repr()
                        .map_or_else(|_| "?".to_owned(), |text| text.to_string());
                    PyValueError::new_err(format!(
                        "next_release cannot return {text}: a slot, (slot, push) or None"
                    ))
                })?;
            Ok(Some(Release {
                slot: Slot(slot),
                what: if push { Released::Order } else { Released::Ack },
            }))
        })
    }

    fn deadline(&self) -> Time {
        Time::from_ps(self.base.get().deadline.load(Ordering::Relaxed))
    }

    fn on_deadline(&mut self, now: Time) {
        // The deadline is over unless the call sets another one.
        self.base
            .get()
            .deadline
            .store(Time::NEVER.as_ps(), Ordering::Relaxed);
        if self.player.class.has("on_deadline") {
            played(&self.player.class, |py| {
                let arguments = (now.as_ps(),);
                self.player
                    .object
                    .call_method1(py, "on_deadline", arguments)
                    .map(drop)
            });
        }
    }

    fn gauges(&self, sink: &mut dyn FnMut(Option<Slot>, &'static str, f64)) {
        self.player
            .gauges(&mut |name, value| sink(None, name, value));
    }
}
