//! Senders in Python.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::cast::real;
use base::{self, Span, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use schemes::{FlowInfo, MakeSender};
use tcp::{self, Echo, Orders, SSTHRESH, SegmentCc, SenderCc};

use super::attributes::attributes;
use super::class::Class;
use super::packet::Packet;
use super::param::Values;
use super::{Player, played};

/// The base of senders. The window is a number here, so that reading it does not call Python.
#[pyclass(subclass, frozen, module = "tailwater._tailwater")]
pub(crate) struct Sender {
    cwnd: AtomicU64,
    ssthresh: AtomicU64,
    mss: AtomicU64,
    initial_window: AtomicU64,
    flow: OnceLock<FlowInfo>,
}

attributes!(
    Sender,
    it,
    {
        let cwnd: u64 = it.cwnd.load(Ordering::Relaxed);
        let ssthresh: u64 = it.ssthresh.load(Ordering::Relaxed);
        let mss: u64 = it.mss.load(Ordering::Relaxed);
        let initial_window: u64 = it.initial_window.load(Ordering::Relaxed);
        let size: Option<u64> = it.flow.get().and_then(|flow| flow.size);
        let config: Config = {
            let config = it.flow.get().map(|flow| flow.config);
            Config(config.unwrap_or_default())
        };
    },
    {
        #[new]
        #[pyo3(signature = (*_arguments, **_named))]
        fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyAny>>) -> Self {
            let sender = Self {
                cwnd: AtomicU64::new(0),
                ssthresh: AtomicU64::new(0),
                mss: AtomicU64::new(0),
                initial_window: AtomicU64::new(0),
                flow: OnceLock::new(),
            };
            sender.begin(&tcp::Config::default());
            sender
        }

        #[setter]
        fn set_cwnd(&self, bytes: &Bound<'_, PyAny>) -> PyResult<()> {
            self.cwnd.store(whole("cwnd", bytes)?, Ordering::Relaxed);
            Ok(())
        }

        #[setter]
        fn set_ssthresh(&self, bytes: &Bound<'_, PyAny>) -> PyResult<()> {
            self.ssthresh
                .store(whole("ssthresh", bytes)?, Ordering::Relaxed);
            Ok(())
        }
    }
);

impl Sender {
    /// The state before the handshake.
    fn begin(&self, config: &tcp::Config) {
        self.ssthresh
            .store(config.initial_ssthresh, Ordering::Relaxed);
        self.establish(config.mss, config.initial_window);
    }

    fn establish(&self, mss: u16, segments: u32) {
        let window = u64::from(mss) * u64::from(segments);
        self.mss.store(mss.into(), Ordering::Relaxed);
        self.initial_window.store(window, Ordering::Relaxed);
        self.cwnd.store(window, Ordering::Relaxed);
    }
}

/// Converts to bytes, or returns an error.
pub(super) fn whole(name: &str, bytes: &Bound<'_, PyAny>) -> PyResult<u64> {
    bytes.extract::<u64>().map_err(|_| {
        let text = bytes.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let number = bytes.call_method0(intern!(bytes.py(), "__index__"));
        if number.is_ok() {
            let text = format!("{name} cannot be {text}: it counts bytes, from 0 to 2**64 - 1");
            PyValueError::new_err(text)
        } else {
            let text = format!(
                "{name} cannot be {text}: it counts whole bytes; divide with //, or round with int()"
            );
            PyTypeError::new_err(text)
        }
    })
}

/// Settings of an endpoint.
#[pyclass(frozen, module = "tailwater")]
pub(crate) struct Config(tcp::Config);

attributes!(
    Config,
    it,
    {
        let mss: u16 = it.0.mss;
        let initial_window: u32 = it.0.initial_window;
        let initial_ssthresh: u64 = it.0.initial_ssthresh;
        let byte_counting_limit: u32 = it.0.byte_counting_limit;
        let counts_segments: bool = it.0.counts_segments();
        let header_bytes: u32 = it.0.header_bytes;
        let link_rate: u64 = it.0.link_rate.as_bps();
        let min_rto: u64 = it.0.min_rto.as_ps();
        let sack: bool = it.0.sack;
        let delayed_ack: u32 = it.0.delayed_ack;
        let receive_buffer: u64 = it.0.receive_buffer;
    },
    {}
);

