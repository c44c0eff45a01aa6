//! The machine's support for emulating and attaching, tested in separate namespaces.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs;
use std::io;

use machine::privilege;
use protocol::{CheckState as State, Checked, DoctorLine, SchemeSupport};
use schemes::linux::{self, KernelLaw, Needs, Runs, Site};

#[cfg(feature = "kernel")]
mod kernel;
mod trial;

use trial::TrialNetwork;

/// Tests everything and reports what works. The second part is whether everything essential works.
pub fn doctor() -> (DoctorLine, bool) {
    let mut checks = vec![lockdown(), types(), controls()];
    checks.extend(in_namespaces());
    let works = |name| {
        checks
            .iter()
            .all(|check| check.name != name || check.is_ok())
    };
    let schemes = schemes(&works);
    let is_whole = checks.iter().all(|check| check.is_ok() || !check.essential);
    let line = DoctorLine {
        kernel: machine::kernel::version(),
        checks: checks.iter().map(Check::line).collect(),
        schemes,
    };
    (line, is_whole)
}

/// One thing that was tested.
struct Check {
    name: &'static str,
    state: State,
    /// The finding.
    detail: String,
    /// The remedy, or the consequence.
    cure: Cow<'static, str>,
    /// Without it neither `emulate` nor `attach` works.
    essential: bool,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Ok,
            detail: detail.into(),
            cure: Cow::Borrowed(""),
            essential: false,
        }
    }

    /// The checks that failed.
    fn fails(
        name: &'static str,
        state: State,
        detail: &dyn Display,
        cure: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            name,
            state,
            detail: detail.to_string(),
            cure: cure.into(),
            essential: false,
        }
    }

    fn essential(mut self) -> Self {
        self.essential = true;
        self
    }

    fn is_ok(&self) -> bool {
        self.state == State::Ok
    }

    fn line(&self) -> Checked {
        Checked {
            name: self.name.to_owned(),
            state: self.state,
            detail: self.detail.clone(),
            cure: self.cure.clone().into_owned(),
        }
    }
}

/// A kernel in lockdown lets no program read its memory.
fn lockdown() -> Check {
    let text = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let chosen = text.split(['[', ']']).nth(1).unwrap_or("none");
    match chosen {
        "confidentiality" => Check::fails(
            LOCKDOWN,
            State::Broken,
            &"confidentiality: programs may not read the queue",
            "boot with lockdown=integrity, or without it",
        )
        .essential(),
        mode => Check::ok(LOCKDOWN, mode),
    }
}

/// Programs find the fields of the kernel by the description of its types.
fn types() -> Check {
    match fs::metadata("/sys/kernel/btf/vmlinux") {
        Ok(file) => Check::ok(BTF, format!("{} KB of types", file.len() / 1_000)),
        Err(error) => {
            Check::fails(BTF, State::Missing, &error, "CONFIG_DEBUG_INFO_BTF=y").essential()
        }
    }
}

/// The congestion controls that are there without loading a module.
fn controls() -> Check {
    let all = machine::kernel::congestion_controls();
    let has = |name: &str| all.iter().any(|own| own == name);
    let detail = all.join(" ");
    if !has("reno") {
        return Check::fails(CONTROLS, State::Broken, &detail, "mount /proc").essential();
    }
    let controls = linux::controls().into_iter().map(|(_, control)| control);
    let missing: Vec<&str> = controls.filter(|control| !has(control)).collect();
    if missing.is_empty() {
        return Check::ok(CONTROLS, detail);
    }
    let modules = missing.iter().map(|control| format!("tcp_{control}"));
    let options = missing.iter();
    let options = options.map(|control| format!("CONFIG_TCP_CONG_{}", control.to_uppercase()));
    let (modules, options): (Vec<_>, Vec<_>) = (modules.collect(), options.collect());
    let cure = format!(
        "modprobe {}, or {}",
        modules.join(" "),
        options.join(" and ")
    );
    Check::fails(CONTROLS, State::Missing, &format!("only {detail}"), cure)
}

/// Checks that need namespaces and privileges, in the order of their dependencies.
fn in_namespaces() -> Vec<Check> {
    if let Some(lacks) = privilege::lacks_for_programs() {
        let lacks =
            Check::fails(PRIVILEGES, State::Missing, &lacks, "run it with sudo").essential();
        let others = [NAMESPACES, VETH, TBF, PROGRAMS].into_iter();
        let others = others.chain(need_programs());
        let untried = |name| untried(name, "needs privileges");
        return [lacks].into_iter().chain(others.map(untried)).collect();
    }
    let mut checks = vec![Check::ok(PRIVILEGES, "NET_ADMIN, SYS_ADMIN, PERFMON, BPF")];
    let trial = TrialNetwork::make();
    checks.push(tried(NAMESPACES, "two made", &trial, "CONFIG_NET_NS=y"));
    if let Ok(trial) = trial {
        let linked = trial.connect();
        checks.push(tried(
            VETH,
            "one pair joined",
            &linked,
            "modprobe veth, or CONFIG_VETH",
        ));
        let queue = linked.and_then(|()| trial.set_queue());
        let cure = "modprobe sch_tbf, or CONFIG_NET_SCH_TBF";
        checks.push(tried(TBF, "set in front of the pair", &queue, cure));
        checks.extend(programs(&trial));
    }
    checks
}

fn tried<T>(name: &'static str, detail: &str, done: &io::Result<T>, cure: &'static str) -> Check {
    match done {
        Ok(_) => Check::ok(name, detail),
        Err(error) => Check::fails(name, State::Missing, &error, cure).essential(),
    }
}

