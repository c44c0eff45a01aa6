//! Every built-in scheme survives the battery.

#[test]
fn every_scheme_completes_on_every_network_and_repeats_itself() {
    for scheme in schemes::all() {
        battery::check(scheme.name);
    }
}
