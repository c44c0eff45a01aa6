//! A law at a queue of this machine's kernel, with the kernel's TCP on both sides of it.

use std::thread;
use std::time::Duration;

use base::cast::real;
use laws::{Hscc, HsccSettings, Idle, Rwndq, RwndqSettings};
use programs::{Attached, Port, Reason};

use crate::bed::{BUFFER, Bed, SWITCH};
use crate::steady::measured;
use crate::{count, loaded};

pub(crate) const SENDERS: usize = 20;
pub(crate) const SIZE: usize = 256 << 10;

/// HSCC in the state OFF, with the thresholds of the paper.
pub(crate) fn hscc() -> Hscc {
    Hscc::new(&HsccSettings {
        buffer_units: BUFFER,
        alpha1_millionths: 250_000,
        alpha2_millionths: 500_000,
        window_bytes: 1_460,
        rewrites_syn_ack: false,
    })
}

/// RWNDQ without flows, with the settings of the paper.
pub(crate) fn rwndq() -> Rwndq {
    Rwndq::new(&RwndqSettings {
        buffer_bytes: BUFFER,
        alpha_millionths: 200_000,
        samples: 10,
        mss_bytes: 1_448,
        scale: 14,
        paths: 1,
    })
}

/// RWNDQ's interval T.
pub(crate) const INTERVAL: Duration = Duration::from_micros(50);

/// The law acts at the queue of the bed for a minute, or until it is dropped.
pub(crate) fn attached(bed: &Bed, port: &Port) -> Attached {
    port.renew(Duration::from_mins(1)).expect("a lease");
    let device = bed.device();
    let attached = bed.inside(SWITCH, || port.attach(device));
    attached.expect("the device takes the program")
}

#[test]
fn hscc_at_a_queue_drops_less_than_half_of_what_drop_tail_drops_in_the_median_of_five() {
    let Some(bed) = Bed::new() else {
        return;
    };
    let Some(port) = loaded(Port::load(&hscc().loadable())) else {
        return;
    };
    // Without and with HSCC in turn, and the median of five of each.
    let medians = || {
        let mut drops = [[0; 5]; 2];
        let [plain, cured] = &mut drops;
        for (plain, cured) in plain.iter_mut().zip(cured) {
            *plain = bed.incast(SENDERS, SIZE);
            let attached = attached(&bed, &port);
            *cured = bed.incast(SENDERS, SIZE);
            drop(attached);
        }
        drops.map(|mut drops| {
            drops.sort_unstable();
            drops[2]
        })
    };
    let is_right = |[plain, cured]: &[u64; 2]| *plain > 20 && 2 * cured < *plain;
    let Some(medians) = measured(medians, is_right) else {
        return;
    };
    assert!(
        is_right(&medians),
        "drops without and with HSCC: {medians:?}"
    );
    assert!(count(&port, Reason::Rewritten) > 500);
    assert_eq!(count(&port, Reason::Failed), 0);
}

#[test]
fn rwndq_keeps_the_queue_of_five_long_flows_at_its_target_and_shares_fairly() {
    let Some(bed) = Bed::new() else {
        return;
    };
    let Some(port) = loaded(Port::load(&rwndq().loadable(
        INTERVAL,
        &Idle::new(0),
        false,
    ))) else {
        return;
    };
    let law = attached(&bed, &port);
    let flows = bed.flows(5);
    // Flows that have just begun are not measured.
    thread::sleep(Duration::from_secs(2));
    let queue_and_fairness = || {
        let queue =
            Port::load(&programs::queue()).expect("the kernel takes a law, and this one too");
        let measuring = attached(&bed, &queue);
        let bytes = flows.bytes_in(Duration::from_secs(2));
        drop(measuring);
        let queue = queue.mean_queue().expect("a map").expect("packets");
        let bytes: Vec<f64> = bytes.into_iter().map(real).collect();
        let sum: f64 = bytes.iter().sum();
        let squares: f64 = bytes.iter().map(|bytes| bytes * bytes).sum();
        (
            queue,
            sum * sum / (base::cast::count(bytes.len()) * squares),
        )
    };
    let target = 0.2 * real(BUFFER);
    let is_right = |(queue, jain): &(f64, f64)| (queue / target - 1.0).abs() < 0.15 && *jain > 0.98;
    let Some(seen) = measured(queue_and_fairness, is_right) else {
        return;
    };
    assert!(
        is_right(&seen),
        "mean queue for {target} and Jain's index: {seen:?}"
    );
    drop((law, flows));
}
