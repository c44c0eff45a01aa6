//! Schemes that rewrite windows in switches, between two TCP endpoints and packet by packet.

mod hooks;
mod pair;
mod windows;
