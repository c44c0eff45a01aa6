//! One pop and one push of the event list, beside the heap of the standard library.

#[path = "workload/hold.rs"]
mod hold;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion};

use hold::{Entry, HeapHold, SchedulerHold, Tuple};

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let mut group = criterion.benchmark_group("pop and push");
    for pending in [100, 1_000, 10_000] {
        let mut heap = HeapHold::<Entry>::new(pending);
        group.bench_function(BenchmarkId::new("std binary heap", pending), |bencher| {
            bencher.iter(|| heap.step());
        });
        let mut tuples = HeapHold::<Tuple>::new(pending);
        group.bench_function(BenchmarkId::new("std heap of tuples", pending), |bencher| {
            bencher.iter(|| tuples.step());
        });
        let mut list = SchedulerHold::new(pending);
        group.bench_function(BenchmarkId::new("event list", pending), |bencher| {
            bencher.iter(|| list.step());
        });
    }
    group.finish();
    criterion.final_summary();
}
