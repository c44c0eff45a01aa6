//! A role whose deadline lies in the past. It is a scheme that other tests must not meet, so that this has a program of
//! its own.

use base::Time;
use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use schemes::{Origin, Receiver, Role, Roles, Scheme};
use sim::run;
use sim::stepper::Stepper;
use tcp::ReceiverCc;

/// Always wants to be called at once.
struct Impatient;

impl ReceiverCc for Impatient {
    fn deadline(&self) -> Time {
        Time::ZERO
    }
}

const IMPATIENT: Scheme = Scheme {
    name: "impatient",
    roles: &[Role::Receiver],
    origin: Some(Origin {
        package: "test",
        version: "1",
        hash: 1,
    }),
    build: &|_| {
        Ok(Roles {
            receiver: Some(Box::new(|_| Receiver::Custom(Box::new(Impatient)))),
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

#[test]
fn a_run_whose_time_stands_still_ends_and_names_what_goes_on_for_ever() {
    schemes::register(IMPATIENT).expect("a new name");
    // SYNs leave at 10 ms and reach the receiver, host 0, within a millisecond.
    let expected = "mostly the deadline of the receiver role of host 0.";
    let ended = run::run(&point("impatient")).expect_err("it goes on for ever");
    let text = ended.to_string();
    assert!(text.contains("stands still at 0.0100"), "{text}");
    assert!(text.contains(expected), "{text}");
    // So does one that its caller takes from one decision to the next.
    let mut stepper = Stepper::new(point("impatient")).expect("a network that carries its traffic");
    stepper.advance(Time::NEVER);
    assert!(stepper.finished());
    let ended = stepper.finish().expect_err("it goes on for ever");
    assert_eq!(ended.to_string(), text);
}

fn point(scheme: &str) -> PointSpec {
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        ..Overrides::default()
    };
    let source = Source::builtin("incast").expect("it is built in");
    let scenario = Scenario::load(source, &overrides).expect("settings that exist");
    scenario.points()[0].clone()
}
