//! What the papers compute without a simulation: closed forms, difference equations and
//! delay-differential equations.
//!
//! Each module is one paper's. Its functions take plain numbers in seconds, packets and packets per
//! second; its [`answer::Model`] takes settings as a user writes them and answers with tables and
//! charts, which the command prints and draws. Nothing here knows a packet or a queue of the simulator,
//! so that what both say can be compared.
//!
//! ```
//! let steady = theory::rwndq::Loop::new(&base::setting::Settings::defaults());
//! let last = *steady.run(0.2).last().expect("samples");
//! assert!((last.queue - 16.6).abs() < 0.01);
//! ```

pub mod answer;
pub mod dcqcn;
pub mod dde;
pub mod hscc;
mod number;
pub mod rc3;
pub mod rcc;
pub mod rwndq;

use answer::Model;

/// Every model, in the order of the papers.
pub const MODELS: &[&Model] = &[&rcc::MODEL, &rc3::MODEL, &hscc::MODEL, &rwndq::MODEL];
