//! What this machine has of what emulating and attaching need, tried out in namespaces of its own.

use std::fmt::Display;
use std::fs;
use std::io;

use machine::privilege;
use protocol::{CheckState as State, Checked, DoctorLine, SchemeSupport};

use crate::linux::calibrate;

mod ground;
#[cfg(feature = "kernel")]
mod kernel;

use ground::Ground;

/// Tries everything and tells what works. The second part is whether nothing that is needed lacks.
pub fn doctor() -> (DoctorLine, bool) {
    let mut checks = vec![lockdown(), types(), controls()];
    checks.extend(grounded());
    let works = |name| {
        checks
            .iter()
            .all(|check| check.name != name || check.is_ok())
    };
    let schemes = schemes(&works);
    let is_whole = checks.iter().all(|check| check.is_ok() || !check.essential);
    let line = DoctorLine {
        kernel: calibrate::kernel(),
        checks: checks.iter().map(Check::line).collect(),
        schemes,
    };
    (line, is_whole)
}

/// One thing that was tried.
struct Check {
    name: &'static str,
    state: State,
    /// What was seen.
    detail: String,
    /// What would help, or what happens without it.
    cure: &'static str,
    /// Without it neither `emulate` nor `attach` works.
    essential: bool,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Ok,
            detail: detail.into(),
            cure: "",
            essential: false,
        }
    }

    /// What lacks, or does not do what it should.
    fn fails(name: &'static str, state: State, detail: &dyn Display, cure: &'static str) -> Self {
        Self {
            name,
            state,
            detail: detail.to_string(),
            cure,
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
            cure: self.cure.to_owned(),
        }
    }
}

/// A kernel that guards its secrets lets no program read its memory.
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

/// Programs find the fields of the kernel by its types.
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
    let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let all = fs::read_to_string(file).unwrap_or_default();
    let has = |name: &str| all.split_whitespace().any(|own| own == name);
    let detail = all.trim().to_owned();
    if !has("reno") {
        return Check::fails(CONTROLS, State::Broken, &detail, "mount /proc").essential();
    }
    let cure = match (has("cubic"), has("dctcp")) {
        (true, true) => return Check::ok(CONTROLS, detail),
        (true, false) => "modprobe tcp_dctcp, or CONFIG_TCP_CONG_DCTCP",
        (false, true) => "modprobe tcp_cubic, or CONFIG_TCP_CONG_CUBIC",
        (false, false) => {
            "modprobe tcp_cubic tcp_dctcp, or CONFIG_TCP_CONG_CUBIC and CONFIG_TCP_CONG_DCTCP"
        }
    };
    Check::fails(CONTROLS, State::Missing, &format!("only {detail}"), cure)
}

/// What needs namespaces and privileges, in the order in which one thing needs the other.
fn grounded() -> Vec<Check> {
    if let Some(lacks) = privilege::lacks_for_programs() {
        let lacks =
            Check::fails(PRIVILEGES, State::Missing, &lacks, "run it with sudo").essential();
        let others = NEED_PRIVILEGES.iter();
        let untried = |name: &&'static str| untried(name, "needs privileges");
        return [lacks].into_iter().chain(others.map(untried)).collect();
    }
    let mut checks = vec![Check::ok(PRIVILEGES, "NET_ADMIN, SYS_ADMIN, PERFMON, BPF")];
    let ground = Ground::make();
    checks.push(tried(NAMESPACES, "two made", &ground, "CONFIG_NET_NS=y"));
    if let Ok(ground) = ground {
        let linked = ground.connect();
        checks.push(tried(
            VETH,
            "one pair joined",
            &linked,
            "modprobe veth, or CONFIG_VETH",
        ));
        let queue = linked.and_then(|()| ground.set_queue());
        let cure = "modprobe sch_tbf, or CONFIG_NET_SCH_TBF";
        checks.push(tried(TBF, "set in front of the pair", &queue, cure));
        checks.extend(programs(&ground));
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
fn programs(_: &Ground) -> Vec<Check> {
    let cure =
        "cargo build --release -p tailwater-live --features kernel, which needs clang and libelf";
    let why = "this tailwater-live was built without programs";
    let lacks = Check::fails(PROGRAMS, State::Missing, &why, cure);
    let others = NEED_PROGRAMS.iter();
    let untried = |name: &&'static str| untried(name, "needs programs");
    [lacks].into_iter().chain(others.map(untried)).collect()
}

/// Which schemes work in which world, or why not.
fn schemes(works: &dyn Fn(&'static str) -> bool) -> Vec<SchemeSupport> {
    let first = |needs: &[&'static str]| needs.iter().copied().find(|name| !works(name));
    let bed = [PRIVILEGES, NAMESPACES, VETH, TBF];
    let port = [LOCKDOWN, BTF, PRIVILEGES, PROGRAMS, BPF_LOOP, BACKLOG, TCX];
    let world = |lacks: Option<&str>| match lacks {
        None => "yes".to_owned(),
        Some(lacks) => format!("no: {lacks}"),
    };
    let told = |name: &str, emulate: Option<&str>, attach: Option<&str>| SchemeSupport {
        name: name.to_owned(),
        emulate: world(emulate),
        attach: world(attach),
    };
    let host = "an end host's own";
    let control = |name: &'static str| {
        let missing =
            (!calibrate::controls().iter().any(|own| own == name)).then_some("congestion control");
        first(&bed).or(missing)
    };
    let switch = first(&bed).or_else(|| first(&port));
    vec![
        told("newreno", control("reno"), Some(host)),
        told("cubic", control("cubic"), Some(host)),
        told("dctcp", control("dctcp"), Some(host)),
        told("hscc", switch, first(&port)),
        told("rwndq", switch, first(&port)),
        told("mark", switch, first(&port)),
        told("qos", first(&bed), Some("emulate alone")),
        told(
            "ictcp",
            switch.or_else(|| first(&[RING])),
            Some("emulate alone"),
        ),
        told(
            "rcc",
            switch.or_else(|| first(&[GRANTS])),
            first(&port).or_else(|| first(&[GRANTS])),
        ),
    ]
}

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
const GRANTS: &str = "grants";
const STRUCT_OPS: &str = "struct_ops";

const NEED_PRIVILEGES: [&str; 11] = [
    NAMESPACES, VETH, TBF, PROGRAMS, BPF_LOOP, TCX, BACKLOG, RING, OBSERVER, GRANTS, STRUCT_OPS,
];
#[cfg(not(feature = "kernel"))]
const NEED_PROGRAMS: [&str; 7] = [BPF_LOOP, TCX, BACKLOG, RING, OBSERVER, GRANTS, STRUCT_OPS];

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
        let no_grants = |name| name != GRANTS;
        assert_eq!(told(&no_grants, "rcc", "emulate"), "no: grants");
    }
}
