//! Arguments of `trial`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use observed::trial::{TrialGoal, TrialGuard, TrialMeasure};
use schemes::linux::{Site, kernel_laws};

use super::law::LawArgs;
use super::text_or_json::TextOrJson;
use super::value::{period, seed};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct TrialArgs {
    #[command(subcommand)]
    pub(crate) then: Option<TrialCommand>,
    // Clap does not see that a group was given if another one is inside (`clap_derive`, `derives/args.rs`), so that the law's
    // arguments stand beside it.
    #[command(flatten)]
    pub(crate) order: Option<TrialOrder>,
    #[command(flatten)]
    pub(crate) law: LawArgs,
}

#[derive(Subcommand)]
pub(crate) enum TrialCommand {
    /// Print the result of a trial again from its folder, also of a trial that was interrupted
    Settle(SettleArgs),
}

#[derive(Args)]
pub(crate) struct SettleArgs {
    /// The folder of the trial
    pub(crate) folder: PathBuf,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}

#[derive(Args)]
pub(crate) struct TrialOrder {
    /// The law to test
    #[arg(value_name = "SCHEME", value_parser = laws())]
    pub(crate) scheme: String,
    /// The device whose queue fills. Data leave through it, and their ACKs come in through it
    #[arg(long, value_name = "DEV")]
    pub(crate) dev: String,
    /// How many periods the trial has, an even number from 12 to 120; the law acts in half of them
    #[arg(long, value_name = "N", default_value = "40")]
    pub(crate) periods: u32,
    /// How long a period is, as in 30s or 2m
    #[arg(long = "of", value_name = "TIME", value_parser = period, default_value = "30s")]
    pub(crate) period: Duration,
    /// How long to watch before the first period [default: the length of a period]
    #[arg(long, value_name = "TIME", value_parser = period)]
    pub(crate) before: Option<Duration>,
    /// A bound on completion times under the law, as in 'p99 < 20ms': on their p50, p99 or mean
    #[arg(long, value_name = "GOAL", value_parser = TrialMeasure::goal)]
    pub(crate) goal: Option<(TrialMeasure, TrialGoal)>,
    /// Remove the law if two periods with it are worse than the periods without it by more than this [default: 'p99 > +50%',
    /// or +50 % of the goal's metric]
    #[arg(long, value_name = "GUARD", value_parser = TrialMeasure::guard)]
    pub(crate) guard: Option<(TrialMeasure, TrialGuard)>,
    /// The seed of the coin tosses that decide which of two periods has the law
    #[arg(long, value_name = "N", value_parser = seed, default_value = "1")]
    pub(crate) seed: u64,
    /// The folder for the plan and the measurements [default: results/trial-DEV]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Watch, predict and write the plan, but never act
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}

/// The laws at a port, which leases switch on and off.
fn laws() -> PossibleValuesParser {
    let laws = kernel_laws().into_iter().map(|(_, law)| law);
    let laws = laws.filter(|law| law.is_attachable() && law.site == Site::Port);
    laws.map(|law| law.name).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: TrialArgs,
    }

    #[test]
    fn a_law_and_a_device_are_an_order_and_a_folder_is_settled() {
        let typed = |words: &str| {
            let words = ["tailwater"].into_iter().chain(words.split(' '));
            Typed::try_parse_from(words).map(|typed| typed.args)
        };
        let all = typed("hscc --dev p1 --netns box --set hscc.window=2").expect("an order");
        let order = all.order.expect("a law and a device");
        assert_eq!((&*order.scheme, &*order.dev), ("hscc", "p1"));
        assert_eq!(all.law.netns.as_deref(), Some("box"));
        assert_eq!(all.law.sets, ["hscc.window=2"]);
        let plain = typed("hscc --dev p1").expect("an order");
        assert!(plain.order.is_some() && plain.then.is_none());
        let settled = typed("settle results/trial-p1").expect("a folder");
        assert!(settled.order.is_none() && settled.then.is_some());
        assert!(typed("hscc").is_err() && typed("--dev p1").is_err());
    }
}
