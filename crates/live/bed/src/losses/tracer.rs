//! Observes losses while flows are under way.

use std::io;
use std::time::Duration;

use machine::clock;
use programs::Losses;
use rustix::time::{ClockId, clock_gettime};

use super::LossEvent;

/// Does `act` and, if wanted, observes losses meanwhile. `None` if the kernel refuses the program, or if events were
/// lost for want of room.
pub(crate) fn during<T>(
    is_asked: bool,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Option<Vec<LossEvent>>)> {
    let losses = is_asked.then(|| Losses::hear().ok()).flatten();
    // Programs count time from the start of the machine.
    let (begun, since) = (clock::now(), clock_gettime(ClockId::Monotonic));
    let since = Duration::try_from(since).unwrap_or_default();
    let done = act()?;
    let noticed = losses.map(|losses| losses.heard().map_err(io::Error::other));
    let noticed = noticed.transpose()?.flatten();
    let heard = noticed.map(|noticed| {
        let all = noticed.into_iter();
        let heard = all.map(|noticed| LossEvent {
            at: begun + noticed.at.saturating_sub(since),
            ends: (noticed.way.from, noticed.way.to),
            by_timer: noticed.by_timer,
        });
        heard.collect()
    });
    Ok((done, heard))
}
