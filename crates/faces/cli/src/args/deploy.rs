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
    /// Watch a device of this machine: is it incast, and what does it cost
    #[command(after_help = OBSERVE)]
    Observe(ObserveArgs),
    /// Put a law at a port of this machine, which forwards or receives
    #[command(after_help = ATTACH)]
    Attach(AttachArgs),
    /// Prove that a law decides in this kernel as in the simulator, bit by bit, from a log of `attach --shadow`
    #[command(after_help = CERTIFY)]
    Certify(CertifyArgs),
    /// Try whether a law helps: it acts in periods that coins choose, and the others are compared with these
    #[command(after_help = TRIAL)]
    Trial(TrialArgs),
    /// Tell what is attached, what it does, and what has changed since
    Status(StatusArgs),
    /// Take laws away that were attached
    #[command(after_help = DETACH)]
    Detach(DetachArgs),
    /// Try what this machine has of what emulate and attach need
    #[command(after_help = DOCTOR)]
    Doctor(DoctorArgs),
}

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command"
)]
pub(crate) struct AttachArgs {
    /// The law of the port
    #[arg(value_name = "SCHEME", value_parser = laws())]
    pub(crate) scheme: String,
    /// The device whose queue fills: data leave by it, and their ACKs come in by it; of rcc the device of the receiver
    #[arg(long, value_name = "DEV")]
    pub(crate) dev: String,
    #[command(flatten)]
    pub(crate) law: LawArgs,
    /// The device whose queue fills, if it is not --dev: needed if data leave by another device than the one by which
    /// their ACKs come in, or if the queue of --dev cannot be read, as that of a bond
    #[arg(long, value_name = "DEV")]
    pub(crate) queue_of: Option<String>,
    /// Never let the right edge of a window move back, as RFC 9293 asks of receivers; windows shrink as data arrive
    #[arg(long)]
    pub(crate) no_retract: bool,
    /// Decide and count, and change no packet: `status` tells how many the law would have changed
    #[arg(long)]
    pub(crate) shadow: bool,
    /// With --shadow, the new file for every decision with what it was based on, without addresses. The command watches until
    /// --for is over or Ctrl-C comes, and nothing stays; `certify` reads the file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "shadow", requires = "lease", conflicts_with = "dry_run")]
    pub(crate) log: Option<PathBuf>,
    /// Act only if this certificate, which `certify` wrote, holds for this kernel, its types, the compiler and the text of the
    /// law, and for at least 1,000,000 decisions
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "shadow")]
    pub(crate) certified: Option<PathBuf>,
    /// How long the law acts, as in 90s, 10m or 2h; then everything passes, whoever has died meanwhile
    #[arg(long = "for", value_name = "TIME", value_parser = lease, required_unless_present = "permanent")]
    pub(crate) lease: Option<Duration>,
    /// Let the law act until it is detached, or the machine restarts
    #[arg(long, conflicts_with = "lease")]
    pub(crate) permanent: bool,
    /// Load and verify, say what would be made, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How to print what was done
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
    /// The log of decisions, which `attach --shadow --log` wrote
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub(crate) log: PathBuf,
    /// The file of the certificate [default: LOG with the ending .certificate.json]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// The answer of `observe --format json` about the same device. It is simulated with the law and the settings of the log: the
    /// certificate then has the predicted 99th percentile of completion times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) seen: Option<PathBuf>,
    /// How to print what was found
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
    /// Answer Prometheus at this address of the machine's own, as in 127.0.0.1:9123, until Ctrl-C
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
    /// Everything that was attached on this machine
    #[arg(long, conflicts_with = "dev")]
    pub(crate) all: bool,
    /// Say what would be detached, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}
