//! The commands about laws at ports.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub(super) struct Attach {
    /// A law, as in `tailwater attach`
    scheme: String,
    #[arg(long)]
    dev: String,
    /// The name of a network namespace
    #[arg(long, default_value = "")]
    netns: String,
    #[arg(long = "set", allow_hyphen_values = true)]
    sets: Vec<String>,
    /// Limit of the queue in bytes
    #[arg(long)]
    buffer: Option<u64>,
    /// The device whose queue fills
    #[arg(long)]
    queue_of: Option<String>,
    #[arg(long)]
    no_retract: bool,
    #[arg(long)]
    shadow: bool,
    /// A new file for the decisions in the shadow
    #[arg(long, requires = "shadow", requires = "lease_s")]
    log: Option<PathBuf>,
    /// The certificate of decisions on this machine
    #[arg(long, conflicts_with = "shadow")]
    certified: Option<PathBuf>,
    /// The lease in seconds [default: for ever]
    #[arg(long)]
    lease_s: Option<u64>,
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(super) struct Observe {
    /// A device; several are watched at once
    #[arg(long, required = true)]
    dev: Vec<String>,
    /// The name of a network namespace
    #[arg(long, default_value = "")]
    netns: String,
    /// How long to watch, in seconds
    #[arg(long)]
    time_s: u64,
    /// Where Prometheus may ask
    #[arg(long)]
    metrics: Option<String>,
    /// Report no single flow
    #[arg(long)]
    no_flows: bool,
}

#[derive(Args)]
pub(super) struct Status {
    #[arg(long)]
    dev: Option<String>,
    #[arg(long, default_value = "")]
    netns: String,
    /// Where Prometheus may ask
    #[arg(long)]
    metrics: Option<String>,
}

#[derive(Args)]
pub(super) struct WatchDevice {
    #[arg(long)]
    dev: String,
    #[arg(long, default_value = "")]
    netns: String,
}

#[derive(Args)]
pub(super) struct Detach {
    /// The device [default: all]
    #[arg(long)]
    dev: Option<String>,
    #[arg(long, default_value = "")]
    netns: String,
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(super) struct Trial {
    /// The plan, as JSON
    #[arg(long)]
    plan: PathBuf,
    /// The SHA-256 of that file
    #[arg(long)]
    hash: String,
}

#[cfg(feature = "kernel")]
mod with_programs {
    use std::net::SocketAddr;
    use std::time::Duration;

    use deploy::{AttachableLaw, Which};
    use machine::privilege::drop_all;
    use protocol::Line;
    use scenario::Problem;
    use schemes::linux::attachable_names;

    use super::{Attach, Detach, Observe, Status, Trial, WatchDevice};
    use crate::program::output::line;
    use crate::program::stop::Stop;

    impl Attach {
        pub(crate) fn attach(self) -> Result<(), Stop> {
            let scheme = AttachableLaw::named(&self.scheme).ok_or_else(|| {
                let problem = Problem::new(format!("nothing is called {} here", self.scheme));
                let names = attachable_names();
                let (last, first) = names.split_last().expect("there are laws");
                problem.help(format!("attach {} or {last}", first.join(", ")))
            })?;
            let order = deploy::Attach {
                scheme,
                device: self.dev,
                netns: self.netns,
                sets: self.sets,
                buffer: self.buffer,
                queue_of: self.queue_of,
                no_retract: self.no_retract,
                shadow: self.shadow,
                lease: self.lease_s.map_or(Duration::MAX, Duration::from_secs),
                dry_run: self.dry_run,
                certified: self.certified,
            };
            if let Some(file) = &self.log {
                return Ok(deploy::log(&order, file, &mut line)?);
            }
            let done = deploy::attach(&order);
            drop_all()?;
            line(&Line::Attach(done?));
            Ok(())
        }
    }

    impl Observe {
        pub(crate) fn observe(self) -> Result<(), Stop> {
            let order = deploy::Observe {
                devices: self.dev,
                netns: self.netns,
                time: Duration::from_secs(self.time_s),
                metrics: self.metrics.as_deref().map(loopback).transpose()?,
                flows: !self.no_flows,
            };
            Ok(deploy::observe(&order, &mut line)?)
        }
    }

    impl Status {
        pub(crate) fn status(self) -> Result<(), Stop> {
            let address = self.metrics.as_deref().map(loopback).transpose()?;
            let mut all = deploy::attachments(&which(self.netns, self.dev))?;
            drop_all()?;
            match address {
                Some(address) => Ok(deploy::serve(address, &mut all)?),
                None => all.iter_mut().try_for_each(|one| {
                    line(&Line::Attached(Box::new(one.told()?)));
                    Ok(())
                }),
            }
        }
    }

    impl WatchDevice {
        pub(crate) fn watch(self) -> Result<(), Stop> {
            Ok(deploy::watch(&self.netns, &self.dev)?)
        }
    }

    impl Detach {
        pub(crate) fn detach(self) -> Result<(), Stop> {
            let done = deploy::detach(&which(self.netns, self.dev), self.dry_run)?;
            for detached in done {
                line(&Line::Detach(detached));
            }
            Ok(())
        }
    }

    impl Trial {
        pub(crate) fn trial(self) -> Result<(), Stop> {
            let text = std::fs::read_to_string(&self.plan)?;
            let plan = serde_json::from_str(&text).map_err(|error| {
                let problem = Problem::new(format!("{}: {error}", self.plan.display()));
                problem.help("make a new plan with this version")
            })?;
            Ok(deploy::trial(&plan, &self.hash, &mut line)?)
        }
    }

    fn which(netns: String, dev: Option<String>) -> Which {
        dev.map_or(Which::All, |dev| Which::Device(netns, dev))
    }

    /// An address that only this machine reaches.
    fn loopback(text: &str) -> Result<SocketAddr, Stop> {
        let address: Option<SocketAddr> = text.parse().ok();
        address
            .filter(|address| address.ip().is_loopback())
            .ok_or_else(|| {
                let problem = Problem::new(format!(
                    "--metrics {text}: this is not a loopback address"
                ));
                problem.help(
                    "metrics are served without authentication: give a loopback address, as in 127.0.0.1:9123, and use an \
                     authenticating proxy for remote readers",
                )
                .into()
            })
    }
}

/// The error of a build without programs.
#[cfg(not(feature = "kernel"))]
pub(super) fn lacks() -> super::stop::Stop {
    super::stop::Stop::Lacks(
        "programs for the kernel, which this tailwater-live was built without: \
         cargo build --release -p tailwater-live --features kernel"
            .to_owned(),
    )
}
