//! The output of the program.

use std::io::{self, Write};

use protocol::Line;

/// One line on standard output. A reader that has gone ends nothing: the network is removed in order.
pub(super) fn line(line: &Line) {
    let mut out = io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}
