//! The number of things that the events of one simulation can concern.

use engine::Token;

/// The things that events concern. Each has a token of its own; so have the acts of applications.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Ports of the network.
    pub ports: u64,
    /// Ends of connections that exist at the same time.
    pub ends: u64,
    /// Its hosts.
    pub hosts: u64,
}

/// A simulation with more things than there are tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{ports} ports, {hosts} hosts and both ends of {connections} connections are too many: together \
     {most} are possible"
)]
pub struct TooLarge {
    ports: u64,
    hosts: u64,
    connections: u64,
    most: u64,
}

impl Tokens {
    /// An error if there are not enough tokens. Checked when a scenario is read, for random flows by their expected
    /// number, and again with the drawn flows before the simulation.
    pub fn check(self) -> Result<(), TooLarge> {
        let most = u64::from(Token::LIMIT) - 1;
        let Self { ports, ends, hosts } = self;
        if ports.saturating_add(ends).saturating_add(hosts) <= most {
            return Ok(());
        }
        Err(TooLarge {
            ports,
            hosts,
            connections: ends / 2,
            most,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_possible_as_there_are_tokens_besides_that_of_applications() {
        let tokens = |ends| Tokens {
            ports: 200,
            ends,
            hosts: 15,
        };
        // 2^24 - 1 - 215
        assert_eq!(tokens(16_777_000).check(), Ok(()));
        let error = tokens(16_777_002).check().unwrap_err().to_string();
        assert_eq!(
            error,
            "200 ports, 15 hosts and both ends of 8388501 connections are too many: together 16777215 are \
             possible"
        );
    }
}
