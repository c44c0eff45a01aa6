//! `tailwater certify`: repeats every decision of a log, and writes a certificate if all are equal.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use protocol::{Certificate, Uncertified};
use scenario::Problem;
use serde_json::json;

use crate::args::deploy::CertifyArgs;
use crate::args::text_or_json::TextOrJson;
use crate::output::{self, Stop};

/// Reads the log, and writes and prints the certificate.
pub(crate) fn certify(args: &CertifyArgs) -> Result<(), Stop> {
    let log = File::open(&args.log).map_err(|error| unreadable(&args.log, &error.to_string()))?;
    let certified = protocol::certify(BufReader::new(log));
    let certificate = certified.map_err(|error| refused(&args.log, &error))?;
    let out = args.out.clone().unwrap_or_else(|| usual(&args.log));
    let text = output::pretty(&json!(certificate));
    fs::write(&out, &text).map_err(|error| {
        output::complain(&format!("{}: {error}", out.display()));
        Stop::Failed
    })?;
    output::complain(&format!("wrote {}", out.display()));
    tell(&certificate, &text, args.format)
}

fn tell(certificate: &Certificate, text: &str, format: TextOrJson) -> Result<(), Stop> {
    output::answer(&match format {
        TextOrJson::Table => answer::certificate::certificate(certificate),
        TextOrJson::Json => text.to_owned(),
    })
}

/// The default path of a certificate.
fn usual(log: &Path) -> PathBuf {
    log.with_extension("certificate.json")
}

/// Ends without a certificate. A difference is an answer; a file that is no log is the user's mistake.
fn refused(log: &Path, why: &Uncertified) -> Stop {
    match why {
        Uncertified::Unreadable(_) => unreadable(log, &why.to_string()),
        Uncertified::OtherText { .. } => {
            let problem = Problem::new(format!("{}: {why}", log.display()));
            let help = "certify it with the version that wrote it, or log again with this version";
            Stop::WrongInput(problem.help(help).into())
        }
        Uncertified::Missing { .. }
        | Uncertified::Difference { .. }
        | Uncertified::OtherFate { .. } => {
            output::complain(&format!("{}: no certificate: {why}", log.display()));
            Stop::Failed
        }
    }
}

fn unreadable(log: &Path, why: &str) -> Stop {
    let problem = Problem::new(format!("{}: {why}", log.display()));
    let help = "sudo tailwater attach LAW --dev DEV --for TIME --shadow --log FILE writes a log";
    Stop::WrongInput(problem.help(help).into())
}
