//! How a port counts its flows.

use std::collections::VecDeque;

use base::{FlowId, Span, Time};
use laws::Case;

use super::bloom::Bloom;
use super::{CountBy, Params};
use crate::registry::PortInfo;

/// The rule that decides whether, and when, a SYN-ACK or FIN counts.
pub(super) enum Counting {
    /// A set of open flows, which is always right.
    Exact,
    /// A filter that takes some flows for others.
    Bloom(Bloom),
    /// News on their way from a controller, which is always right but late.
    Controller {
        delay: Span,
        news: VecDeque<(Time, Case)>,
    },
}

impl Counting {
    pub(super) fn new(params: &Params, port: &PortInfo) -> Self {
        match params.count {
            CountBy::Exact => Self::Exact,
            CountBy::Bloom => Self::Bloom(Bloom::new(
                params.bloom_error.0,
                params.bloom_flows.0,
                (port.seed, port.port.0),
            )),
            CountBy::Controller => Self::Controller {
                delay: params.controller_delay,
                news: VecDeque::new(),
            },
        }
    }

    /// Whether a packet with which a flow begins or ends changes the count at once. `is_new` says
    /// whether the flow really begins or ends with it.
    pub(super) fn counts(&mut self, flow: FlowId, case: Case, is_new: bool, now: Time) -> bool {
        match self {
            Self::Exact => is_new,
            Self::Bloom(filter) => match case {
                Case::Opens => filter.insert(flow),
                _ => filter.remove(flow),
            },
            Self::Controller { delay, news } => {
                if is_new {
                    news.push_back((now + *delay, case));
                }
                false
            }
        }
    }

    /// When the next news arrive.
    pub(super) fn due(&self) -> Time {
        match self {
            Self::Controller { news, .. } => news.front().map_or(Time::NEVER, |(due, _)| *due),
            _ => Time::NEVER,
        }
    }

    /// The next news that have arrived at `now`.
    pub(super) fn next_due(&mut self, now: Time) -> Option<Case> {
        match self {
            Self::Controller { news, .. } => news
                .pop_front_if(|(due, _)| *due <= now)
                .map(|(_, case)| case),
            _ => None,
        }
    }
}