/// The contents of an ACK.
#[pyclass(frozen, module = "tailwater")]
pub(crate) struct Ack(tcp::Ack);

attributes!(
    Ack,
    it,
    {
        let bytes: u64 = it.0.bytes;
        let acknowledged: u64 = it.0.acknowledged;
        let next: u64 = it.0.next;
        let recovering: bool = it.0.recovering;
        let limited_by_window: bool = it.0.limited_by_window;
        let grows: bool = it.0.grows();
        let rtt: Option<u64> = it.0.rtt.map(Span::as_ps);
        let rtt_us: Option<f64> = it.0.rtt.map(|rtt| us(rtt.as_ps()));
        let extension: (u32, u32, u32) = it.0.extension.0.into();
        let now: u64 = it.0.now.as_ps();
        let now_us: f64 = us(it.0.now.as_ps());
    },
    {
        #[getter]
        fn echo<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyString>> {
            match self.0.echo {
                Echo::None => None,
                Echo::Repeated => Some(intern!(py, "repeated")),
                Echo::Reduce => Some(intern!(py, "reduce")),
            }
        }

        fn __repr__(&self) -> String {
            let tcp::Ack {
                bytes,
                acknowledged,
                next,
                ..
            } = &self.0;
            format!("Ack(bytes={bytes}, acknowledged={acknowledged}, next={next}, ...)")
        }
    }
);

/// Picoseconds as microseconds.
pub(super) fn us(ps: u64) -> f64 {
    real(ps) / 1e6
}

/// How a loss was detected.
#[pyclass(frozen, module = "tailwater")]
pub(crate) struct Loss(tcp::Loss);

attributes!(
    Loss,
    it,
    {
        let timeout: bool = matches!(it.0, tcp::Loss::Timeout | tcp::Loss::RepeatedTimeout);
        let repeated: bool = it.0 == tcp::Loss::RepeatedTimeout;
    },
    {
        fn __repr__(&self) -> String {
            let (timeout, repeated) = (self.timeout(), self.repeated());
            let name = |is| if is { "True" } else { "False" };
            format!(
                "Loss(timeout={}, repeated={})",
                name(timeout),
                name(repeated)
            )
        }
    }
);

/// Makes senders.
pub(super) fn make(class: Option<Arc<Class>>, values: Arc<Values>) -> MakeSender {
    Box::new(move |flow| {
        let class = class
            .as_ref()
            .expect("the class of a scenario is registered");
        let sender = played(class, |py| PlayedSender::new(py, class, &values, flow));
        schemes::Sender::Custom(Box::new(sender))
    })
}

/// A sender that an object plays.
struct PlayedSender {
    player: Player,
    base: Py<Sender>,
    on_ack: Option<Py<PyAny>>,
    on_send: Option<Py<PyAny>>,
    pacing: Option<Py<PyAny>>,
    is_slow_starting: Option<Py<PyAny>>,
    /// How it treats control requests of the peer.
    orders: Orders,
    /// Window and threshold before the last loss, until that reduction is undone.
    before_loss: Option<(u64, u64)>,
}

impl PlayedSender {
    fn new(py: Python<'_>, class: &Arc<Class>, values: &Values, flow: &FlowInfo) -> PyResult<Self> {
        let (player, base) = Player::new::<Sender>(py, class, values, |base| {
            let sender = base.get();
            sender.flow.get_or_init(|| *flow);
            sender.begin(&flow.config);
        })?;
        let says = |name: &str, otherwise: bool| match player.method(py, name)? {
            Some(method) => method.call0(py)?.extract::<bool>(py),
            None => Ok(otherwise),
        };
        let orders = match (
            says("obeys_pushed_acks", false)?,
            says("retransmits", true)?,
        ) {
            (_, false) => Orders::Awaited,
            (true, true) => Orders::Obeyed,
            (false, true) => Orders::Ignored,
        };
        Ok(Self {
            base,
            on_ack: player.method(py, "on_ack")?,
            on_send: player.method(py, "on_send")?,
            pacing: player.method(py, "pacing")?,
            is_slow_starting: player.method(py, "is_slow_starting")?,
            orders,
            before_loss: None,
            player,
        })
    }

