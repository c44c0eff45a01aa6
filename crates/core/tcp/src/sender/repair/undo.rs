//! Reductions of the window that were needless are taken back.
//!
//! Two things show that what was sent again had not been lost: the receiver reports each copy as a
//! duplicate (RFC 3708, by the blocks of RFC 2883), or the ACK echoes a timestamp from before the first
//! copy (the Eifel detection of RFC 3522). The response is that of RFC 4015: the window as it was.

use crate::timestamps;

/// The copies sent since the window was reduced, and the duplicates reported for them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// First offset not acknowledged when the window was reduced; `None`: there is nothing to take back.
    marker: Option<u64>,
    /// Copies that no duplicate has been reported for; `None` before the first.
    unanswered: Option<u32>,
    /// The timestamp of the first copy since all was well.
    first_copy: Option<u32>,
    /// Whether a mark has asked for the reduction, too: then the window stays, whatever became of the copies.
    marked: bool,
}

impl Undo {
    /// The window has been reduced with `una` the first offset not acknowledged and this many copies of
    /// segments in the network, because of a mark or not.
    pub(crate) fn on_reduced(&mut self, una: u64, copies: u32, marked: bool) {
        (self.marker, self.marked) = (Some(una), marked);
        // Copies sent before may still be reported as duplicates.
        self.unanswered = (copies > 0).then_some(copies);
    }

    /// A segment is sent again, with this timestamp.
    pub(crate) fn on_copy(&mut self, clock: u32) {
        self.unanswered = Some(self.unanswered.unwrap_or(0) + 1);
        self.first_copy.get_or_insert(clock);
    }

    /// The receiver reports this many duplicates, up to `end`, with everything below `una` acknowledged.
    pub(crate) fn on_duplicate(&mut self, end: u64, una: u64, copies: u32) {
        if self.marker.is_some_and(|marker| end > marker) && end <= una {
            self.on_answered(copies);
        }
    }

    /// This many copies, of segments that are still outstanding, have come beside their originals.
    pub(crate) fn on_answered(&mut self, copies: u32) {
        self.unanswered = self.unanswered.map(|left| left.saturating_sub(copies));
    }

    /// A mark is echoed: congestion is proved, and the window is not taken back.
    pub(crate) const fn on_mark(&mut self) {
        self.marked = true;
    }

    /// Whether the window is as before the reduction if that turns out to be needless.
    pub(crate) const fn restores_window(&self) -> bool {
        !self.marked
    }

    /// Nothing is missing: whatever is sent again from now on belongs to another story.
    pub(crate) const fn on_open(&mut self) {
        self.first_copy = None;
    }

    /// A mark or a reduction that was due: nothing is to be taken back.
    pub(crate) const fn settle(&mut self) {
        self.marker = None;
    }

    /// RFC 3708 §3: whether every copy has been reported as a duplicate.
    pub(crate) fn all_were_duplicates(&self) -> bool {
        self.marker.is_some() && self.unanswered == Some(0)
    }

    /// RFC 3522 §3.2 step 4: whether an ACK with this echo, which moves on, answers what was sent before the first copy.
    /// Before any copy has left it does so in any case (Linux 6.12, `tcp_packet_delayed`).
    pub(crate) fn answers_original(&self, echo: Option<u32>) -> bool {
        let before = |first| echo.is_some_and(|echo| timestamps::is_before(echo, first));
        self.marker.is_some() && self.first_copy.is_none_or(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_reported_for_each_copy_shows_that_none_was_needed() {
        let mut undo = Undo::default();
        undo.on_reduced(100, 0, false);
        assert!(!undo.all_were_duplicates());
        undo.on_copy(5);
        undo.on_copy(5);
        undo.on_duplicate(150, 200, 1);
        // One from before the reduction, and one beyond what is acknowledged, say nothing.
        undo.on_duplicate(90, 200, 1);
        undo.on_duplicate(250, 200, 1);
        assert!(!undo.all_were_duplicates());
        undo.on_duplicate(200, 200, 1);
        assert!(undo.all_were_duplicates());
        undo.settle();
        assert!(!undo.all_were_duplicates());
    }

    // Linux 6.12, tcp_fastretrans_alert: an ECE prohibits that the window is taken back.
    #[test]
    fn a_reduction_that_a_mark_has_asked_for_stays() {
        let mut undo = Undo::default();
        undo.on_reduced(100, 0, true);
        assert!(!undo.restores_window());
        undo.on_reduced(200, 0, false);
        assert!(undo.restores_window());
        undo.on_mark();
        assert!(!undo.restores_window());
    }

    #[test]
    fn an_echo_from_before_the_first_copy_shows_that_the_original_arrived() {
        let mut undo = Undo::default();
        undo.on_reduced(100, 0, false);
        undo.on_copy(5);
        undo.on_copy(9);
        assert!(undo.answers_original(Some(4)));
        // The clock stood at the same tick: nobody knows.
        assert!(!undo.answers_original(Some(5)));
        assert!(!undo.answers_original(None));
        undo.settle();
        assert!(!undo.answers_original(Some(4)));
    }

    #[test]
    fn an_ack_that_moves_on_before_any_copy_shows_that_the_original_arrived() {
        let mut undo = Undo::default();
        assert!(!undo.answers_original(None));
        undo.on_reduced(100, 0, false);
        assert!(undo.answers_original(None));
        undo.on_copy(5);
        assert!(!undo.answers_original(None));
    }
}
