//! Schemes at the ends of connections and in switches, over channels that a test controls.

mod battery;
mod grants;
mod hooks;
mod pair;
mod rcc;
mod star;
mod windows;