    /// Calls a rarely called method, if the class has it.
    fn tell<'a, A>(&'a self, name: &str, arguments: A)
    where
        A: for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>> + 'a,
    {
        if self.player.class.has(name) {
            played(&self.player.class, |py| {
                let arguments = arguments(py)?;
                self.player
                    .object
                    .bind(py)
                    .call_method1(name, arguments)
                    .map(drop)
            });
        }
    }
}

impl SenderCc for PlayedSender {
    fn window(&self) -> u64 {
        self.base.get().cwnd()
    }

    /// In two steps: most schemes only need the first, whose numbers are always available.
    fn on_established(&mut self, handshake: &tcp::Established) {
        let tcp::Established {
            mss,
            segments,
            rtt,
            extension,
        } = *handshake;
        self.base.get().establish(mss, segments);
        self.tell("on_established", |py| (mss, segments).into_pyobject(py));
        self.tell("on_handshake", |py| {
            (rtt.map(Span::as_ps), extension.0).into_pyobject(py)
        });
    }

    fn on_ack(&mut self, ack: &tcp::Ack) {
        let Some(on_ack) = &self.on_ack else { return };
        played(&self.player.class, |py| {
            on_ack.bind(py).call1((Ack(*ack),)).map(drop)
        });
    }

    fn on_loss(&mut self, loss: tcp::Loss, in_flight: u64, now: Time) {
        let sender = self.base.get();
        if loss != tcp::Loss::RepeatedTimeout {
            self.before_loss = Some((sender.cwnd(), sender.ssthresh()));
        }
        self.tell("on_loss", |py| {
            (Loss(loss), in_flight, now.as_ps()).into_pyobject(py)
        });
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.tell("on_recovered", |py| (limit,).into_pyobject(py));
    }

    fn is_slow_starting(&self) -> bool {
        match &self.is_slow_starting {
            Some(method) => played(&self.player.class, |py| method.call0(py)?.is_truthy(py)),
            None => self.base.get().cwnd() < self.base.get().ssthresh(),
        }
    }

    fn on_undo(&mut self) {
        let before = self.before_loss.take();
        if self.player.class.has("on_undo") {
            self.tell("on_undo", |py| Ok(PyTuple::empty(py)));
        } else if let Some((cwnd, ssthresh)) = before {
            let sender = self.base.get();
            sender.cwnd.fetch_max(cwnd, Ordering::Relaxed);
            sender.ssthresh.fetch_max(ssthresh, Ordering::Relaxed);
        }
    }

    fn on_idle(&mut self, restart: tcp::Restart) {
        let sender = self.base.get();
        match restart {
            tcp::Restart::Initial => self.tell("on_idle", |py| Ok(PyTuple::empty(py))),
            // Linux halves the windows of all congestion controls without asking them.
            tcp::Restart::Halved { .. } => {
                let (cwnd, ssthresh) = (sender.cwnd(), sender.ssthresh());
                let window = restart.window(cwnd, sender.initial_window());
                let ssthresh = restart.ssthresh(ssthresh, cwnd);
                sender.cwnd.store(window, Ordering::Relaxed);
                sender.ssthresh.store(ssthresh, Ordering::Relaxed);
            }
        }
    }

    fn orders(&self) -> Orders {
        self.orders
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        let has_part = self.on_send.is_some() || self.pacing.is_some();
        has_part.then_some(self)
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        let ssthresh = self.base.get().ssthresh();
        if ssthresh != u64::MAX {
            sink(SSTHRESH.name, real(ssthresh));
        }
        self.player.gauges(sink);
    }
}

impl SegmentCc for PlayedSender {
    fn on_send(&mut self, packet: &mut base::Packet, now: Time) {
        let Some(on_send) = &self.on_send else { return };
        *packet = played(&self.player.class, |py| {
            Packet::shown(py, *packet, |packet| {
                on_send.bind(py).call1((packet, now.as_ps())).map(drop)
            })
        });
    }

    fn pacing(&self) -> Option<Time> {
        let pacing = self.pacing.as_ref()?;
        played(&self.player.class, |py| {
            let time = pacing.call0(py)?;
            Ok(time.extract::<Option<u64>>(py)?.map(Time::from_ps))
        })
    }
}
