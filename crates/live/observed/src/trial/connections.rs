//! The times when the connections of flows opened: a law acts on those that open while it is attached.

use std::collections::BTreeMap;

use crate::seen::Flow;

/// Connections whose beginning was seen.
#[derive(Clone, Debug, Default)]
pub struct SeenConnections(BTreeMap<(String, String), f64>);

impl SeenConnections {
    /// When the connection of this flow opened, in seconds since watching began; `None` if that was not seen.
    pub fn opened(&mut self, flow: &Flow) -> Option<f64> {
        let (one, other) = (flow.sender.clone(), flow.receiver.clone());
        let ends = if one < other {
            (one, other)
        } else {
            (other, one)
        };
        if let Some(opened_s) = flow.opened_s {
            self.0.insert(ends, opened_s);
            return Some(opened_s);
        }
        self.0.get(&ends).copied()
    }

    /// Forgets connections that opened before this time.
    pub fn forget(&mut self, before_s: f64) {
        self.0.retain(|_, opened_s| *opened_s >= before_s);
    }

    /// Why a law at a port could not change flows like these, if that is so.
    ///
    /// # Errors
    /// If most of them are of connections that opened before anybody watched.
    pub fn are_new(flows: &[Flow]) -> Result<(), String> {
        let mut all = Self::default();
        let old = flows.iter().filter(|flow| all.opened(flow).is_none());
        let old = old.count();
        if 2 * old <= flows.len() {
            return Ok(());
        }
        Err(format!(
            "{old} of {} flows are of connections that were open before anybody watched; a law acts on connections that begin while \
             it is there, so that most flows would not meet it",
            flows.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_flows_of_a_connection_that_was_seen_to_open_are_new_and_others_are_old() {
        let of = |port: u32, opened_s| Flow {
            sender: format!("10.0.0.1:{port}"),
            opened_s,
            ..Flow::example(1.0, 0.1)
        };
        let both = [of(5, Some(0.5)), of(5, None)];
        assert_eq!(SeenConnections::are_new(&both), Ok(()));
        let mut back = both[1].clone();
        std::mem::swap(&mut back.sender, &mut back.receiver);
        let mut all = SeenConnections::default();
        let opened = [&both[0], &both[1], &back].map(|flow| all.opened(flow));
        assert_eq!(opened, [Some(0.5); 3]);
        all.forget(0.6);
        assert_eq!(all.opened(&both[1]), None);
        let old = [of(5, Some(0.5)), of(6, None), of(7, None)];
        let why = SeenConnections::are_new(&old).expect_err("most are old");
        assert!(why.starts_with("2 of 3 flows"), "{why}");
    }
}
