//! Roles that hold something of their thread, and that may give up. Other tests must not meet such a scheme, so these
//! tests are a program of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::{Span, Time};
use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use schemes::{Hold, Origin, Role, Roles, Scheme, Sender};
use sim::error::RunError;
use sim::run::{self, Limits};
use tcp::{Ack, Established, Loss, NewReno, Restart, SenderCc};

/// Counts its holders and their pauses.
struct Counted;

static HELD: AtomicU64 = AtomicU64::new(0);
static PAUSES: AtomicU64 = AtomicU64::new(0);

impl Hold for Counted {
    fn hold(&self, simulate: &mut dyn FnMut()) {
        HELD.fetch_add(1, Ordering::Relaxed);
        simulate();
        HELD.fetch_sub(1, Ordering::Relaxed);
    }

    fn pause(&self) {
        PAUSES.fetch_add(1, Ordering::Relaxed);
    }
}

/// NewReno that gives up at its first loss after some time.
struct Fickle {
    reno: NewReno,
    from: Time,
}

impl SenderCc for Fickle {
    fn window(&self) -> u64 {
        assert!(HELD.load(Ordering::Relaxed) > 0, "it is held");
        self.reno.window()
    }

    fn on_established(&mut self, handshake: &Established) {
        self.reno.on_established(handshake);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.reno.on_ack(ack);
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        if now >= self.from {
            schemes::give_up(Arc::new(std::fmt::Error));
        }
        self.reno.on_loss(loss, in_flight, now);
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.reno.on_recovered(limit);
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }

    fn on_idle(&mut self, restart: Restart) {
        self.reno.on_idle(restart);
    }

    fn is_slow_starting(&self) -> bool {
        self.reno.is_slow_starting()
    }
}

base::settings! {
    /// When it begins to give up.
    pub struct Params in "fickle" {
        /// From then on.
        pub from: Span = "1000s",
    }
}

#[test]
fn who_gives_up_fails_alone_and_what_is_held_changes_nothing() {
    use base::setting::Settings;

    let scheme = Scheme {
        name: "fickle",
        roles: &[Role::Sender],
        keys: Params::KEYS,
        origin: Some(Origin {
            package: "test",
            version: "1",
            hash: 1,
        }),
        build: &|text| {
            let from = Time::ZERO + Params::read(text)?.from;
            Ok(Roles {
                sender: Some(Box::new(move |flow| {
                    let reno = NewReno::new(&flow.config);
                    Sender::Custom(Box::new(Fickle { reno, from }))
                })),
                hold: Some(&Counted),
                ..Roles::default()
            })
        },
        ..Scheme::PLAIN
    };
    schemes::register(scheme).expect("a new name");
    let load = ["workload.senders=40", "workload.size=1MB"];
    let plain = run::run(&points("incast", "newreno", &load)[0]).expect("a conserving run");
    assert_eq!(
        HELD.load(Ordering::Relaxed) + PAUSES.load(Ordering::Relaxed),
        0
    );
    let held = run::run(&points("incast", "fickle", &load)[0]).expect("a conserving run");
    assert_eq!(held.digest, plain.digest);
    assert!(
        PAUSES.load(Ordering::Relaxed) > 10,
        "others have their turn"
    );

    let sooner = [load[0], load[1], "fickle.from=20ms"];
    let point = &points("incast", "fickle", &sooner)[0];
    match run::run(point) {
        Err(RunError::Role { cause, simulated }) => {
            assert_eq!(cause.to_string(), std::fmt::Error.to_string());
            assert!(
                (20_000.0..200_000.0).contains(&simulated.as_micros()),
                "{simulated}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(HELD.load(Ordering::Relaxed), 0, "it is let go of");
    // If the caller has cancelled, that is the reason that is given.
    let limits = Limits {
        stop: Some(&AtomicBool::new(true)),
        ..Limits::NONE
    };
    let ended = run::within(limits, point);
    assert!(matches!(ended, Err(RunError::Stopped)), "{ended:?}");
}

fn points(scenario: &str, scheme: &str, sets: &[&str]) -> Vec<PointSpec> {
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    let source = Source::builtin(scenario).expect("it is built in");
    let scenario = Scenario::load(source, &overrides).expect("settings that exist");
    scenario.points().to_vec()
}
