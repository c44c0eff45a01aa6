//! Arguments of `attach`, `status`, `detach` and `doctor`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand, ValueHint};
use schemes::linux::kernel_laws;

use super::examples::{ATTACH, CERTIFY, DETACH, DOCTOR, OBSERVE, TRIAL};
use super::law::LawArgs;
use super::observe::ObserveArgs;
use super::text_or_json::TextOrJson;
use super::trial::TrialArgs;
use super::value::lease;

#[derive(Subcommand)]
pub(crate) enum DeployCommand {
    /// Watch a network device of this machine and say whether there is incast and what it costs
    #[command(after_help = OBSERVE)]
    Observe(ObserveArgs),
    /// Load a law into the kernel at a port of this machine, which forwards or receives the traffic
    #[command(after_help = ATTACH)]
    Attach(AttachArgs),
    /// Prove from a log of `attach --shadow` that a law decides in this kernel exactly as in the simulator
    #[command(after_help = CERTIFY)]
    Certify(CertifyArgs),
    /// Test whether a law helps: it acts in randomly chosen periods, which are compared with the periods without it
    #[command(after_help = TRIAL)]
    Trial(TrialArgs),
    /// Show the attached laws, what they do, and what has changed since they were attached
    Status(StatusArgs),
    /// Remove attached laws
    #[command(after_help = DETACH)]
    Detach(DetachArgs),
    /// Check whether this machine has what emulate and attach need
    #[command(after_help = DOCTOR)]
    Doctor(DoctorArgs),
}

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command"
)]
pub(crate) struct AttachArgs {
    /// The law to attach
    #[arg(value_name = "SCHEME", value_parser = laws())]
    pub(crate) scheme: String,
    /// The device whose queue fills. Data leave through it, and their ACKs come in through it. For rcc, the receiver's
    /// device
    #[arg(long, value_name = "DEV")]
    pub(crate) dev: String,
    #[command(flatten)]
    pub(crate) law: LawArgs,
    /// The device whose queue fills, if it is not --dev. Needed if data leave through one device and their ACKs come in
    /// through another, or if the queue of --dev cannot be read, as for a bond
    #[arg(long, value_name = "DEV")]
    pub(crate) queue_of: Option<String>,
    /// Never move the right edge of a window back, as RFC 9293 asks of receivers: a window then shrinks only as data arrive
    #[arg(long)]
    pub(crate) no_retract: bool,
    /// Decide and count, but change no packet: `status` shows how many packets the law would have changed
    #[arg(long)]
    pub(crate) shadow: bool,
    /// With --shadow: write every decision and its inputs, without addresses, into this new file, which `certify` reads. The
    /// command watches until --for is over or Ctrl-C, and then removes everything
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "shadow", requires = "lease", conflicts_with = "dry_run")]
    pub(crate) log: Option<PathBuf>,
    /// Act only if this certificate of `certify` covers at least 1,000,000 decisions and was made for this kernel, its
    /// types, this compiler and this text of the law
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "shadow")]
    pub(crate) certified: Option<PathBuf>,
    /// How long the law acts, as in 90s, 10m or 2h. Then packets pass unchanged, even if this program has crashed
    #[arg(long = "for", value_name = "TIME", value_parser = lease, required_unless_present = "permanent")]
    pub(crate) lease: Option<Duration>,
    /// Let the law act until it is detached or the machine restarts
    #[arg(long, conflicts_with = "lease")]
    pub(crate) permanent: bool,
    /// Load and verify the program and print the planned changes, but change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How to print the changes
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}

/// The laws that can be attached, with their summaries.
fn laws() -> PossibleValuesParser {
    let laws = kernel_laws().into_iter().map(|(_, law)| law);
    let laws = laws.filter(|law| law.is_attachable());
    laws.map(|law| PossibleValue::new(law.name).help(law.summary))
        .collect::<Vec<_>>()
        .into()
}

#[derive(Args)]
pub(crate) struct CertifyArgs {
    /// The log of decisions that `attach --shadow --log` wrote
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub(crate) log: PathBuf,
    /// The file of the certificate [default: LOG with the ending .certificate.json]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// The answer of `observe --format json` for the same device. The command simulates it with the law and the settings of
    /// the log, and the certificate then has the predicted 99th percentile of completion times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) seen: Option<PathBuf>,
    /// How to print the verdict
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// Only this device [default: all]
    #[arg(long, value_name = "DEV")]
    pub(crate) dev: Option<String>,
    /// The network namespace of the device [default: that of this command]
    #[arg(long, value_name = "NAME", requires = "dev")]
    pub(crate) netns: Option<String>,
    /// Serve metrics for Prometheus at this local address, as in 127.0.0.1:9123, until Ctrl-C
    #[arg(long, value_name = "ADDR", conflicts_with = "format")]
    pub(crate) metrics: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}

#[derive(Args)]
pub(crate) struct DetachArgs {
    /// The device
    #[arg(long, value_name = "DEV", required_unless_present = "all")]
    pub(crate) dev: Option<String>,
    /// The network namespace of the device [default: that of this command]
    #[arg(long, value_name = "NAME", requires = "dev")]
    pub(crate) netns: Option<String>,
    /// Detach everything on this machine
    #[arg(long, conflicts_with = "dev")]
    pub(crate) all: bool,
    /// Print what would be detached, but change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}
