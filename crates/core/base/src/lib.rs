//! The vocabulary of the whole project: time, rates, sequence numbers, the packet, settings.
//!
//! Everything here is a small value type. A quantity carries its unit in its type, is written and
//! read with its unit in text (`"40us"`, `"1Gbps"`, `"32KiB"`), and never reads a clock, the
//! environment or a global.
//!
//! ```
//! use base::{Rate, Span, Time};
//!
//! let link: Rate = "1Gbps".parse().expect("a rate with its unit");
//! let frame = link.serialisation(1500);
//! assert_eq!(frame, Span::from_micros(12));
//! assert_eq!((Time::ZERO + frame).to_string(), "12us");
//! ```

pub mod cast;
mod column;
mod fnv;
mod order;
mod packet;
mod quantity;
mod rate;
mod seq;
pub mod setting;
pub mod shown;
mod size;
mod time;
mod unit;

pub use column::Column;
pub use fnv::fnv;
pub use order::{Ordered, Sort};
pub use packet::{
    Beside, Ecn, Extension, FlowId, HostId, Options, Packet, SackBlocks, SynOptions, TcpFlags,
    Timestamps,
};
pub use quantity::{
    Count, Factor, Fraction, OrAuto, OrNever, OrOff, OrUnlimited, Quantity, QuantityError,
};
pub use rate::Rate;
pub use seq::Seq;
pub use size::{DataSize, Full, OnWire, Payload, Size, SizeUnit, WireSize};
pub use time::{Span, Time};
pub use unit::UnitFamily;
