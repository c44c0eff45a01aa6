//! Networks on a Linux machine, for callers that decide their layout.
//!
//! Hosts and switches are named network namespaces ([`namespace`]); links, routes and queues are made by [`netlink`]. A
//! process records its network before making it ([`record`]), so that it can be found and removed after a crash.
//! [`privilege`] reports missing privileges in advance, [`interrupt`] reports requests to end.
//!
//! Settings of a network are declared on every system:
//!
//! ```
//! let setting: machine::Sysctl = "net.ipv4.tcp_recovery=0".parse().expect("a setting");
//! assert_eq!(setting.file, "ipv4/tcp_recovery");
//! ```

#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
pub mod interrupt;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod netlink;
pub mod payload;
#[cfg(target_os = "linux")]
pub mod priority;
#[cfg(target_os = "linux")]
pub mod privilege;
#[cfg(target_os = "linux")]
pub mod record;
mod route;
pub mod sysctl;

#[cfg(target_os = "linux")]
pub use exec::exec;
pub use route::RouteOptions;
pub use sysctl::Sysctl;
