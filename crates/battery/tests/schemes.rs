//! Every built-in scheme survives the battery.

#[test]
fn every_scheme_completes_on_every_network_and_repeats_itself() {
    for scheme in schemes::all() {
        battery::check(scheme.name);
    }
}

#[test]
fn no_scheme_hangs_on_the_order_of_simultaneous_events() {
    for scheme in schemes::all() {
        battery::hangs_on_no_order(scheme.name);
    }
}
