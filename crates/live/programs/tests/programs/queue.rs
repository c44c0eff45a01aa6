//! The observer's account of the queue, compared with every actual length of the queue.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder};
use programs::observer::DeviceObserver;

use crate::bed::{Bed, SWITCH};
use crate::loaded;
use crate::observer::WATCH;
use crate::steady::measured;

#[test]
fn the_queue_between_packets_is_near_what_the_kernel_tells_of_each() {
    let Some(bed) = Bed::new() else { return };
    let is_right = |lengths: &Option<Lengths>| lengths.as_ref().is_none_or(Lengths::are_near);
    if let Some(lengths) = measured(|| lengths(&bed), is_right) {
        assert!(is_right(&lengths), "{lengths:?}");
    }
}

/// The observed queue and the actual one.
#[derive(Debug)]
struct Lengths {
    /// Bytes times nanoseconds.
    areas: [u64; 2],
    /// The time for which the queue was longer than this many KiB.
    above: Vec<(usize, [u64; 2])>,
    ns: u64,
}

impl Lengths {
    fn are_near(&self) -> bool {
        let [seen, was] = self.areas;
        let mut above = self.above.iter();
        was > 0
            && seen.abs_diff(was) < was / 20
            && above.all(|(_, [seen, was])| seen.abs_diff(*was) < self.ns / 50)
    }
}

fn lengths(bed: &Bed) -> Option<Lengths> {
    let mut observer = loaded(DeviceObserver::load(WATCH))?;
    let device = bed.device();
    let (steps, links) = steps(bed, device);
    let attached = bed.inside(SWITCH, || observer.attach(device));
    attached.expect("the programs are attached");
    // Queues that fill, that stay full, and that are empty in between.
    for (senders, size) in [(20, 32_768), (4, 500_000), (1, 100_000), (20, 32_768)] {
        bed.incast(senders, size);
        thread::sleep(Duration::from_millis(50));
    }
    // Both count the time until then.
    bed.incast(1, 1_000);
    observer.detach();
    drop(links);
    let map = (steps.maps()).find(|map| map.name().to_string_lossy().ends_with(".bss"));
    let value = map.expect("variables").lookup(&[0; 4], MapFlags::ANY);
    let value = value.expect("it is read").expect("there is one");
    let words: Vec<u64> = (value.as_chunks().0.iter())
        .map(|bytes| u64::from_ne_bytes(*bytes))
        .collect();
    let totals = observer.totals().expect("totals");
    let [_, _, area, ns @ ..] = &*words else {
        panic!("{} words", words.len())
    };
    let above = |from: usize| {
        let both = [&totals.queue_ns, ns].map(|ns| ns[from..].iter().sum::<u64>());
        (from, both)
    };
    Some(Lengths {
        areas: [totals.queue_area, *area],
        above: [1, 8, 16, 32, 48, 60].map(above).to_vec(),
        ns: ns.iter().sum(),
    })
}

/// Programs that follow the queue of a device of the switch, and the links that hold them there.
fn steps(bed: &Bed, device: u32) -> (Object, Vec<Link>) {
    let namespace = Path::new("/run/netns").join(bed.namespace(SWITCH));
    let number = fs::metadata(namespace).expect("a namespace").ino();
    let number = u32::try_from(number).expect("a number of a namespace");
    let mut builder = ObjectBuilder::default();
    let mut open = builder.open_memory(STEPS).expect("an object");
    let mut setup = open.maps_mut().find(|map| map.name() == ".rodata.setup");
    let setup = setup.as_mut().and_then(|map| map.initial_value_mut());
    let words = [device, number].map(u32::to_ne_bytes);
    setup
        .expect("settings")
        .copy_from_slice(words.as_flattened());
    let object = open.load().expect("it is loaded");
    let links = object
        .progs_mut()
        .map(|program| program.attach().expect("it is attached"));
    let links = links.collect();
    (object, links)
}

const STEPS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/queue_steps.o"));
