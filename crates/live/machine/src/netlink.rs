//! Requests to the kernel, each answered before the next one is sent.

mod device;
mod diag;
mod ethtool;
mod route;
mod socket;

pub use device::{Device, Devices, QdiscLimit, RootQdisc};
pub use diag::round_trip_us;
pub use ethtool::Ethtool;
pub use route::{Counters, LinkEnd, Route, Routing, Tbf};
