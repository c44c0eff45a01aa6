//! Records the decisions of a law in the shadow. Nothing is pinned: its programs end with this process.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use laws::Call;
use machine::interrupt;
use machine::privilege::drop_all;
use protocol::{DecisionLog, Line, LoggedLine, NoteLine};
use scenario::Problem;

use crate::attach::{Attach, beside};
use crate::certified::decided_by;
use crate::error::DeployError;
use crate::namespace::inside;
use crate::observe::now;

/// Lets a law observe until its lease is over or a signal comes, and writes each of its calls into a new file.
///
/// # Errors
/// If the input is wrong, the file is there already, or the kernel refuses.
pub fn log(order: &Attach, file: &Path, tell: &mut dyn FnMut(&Line)) -> Result<(), DeployError> {
    let out = create(file)?;
    let logged = carry_out(order, out, tell);
    // A log without a call is removed.
    if logged.is_err() {
        drop(fs::remove_file(file));
    }
    tell(&Line::Logged(logged?));
    Ok(())
}

fn carry_out(
    order: &Attach,
    out: File,
    tell: &mut dyn FnMut(&Line),
) -> Result<LoggedLine, DeployError> {
    let mut out = BufWriter::new(out);
    let law = inside(&order.netns, || beside(order))?;
    let head = DecisionLog {
        version: sim::VERSION.to_owned(),
        law: order.scheme.name().to_owned(),
        object: law.settled.law.object.to_owned(),
        device: order.device.clone(),
        settings: law.settled.texts.iter().cloned().collect(),
        mtu_bytes: law.mtu,
        no_retract: order.no_retract,
        memory: DecisionLog::memory_of(&law.settled.law),
        decided_by: decided_by(order.scheme, &law.settled.law)?,
    };
    serde_json::to_writer(&mut out, &head).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    let calls = law.port.calls()?;
    let mut written = Written {
        out,
        calls: 0,
        decisions: 0,
    };
    let begin = now();
    let hooks = inside(&order.netns, || law.begin(order.lease))?;
    drop_all()?;
    let text = "it runs in the shadow and changes no packet".to_owned();
    tell(&Line::Note(NoteLine { text }));
    let until = begin.saturating_add(order.lease);
    while now() < until && interrupt::heard().is_none() {
        thread::sleep(LOOK.min(until.saturating_sub(now())));
        written.write(&calls.heard()?)?;
    }
    drop(hooks);
    // Another processor may be in the middle of a call.
    thread::sleep(LOOK);
    written.write(&calls.rest()?)?;
    written.out.flush()?;
    Ok(LoggedLine {
        device: order.device.clone(),
        netns: order.netns.clone(),
        scheme: order.scheme.name().to_owned(),
        seconds: now().saturating_sub(begin).as_secs_f64(),
        calls: written.calls,
        decisions: written.decisions,
    })
}

/// Creates a new file. Root may write anywhere, so nothing is overwritten, and no link is followed.
fn create(file: &Path) -> Result<File, DeployError> {
    let mut options = File::options();
    let opened = options.write(true).create_new(true).mode(0o644).open(file);
    opened.map_err(|error| {
        let problem = Problem::new(format!("--log {}: {error}", file.display()));
        let help = "name a new file in an existing folder";
        problem.help(help).into()
    })
}

/// A log that is written.
struct Written {
    out: BufWriter<File>,
    calls: u64,
    decisions: u64,
}

impl Written {
    fn write(&mut self, calls: &[Call]) -> std::io::Result<()> {
        for call in calls {
            self.calls += 1;
            self.decisions += u64::from(call.is_decision());
            self.out.write_all(&call.to_bytes())?;
        }
        Ok(())
    }
}

/// The interval at which calls are read: a ring holds 400,000.
const LOOK: Duration = Duration::from_millis(20);
