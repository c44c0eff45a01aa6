//! The program, the compiler and the kernel that determine decisions here, and whether a certificate holds for them.

use std::fs;
use std::path::Path;

use laws::Loadable;
use protocol::{Certificate, DecidedBy, LEAST_DECISIONS, law_sha256, sha256};
use scenario::Problem;

use crate::error::DeployError;
use crate::settings::AttachableLaw;

/// The versions that determine this law's decisions on this machine.
pub(crate) fn decided_by(scheme: AttachableLaw, law: &Loadable) -> Result<DecidedBy, DeployError> {
    let (Some(program), Some(law_sha256)) = (programs::object(law), law_sha256(law.object)) else {
        let name = scheme.name();
        let problem = Problem::new(format!("the decisions of {name} cannot be logged"));
        let help = "only laws at a port can be certified, but this law acts at a receiver";
        return Err(problem.help(help).into());
    };
    let kernel = ["osrelease", "version"].map(|of| fs::read_to_string(format!("{KERNEL}/{of}")));
    let [release, build] = kernel;
    Ok(DecidedBy {
        kernel: format!("{} {}", release?.trim(), build?.trim()),
        btf_sha256: sha256(&fs::read(BTF)?),
        compiler: programs::COMPILER.to_owned(),
        program_sha256: sha256(program),
        law_sha256,
    })
}

/// Refuses a law that this certificate does not prove to decide as the simulator does, here and now.
pub(crate) fn check(file: &Path, scheme: AttachableLaw, law: &Loadable) -> Result<(), DeployError> {
    let refused = |why: String| {
        let name = scheme.name();
        let problem = Problem::new(format!("--certified {}: {why}", file.display()));
        problem.help(format!(
            "log decisions on this machine, tailwater attach {name} --dev DEV --for 10m --shadow --log FILE, and then \
             tailwater certify FILE"
        ))
    };
    let text = fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
    let certificate = serde_json::from_str::<Certificate>(&text);
    let certificate =
        certificate.map_err(|error| refused(format!("the file is not a certificate: {error}")))?;
    if certificate.law != scheme.name() {
        return Err(refused(format!("it is a certificate of {}", certificate.law)).into());
    }
    if certificate.decisions < LEAST_DECISIONS {
        let found = certificate.decisions;
        return Err(refused(format!(
            "{found} equal decisions are too few: {LEAST_DECISIONS} are needed"
        ))
        .into());
    }
    let here = decided_by(scheme, law)?;
    let then = &certificate.decided_by;
    let pairs = [
        ("kernel", &then.kernel, &here.kernel),
        ("types of the kernel", &then.btf_sha256, &here.btf_sha256),
        ("compiler", &then.compiler, &here.compiler),
        ("program", &then.program_sha256, &here.program_sha256),
        ("text of the law", &then.law_sha256, &here.law_sha256),
    ];
    let mut others = pairs.iter().filter(|(_, then, here)| then != here);
    match others.next() {
        None => Ok(()),
        Some((of, then, here)) => Err(refused(format!(
            "it is for another {of}, {then}; this machine has {here}"
        ))
        .into()),
    }
}

const KERNEL: &str = "/proc/sys/kernel";
/// The kernel's description of its types, by which programs find fields.
const BTF: &str = "/sys/kernel/btf/vmlinux";
