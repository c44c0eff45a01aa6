//! Control laws that run both in the simulator and in a kernel: C, once, with a safe Rust face.
//!
//! The headers `c/hscc.h`, `c/rwndq.h`, `c/grant.h`, `c/flight.h`, `c/idle.h` and `c/mark.h` are the normative text. They are freestanding, without loops,
//! globals or floats, so that a BPF program includes the same text that the simulator calls; `bpf.sh`
//! shows that they compile for it. A build for development traps what C leaves undefined.
//!
//! ```
//! // A buffer of 84 packets, on above one half, off below one quarter, a segment of 1460 bytes.
//! let mut port = laws::Hscc::new(&laws::HsccSettings {
//!     buffer_units: 84,
//!     alpha1_millionths: 250_000,
//!     alpha2_millionths: 500_000,
//!     window_bytes: 1460,
//!     rewrites_syn_ack: false,
//! });
//! port.on_level(43);
//! // At a scale of 7 a segment is twelve units, and at eleven the sender would wait for ever.
//! assert_eq!(port.window(base::TcpFlags::ACK, 512, 7), 12);
//! ```

mod grant;
mod hscc;
mod idle;
mod loadable;
mod mark;
mod memory;
mod replay;
mod rwndq;

// Named for its features alone: the workspace's manifest says why.
#[cfg(unix)]
use libc as _;

pub use grant::{Granted, Grants};
pub use hscc::{Hscc, HsccSettings};
pub use idle::{Idle, Life};
pub use loadable::Loadable;
pub use mark::Mark;
pub use replay::{Call, DecisionReplay, Difference};
pub use rwndq::{Case, Rwndq, RwndqSettings};
