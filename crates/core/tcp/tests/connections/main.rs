//! TCP behaviours as scripts, and two endpoints over a random channel in [`model`].
//!
//! In scripts segments go in at times and are expected at times: each test drives one endpoint against a
//! scripted peer and cites the clause it shows. See [`script`] for the language.

mod close;
mod congestion;
mod delayed_ack;
mod ecn;
mod facts;
mod go_back_n;
mod handshake;
mod header;
mod host;
mod low_priority;
mod model;
mod nagle;
mod newreno;
mod pace;
mod receive;
mod record;
mod reset;
mod sack;
mod script;
mod send_buffer;
mod small_queues;
mod timer;
mod timestamps;
mod told;
mod window;
mod wrap;
