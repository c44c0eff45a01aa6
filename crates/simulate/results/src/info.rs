//! `run.json`: the facts that differ between equal runs.

use serde::{Deserialize, Serialize};
use sim::threads::Taken;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::point_result::PointResults;

/// The command, its cost, and its machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunInfo {
    /// The command with its arguments.
    pub command: Vec<String>,
    /// When it started, in seconds since 1970.
    pub started_unix_s: u64,
    /// Threads it ran on.
    pub jobs: usize,
    /// Simulations of the sweep.
    pub runs: usize,
    /// How many of these were finished before the command began.
    pub runs_before: usize,
    /// Wall-clock time of the command, up to its answer.
    pub wall_us: f64,
    /// Processor time of all simulations.
    pub cpu_us: f64,
    /// Simulated time of all simulations.
    pub simulated_us: f64,
    /// Packets sent over links; a packet counts once for each link.
    pub packet_hops: u64,
    /// Events of all simulations.
    pub events: u64,
    /// Simulations that several threads shared.
    #[serde(default)]
    pub shared: Shared,
    /// The machine.
    pub host: Machine,
}

/// Simulations that several threads shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// How many.
    pub runs: u64,
    /// Most threads of one of them; 0 if there is none.
    pub threads: usize,
    /// Windows of all of them; after each window threads wait for each other.
    pub windows: u64,
    /// Wall-clock time of each, times its threads.
    pub threads_us: f64,
    /// How much of this time threads spent waiting for each other.
    pub waited_us: f64,
    /// Why some simulation took a single thread although it was to be shared, if one did.
    pub obstacle: Option<String>,
}

impl From<Taken> for Shared {
    fn from(taken: Taken) -> Self {
        Self {
            runs: taken.runs,
            threads: taken.threads,
            windows: taken.windows,
            threads_us: taken.ran.as_secs_f64() * 1e6,
            waited_us: taken.waited.as_secs_f64() * 1e6,
            obstacle: taken.obstacle.map(str::to_owned),
        }
    }
}

/// The machine of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and its version.
    pub os: String,
    /// Version of the kernel.
    pub kernel: String,
    /// Model of the processor.
    pub cpu: String,
    /// Threads that the processor runs at a time.
    pub cores: usize,
    /// Main memory.
    pub memory_bytes: u64,
}

impl RunInfo {
    /// Adds up the cost of all simulations.
    pub fn add_costs(&mut self, results: &PointResults) {
        self.runs = results.len();
        for result in results.iter().flatten() {
            self.cpu_us += result.cost.cpu_us;
            self.simulated_us += result.cost.simulated_us;
            self.packet_hops += result.cost.packet_hops;
            self.events += result.cost.events;
        }
    }
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let what = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(what);
        Self {
            os: System::long_os_version().unwrap_or_default(),
            kernel: System::kernel_version().unwrap_or_default(),
            cpu: system
                .cpus()
                .first()
                .map_or_else(String::new, |cpu| cpu.brand().to_owned()),
            cores: system.cpus().len(),
            memory_bytes: system.total_memory(),
        }
    }
}

/// Free memory in bytes for a process on this machine, or in its container.
pub fn available_memory() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    let container = system.cgroup_limits().map(|limits| limits.free_memory);
    container.map_or(system.available_memory(), |free| {
        free.min(system.available_memory())
    })
}
