//! F-RTO: whether a timeout was spurious (RFC 5682 §3.1, the version with SACK).

/// Where the detection is. It begins with a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Frto {
    /// Nothing is to be found out.
    Off,
    /// Step 1: the first segment has been sent again, and its ACK is awaited.
    First,
    /// Step 2b: new data is sent instead of more of the old; its ACKs decide.
    NewData,
}

/// What an ACK after a timeout says.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that a step of the RFC asks for"
)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// Whether it moves on.
    pub(crate) advances: bool,
    /// Whether everything sent before the timeout is acknowledged.
    pub(crate) complete: bool,
    /// Whether a segment sent before the timeout, and not since, was delivered.
    pub(crate) original: bool,
    /// Whether it reports something beyond a hole, or is a duplicate.
    pub(crate) reports: bool,
    /// Whether there is new data that the receiver has room for.
    pub(crate) new_data: bool,
}

/// What follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FrtoVerdict {
    /// The timeout was spurious.
    Spurious,
    /// New data is sent, and what is lost waits.
    SendNew,
    /// What is lost is sent again.
    Repair,
}

impl Frto {
    /// New data was to leave and could not. Returns whether repairs go on instead (Linux 6.12, `tcp_xmit_recovery`).
    pub(crate) fn without_new_data(&mut self) -> bool {
        let waits = *self == Self::NewData;
        if waits {
            *self = Self::Off;
        }
        waits
    }

    pub(crate) fn on_ack(&mut self, ack: Evidence) -> FrtoVerdict {
        match *self {
            Self::Off => FrtoVerdict::Repair,
            // Step 3b, which may come with the first ACK.
            _ if ack.original => {
                *self = Self::Off;
                FrtoVerdict::Spurious
            }
            Self::First if ack.advances && !ack.complete && ack.new_data => {
                *self = Self::NewData;
                FrtoVerdict::SendNew
            }
            // Steps 2a and 2b without data to send: the usual recovery.
            Self::First if ack.advances => {
                *self = Self::Off;
                FrtoVerdict::Repair
            }
            Self::First => FrtoVerdict::Repair,
            // Step 3a: something beyond the hole arrived, so the hole is real.
            Self::NewData if ack.reports => {
                *self = Self::Off;
                FrtoVerdict::Repair
            }
            Self::NewData => FrtoVerdict::SendNew,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Evidence = Evidence {
        advances: false,
        complete: false,
        original: false,
        reports: false,
        new_data: true,
    };

    const ADVANCES: Evidence = Evidence {
        advances: true,
        ..NOTHING
    };

    // Clauses: RFC5682-3.1-new, RFC5682-3.1-real
    #[test]
    fn an_ack_that_moves_on_sends_new_data_and_a_report_beyond_a_hole_ends_that() {
        let mut frto = Frto::First;
        assert_eq!(frto.on_ack(ADVANCES), FrtoVerdict::SendNew);
        let report = Evidence {
            reports: true,
            ..NOTHING
        };
        assert_eq!(frto.on_ack(report), FrtoVerdict::Repair);
        assert_eq!(frto, Frto::Off);
    }

    // Clauses: RFC5682-3.1-spurious
    #[test]
    fn the_delivery_of_an_original_shows_a_spurious_timeout() {
        for mut frto in [Frto::First, Frto::NewData] {
            let original = Evidence {
                original: true,
                ..ADVANCES
            };
            assert_eq!(frto.on_ack(original), FrtoVerdict::Spurious);
            assert_eq!(frto, Frto::Off);
        }
        assert_eq!(
            Frto::Off.on_ack(Evidence {
                original: true,
                ..ADVANCES
            }),
            FrtoVerdict::Repair
        );
    }

    // Clauses: RFC5682-3.1-usual
    #[test]
    fn without_new_data_or_with_everything_acknowledged_recovery_is_the_usual_one() {
        let changes: [fn(&mut Evidence); 2] =
            [|ack| ack.new_data = false, |ack| ack.complete = true];
        for change in changes {
            let mut frto = Frto::First;
            let mut ack = ADVANCES;
            change(&mut ack);
            assert_eq!(frto.on_ack(ack), FrtoVerdict::Repair);
            assert_eq!(frto, Frto::Off);
        }
        // A duplicate before the first new ACK decides nothing.
        let mut frto = Frto::First;
        assert_eq!(frto.on_ack(NOTHING), FrtoVerdict::Repair);
        assert_eq!(frto, Frto::First);
    }
}