fn untried(name: &'static str, why: &str) -> Check {
    Check::fails(name, State::Untried, &why, "")
}

#[cfg(feature = "kernel")]
use kernel::programs;

/// A build without programs has none to try.
#[cfg(not(feature = "kernel"))]
fn programs(_: &TrialNetwork) -> Vec<Check> {
    let cure =
        "cargo build --release -p tailwater-live --features kernel, which needs clang and libelf";
    let why = "this tailwater-live was built without programs";
    let lacks = Check::fails(PROGRAMS, State::Missing, &why, cure);
    let untried = |name| untried(name, "needs programs");
    let others = need_programs().into_iter().map(untried);
    [lacks].into_iter().chain(others).collect()
}

/// The schemes that work in each world, or why not.
fn schemes(works: &dyn Fn(&'static str) -> bool) -> Vec<SchemeSupport> {
    let first = |needs: &[&'static str]| needs.iter().copied().find(|name| !works(name));
    let bed = [PRIVILEGES, NAMESPACES, VETH, TBF];
    let port = [LOCKDOWN, BTF, PRIVILEGES, PROGRAMS, BPF_LOOP, BACKLOG, TCX];
    let world = |lacks: Option<&str>| match lacks {
        None => "yes".to_owned(),
        Some(lacks) => format!("no: {lacks}"),
    };
    let row = |name: &str, emulate: Option<&str>, attach: Option<&str>| SchemeSupport {
        name: name.to_owned(),
        emulate: world(emulate),
        attach: world(attach),
    };
    let of_control = |(scheme, control): (&schemes::Scheme, &str)| {
        let missing = !machine::kernel::congestion_controls()
            .iter()
            .any(|own| own == control);
        let missing = missing.then_some("congestion control");
        row(
            scheme.name,
            first(&bed).or(missing),
            Some("an end host's own"),
        )
    };
    let of_law = |law: &KernelLaw| {
        let own = first(own_need(law).as_slice());
        let attach = match law.runs {
            Runs::Kernel(_) => first(&port).or(own),
            Runs::UserSpace(_) => Some(EMULATE_ALONE),
        };
        row(
            law.name,
            first(&bed).or_else(|| first(&port)).or(own),
            attach,
        )
    };
    let of_bands = |scheme: &schemes::Scheme| row(scheme.name, first(&bed), Some(EMULATE_ALONE));
    let controls = linux::controls().into_iter().map(of_control);
    let laws = linux::kernel_laws();
    let at = |site: Site| {
        let laws = laws.iter().filter(move |(_, law)| law.site == site);
        laws.map(|(_, law)| of_law(law))
    };
    let bands = schemes::all().iter().copied();
    let bands = bands.filter(|scheme| scheme.linux.bands.is_some());
    controls
        .chain(at(Site::Port))
        .chain(bands.map(of_bands))
        .chain(at(Site::Receiver))
        .collect()
}

/// The check for a law's special needs, beyond those of every program, if there is one.
fn own_need(law: &KernelLaw) -> Option<&'static str> {
    match law.needs {
        Needs::Nothing => None,
        Needs::RingBuffer => Some(RING),
        Needs::Loading { check, .. } => Some(check),
    }
}

/// The checks that need programs, in their order: those of single laws come before the last one.
fn need_programs() -> Vec<&'static str> {
    let mut all = vec![BPF_LOOP, TCX, BACKLOG, RING, OBSERVER];
    let laws = linux::kernel_laws().into_iter();
    all.extend(laws.filter_map(|(_, law)| match law.needs {
        Needs::Loading { check, .. } => Some(check),
        Needs::Nothing | Needs::RingBuffer => None,
    }));
    all.push(STRUCT_OPS);
    all
}

/// Why `attach` has no such scheme.
const EMULATE_ALONE: &str = "emulate alone";

const LOCKDOWN: &str = "lockdown";
const BTF: &str = "BTF";
const CONTROLS: &str = "congestion controls";
const PRIVILEGES: &str = "privileges";
const NAMESPACES: &str = "namespaces";
const VETH: &str = "veth";
const TBF: &str = "TBF";
const PROGRAMS: &str = "programs";
const BPF_LOOP: &str = "bpf_loop";
const TCX: &str = "tcx";
const BACKLOG: &str = "bpf_cast_to_kern_ctx";
const RING: &str = "ring buffer";
const OBSERVER: &str = "observe";
const STRUCT_OPS: &str = "struct_ops";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_works_where_all_works_that_it_needs() {
        let told = |works: &dyn Fn(&'static str) -> bool, scheme: &str, world: &str| {
            let mut all = schemes(works).into_iter();
            let own = all.find(|own| own.name == scheme);
            let own = own.expect("a scheme of Linux");
            if world == "attach" {
                own.attach
            } else {
                own.emulate
            }
        };
        assert_eq!(told(&|_| true, "hscc", "attach"), "yes");
        let no_tcx = |name| name != TCX;
        assert_eq!(told(&no_tcx, "hscc", "attach"), "no: tcx");
        assert_eq!(told(&no_tcx, "newreno", "emulate"), "yes");
        assert_eq!(told(&no_tcx, "qos", "emulate"), "yes");
        let no_ring = |name| name != RING;
        assert_eq!(told(&no_ring, "ictcp", "emulate"), "no: ring buffer");
        assert_eq!(told(&no_ring, "mark", "emulate"), "yes");
        let no_grants = |name| name != "grants";
        assert_eq!(told(&no_grants, "rcc", "emulate"), "no: grants");
    }
}
