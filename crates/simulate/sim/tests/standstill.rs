//! Roles that never stop: a deadline that lies in the past, and ACKs without end. Other tests must not meet such
//! schemes, so these tests are a program of their own.

use base::{Packet, Time};
use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use schemes::{Origin, Receiver, Role, Roles, Scheme};
use sim::run;
use sim::stepper::Stepper;
use tcp::{ReceiverCc, Release, Released, Slot};

/// Always wants to be called at once.
struct Impatient;

impl ReceiverCc for Impatient {
    fn deadline(&self) -> Time {
        Time::ZERO
    }
}

/// Always has an ACK to release, once a connection is open.
#[derive(Default)]
struct Generous {
    open: Option<Slot>,
}

impl ReceiverCc for Generous {
    fn on_open(&mut self, slot: Slot, _syn: &Packet, _mss: u16, _now: Time) {
        self.open = Some(slot);
    }

    fn next_release(&mut self, _now: Time) -> Option<Release> {
        let slot = self.open?;
        Some(Release {
            slot,
            what: Released::Ack,
        })
    }
}

/// A scheme of this role.
const fn scheme(name: &'static str, build: &'static schemes::BuildRoles) -> Scheme {
    Scheme {
        name,
        roles: &[Role::Receiver],
        origin: Some(Origin {
            package: "test",
            version: "1",
            hash: 1,
        }),
        build,
        ..Scheme::PLAIN
    }
}

const IMPATIENT: Scheme = scheme("impatient", &|_| {
    Ok(Roles {
        receiver: Some(Box::new(|_| Receiver::Custom(Box::new(Impatient)))),
        ..Roles::default()
    })
});

const GENEROUS: Scheme = scheme("generous", &|_| {
    Ok(Roles {
        receiver: Some(Box::new(|_| {
            Receiver::Custom(Box::new(Generous::default()))
        })),
        ..Roles::default()
    })
});

#[test]
fn a_run_whose_time_stands_still_ends_and_names_what_goes_on_for_ever() {
    schemes::register(IMPATIENT).expect("a new name");
    // SYNs leave at 10 ms and reach the receiver, host 0, within a millisecond.
    let expected = "mostly the deadline of the receiver role of host 0.";
    let ended = run::run(&point("impatient")).expect_err("it goes on for ever");
    let text = ended.to_string();
    assert!(text.contains("stands still at 0.0100"), "{text}");
    assert!(text.contains(expected), "{text}");
    // So does one that its caller steps from decision to decision.
    let mut stepper = Stepper::new(point("impatient")).expect("a network that carries its traffic");
    stepper.advance(Time::NEVER);
    assert!(stepper.finished());
    let ended = stepper.finish().expect_err("it goes on for ever");
    assert_eq!(ended.to_string(), text);
}

#[test]
fn a_receiver_that_releases_acks_without_end_ends_with_an_error_that_names_it() {
    schemes::register(GENEROUS).expect("a new name");
    let ended = run::run(&point("generous")).expect_err("it goes on for ever");
    let text = ended.to_string();
    let expected = "the receiver role of host 0 releases ACKs without end: its next_release must \
                    return no ACK when the role holds none";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("at 0.0100"), "{text}");
    let mut stepper = Stepper::new(point("generous")).expect("a network that carries its traffic");
    stepper.advance(Time::NEVER);
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
