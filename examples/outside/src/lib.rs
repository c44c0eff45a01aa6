//! A sender that keeps a constant number of segments outstanding, whatever happens.

use tailwater::prelude::*;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "fixed",
    summary: "A constant window: what happens without congestion control",
    roles: &[Role::Sender],
    keys: Params::KEYS,
    build: &|text| Ok(Roles::of_sender(Params::read(text)?, Constant::new)),
    origin: Some(tailwater::origin!()),
    ..Scheme::PLAIN
};

settings! {
    /// Parameters.
    pub struct Params in "fixed" {
        /// Congestion window, in segments.
        pub window: Count = "4",
    }
}

/// The sender of one connection.
struct Constant {
    /// Bytes that may be outstanding.
    window: u64,
}

impl Constant {
    fn new(params: &Params, flow: &FlowInfo) -> Box<Self> {
        let segments = u64::from(params.window.0);
        Box::new(Self {
            window: segments * u64::from(flow.config.mss),
        })
    }
}

impl SenderCc for Constant {
    fn window(&self) -> u64 {
        self.window
    }

    fn on_ack(&mut self, _: &Ack) {}

    fn on_loss(&mut self, _: Loss, _in_flight: u64, _now: Time) {}
}

#[test]
fn the_scheme_survives_the_battery() {
    tailwater::register(SCHEME).expect("a correct entry");
    tailwater::battery::check(SCHEME.name);
}
