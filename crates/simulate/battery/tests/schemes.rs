//! Every built-in scheme survives the battery.

use std::num::NonZeroU32;

#[test]
fn every_scheme_completes_on_every_network_and_repeats_itself() {
    for scheme in schemes::all() {
        battery::check(scheme.name);
    }
}

#[test]
fn no_scheme_hangs_on_the_order_of_simultaneous_events() {
    for scheme in schemes::all() {
        battery::hangs_on_no_order(scheme.name, &[]);
    }
}

#[test]
#[should_panic(expected = "newreno: p99 of orders")]
fn without_jitter_newreno_hangs_on_the_order_of_simultaneous_events() {
    battery::hangs_on_no_order("newreno", &["link.jitter=0s"]);
}

#[test]
fn no_scheme_depends_on_the_origin_or_the_unit_of_time() {
    for scheme in schemes::all() {
        battery::depends_on_no_origin_or_unit_of_time(scheme.name, seeds(20));
    }
}

#[test]
#[ignore = "a minute: `cargo xtask trust relations` runs it"]
fn over_200_seeds_no_scheme_depends_on_the_origin_or_the_unit_of_time() {
    for scheme in schemes::all() {
        battery::depends_on_no_origin_or_unit_of_time(scheme.name, seeds(200));
    }
}

const fn seeds(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("at least one")
}

#[test]
fn a_receiver_that_limits_nothing_adds_nothing_to_any_scheme() {
    // Grants hold no ACK back, and this budget is larger than all windows together.
    let settings = ["rcc.hold=grant", "rcc.max_queue=1GB"];
    let mut composed = 0;
    for receiver in ["rcc", "rdtcp"] {
        for scheme in schemes::all() {
            let name = scheme.name;
            // Without another sender these receivers leave no window to the sender.
            let composition = if scheme.roles.contains(&schemes::Role::Sender) {
                format!("{receiver}+{name}")
            } else {
                format!("{receiver}+newreno+{name}")
            };
            if schemes::Bundle::parse(&composition).is_ok() {
                battery::adds_nothing(&composition, &settings, name);
                composed += 1;
            }
        }
    }
    assert!(composed >= 14, "{composed} compositions");
}
