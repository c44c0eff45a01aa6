//! Jobs of batch systems that run the shards of a sweep.

use std::fmt::Write;

use base::cast::whole;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use plan::words;
use results::shard::ShardEstimate;
use scenario::{Problem, Problems};

use crate::args::plan::BatchSystem;

/// The size of a sweep in the terms of a batch system.
pub(crate) struct BatchJob {
    name: String,
    shards: usize,
    /// Of every shard.
    memory_mb: u64,
    seconds: u64,
    /// Bytes of all shards.
    disk: u64,
}

impl BatchJob {
    /// A job for these shards of the sweep called `name`.
    pub(crate) fn new(name: &str, shards: &[ShardEstimate]) -> Self {
        let is_kept = |c: char| c.is_ascii_alphanumeric();
        let name = name.to_lowercase().replace(|c| !is_kept(c), "-");
        let memory = shards.iter().map(|own| own.memory_bytes).max();
        let longest = shards.iter().map(|own| own.processor_s).fold(0.0, f64::max);
        Self {
            name: format!("tailwater-{}", name.trim_matches('-')),
            shards: shards.len(),
            memory_mb: memory
                .unwrap_or(0)
                .saturating_mul(SPARE_MEMORY)
                .div_ceil(SPARE_MEMORY_OF << 20)
                + PROGRAM_MB,
            seconds: LEAST_SECONDS.saturating_add(whole(longest * SPARE_TIME)),
            disk: shards
                .iter()
                .map(|own| own.disk_bytes)
                .fold(0, u64::saturating_add),
        }
    }

    /// The name of its file.
    pub(crate) const fn file(system: BatchSystem) -> &'static str {
        match system {
            BatchSystem::Slurm => "job.sbatch",
            BatchSystem::Kubernetes => "job.yaml",
            BatchSystem::Hyperqueue => "job.sh",
        }
    }

    /// Its text. The files of a sweep are `contents`.
    ///
    /// # Errors
    /// If the files are too large for the system.
    pub(crate) fn text(
        &self,
        system: BatchSystem,
        contents: &[(String, Vec<u8>)],
    ) -> Result<String, Problems> {
        Ok(match system {
            BatchSystem::Slurm => self.slurm(),
            BatchSystem::Hyperqueue => self.hyperqueue(),
            BatchSystem::Kubernetes => self.kubernetes(contents)?,
        })
    }

    fn slurm(&self) -> String {
        let Self {
            name,
            memory_mb,
            seconds,
            ..
        } = self;
        let minutes = seconds.div_ceil(60);
        format!(
            "#!/bin/sh\n\
             # Submit it from its folder: sbatch {file}\n{notes}\
             #SBATCH --job-name={name}\n#SBATCH --array=0-{last}\n#SBATCH --cpus-per-task=1\n\
             #SBATCH --mem={memory_mb}M\n#SBATCH --time={minutes}\n#SBATCH --requeue\n{body}",
            file = Self::file(BatchSystem::Slurm),
            notes = self.notes(),
            last = self.shards - 1,
            body = self.body(),
        )
    }

    fn hyperqueue(&self) -> String {
        format!(
            "#!/bin/sh\n\
             # Submit it from its folder: hq submit {file}\n{notes}\
             #HQ --name={name} --array=0-{last} --cpus=1 --time-limit={seconds}s\n{body}",
            file = Self::file(BatchSystem::Hyperqueue),
            notes = self.notes(),
            name = self.name,
            last = self.shards - 1,
            seconds = self.seconds,
            body = self.body(),
        )
    }

    fn notes(&self) -> String {
        format!(
            "# When all tasks have ended, in this folder: tailwater merge run\n\
             # The folder has to be the same on all machines; results take about {} in it.\n",
            words::bytes(self.disk)
        )
    }

    /// Runs a shard, and runs it again if a point ends the program.
    fn body(&self) -> String {
        format!(
            "\n# A point that ends the program is tried once more, alone, and then quarantined: start it again until it exits\n\
             # by itself. Statuses of 128 and more are signals; 129, 130 and 143 are requests to end.\n\
             starts=0\n\
             while :; do\n\
             \x20 tailwater run {SWEEP} --shard auto/{} --out run --jobs 1 --quiet\n\
             \x20 status=$?\n\
             \x20 starts=$((starts + 1))\n\
             \x20 case $status in 129 | 130 | 143) exit $status ;; esac\n\
             \x20 if [ $status -lt 128 ] || [ $starts -ge {MOST_STARTS} ]; then exit $status; fi\n\
             done\n",
            self.shards
        )
    }

    fn kubernetes(&self, contents: &[(String, Vec<u8>)]) -> Result<String, Problems> {
        let size: usize = contents.iter().map(|(_, content)| content.len()).sum();
        if size > MOST_CONFIG {
            let problem = Problem::new(format!(
                "the files of the sweep take {}, but a ConfigMap holds only 1 MiB",
                words::bytes(size as u64)
            ));
            let help = "use a smaller trace or graph, or write the job with --for slurm and put its folder on a volume";
            return Err(problem.help(help).into());
        }
        let (name, shards, memory) = (&self.name, self.shards, self.memory_mb);
        let mut text = format!(
            "# kubectl apply -f {file}\n\
             # Results go to the volume claim tailwater-results, into {name}; they take about {disk}.\n\
             # When the job has ended, in a pod with both volumes: cd /sweep && tailwater merge /results/{name}\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n",
            file = Self::file(BatchSystem::Kubernetes),
            disk = words::bytes(self.disk),
        );
        let mut binary = String::new();
        text.push_str("data:\n");
        for (file, content) in contents {
            let written = match std::str::from_utf8(content) {
                // JSON is YAML.
                Ok(content) => writeln!(text, "  {file:?}: {}", serde_json::json!(content)),
                Err(_) => writeln!(binary, "  {file:?}: {}", BASE64_STANDARD.encode(content)),
            };
            written.expect("writing to a string succeeds");
        }
        if !binary.is_empty() {
            write!(text, "binaryData:\n{binary}").expect("writing to a string succeeds");
        }
        let values = [
            ("@name@", name.clone()),
            ("@shards@", shards.to_string()),
            ("@restarts@", (MOST_STARTS - 1).to_string()),
            ("@version@", env!("CARGO_PKG_VERSION").to_owned()),
            ("@sweep@", SWEEP.to_owned()),
            ("@memory@", memory.to_string()),
        ];
        let job = values.iter().fold(JOB.to_owned(), |job, (place, value)| {
            job.replace(place, value)
        });
        text.push_str(&job);
        Ok(text)
    }
}

/// The scenario of a job.
pub(crate) const SWEEP: &str = "sweep.toml";
/// An Indexed Job with placeholders between two @.
const JOB: &str = include_str!("batch_job/job.yaml");
/// The memory for the program and a quarter beyond the estimate, which covers only the simulation.
const SPARE_MEMORY: u64 = 5;
const SPARE_MEMORY_OF: u64 = 4;
const PROGRAM_MB: u64 = 64;
/// The factor for time beyond the estimate: another machine may be a few times slower, and loading may take minutes.
const SPARE_TIME: f64 = 4.0;
const LEAST_SECONDS: u64 = 600;
/// The most starts of one task: two for each of four points that end it, and one for the rest.
const MOST_STARTS: u32 = 9;
/// The most bytes of files in a `ConfigMap`: 1 MiB minus room for its head and for escapes.
const MOST_CONFIG: usize = 800 << 10;
