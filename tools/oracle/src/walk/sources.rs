//! The names in the kernel's sources: functions of its TCP, and settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Names;

/// Reads the names from a tree of the kernel's sources.
pub fn names(tree: &Path) -> Result<Names> {
    let read = |file: &str| {
        let path = tree.join(file);
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok::<_, anyhow::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut sysctls: BTreeSet<String> = settings(&read(DESCRIPTIONS)?).collect();
    sysctls.extend(declared(&read(DECLARATIONS)?));
    let mut by_file = BTreeMap::new();
    for file in FILES {
        by_file.insert(file.to_owned(), functions(&read(file)?));
    }
    Ok(Names {
        kernel: release(&read("Makefile")?),
        sysctls,
        functions: by_file,
    })
}

/// "6.12.117" of the assignments at the top of the Makefile.
fn release(makefile: &str) -> String {
    let value = |key: &str| {
        let line = makefile.lines().find_map(|line| line.strip_prefix(key));
        line.map_or("", |rest| rest.trim_start_matches([' ', '=']))
    };
    [value("VERSION"), value("PATCHLEVEL"), value("SUBLEVEL")].join(".")
}

/// Settings in the documentation: each begins a line.
fn settings(text: &str) -> impl Iterator<Item = String> {
    let names = text.lines().filter_map(|line| {
        let end = line.find(|sign: char| !is_of_name(sign));
        let name = &line[..end.unwrap_or(line.len())];
        let rest = line[name.len()..].trim_start();
        (rest.is_empty() || rest.starts_with('-')).then_some(name)
    });
    let names = names.filter(|name| name.starts_with("tcp_"));
    names.map(str::to_owned)
}

/// Settings in the code: each is a complete string.
fn declared(text: &str) -> impl Iterator<Item = String> {
    let names = text
        .split('"')
        .filter(|name| name.starts_with("tcp_") && name.chars().all(is_of_name));
    names.map(str::to_owned)
}

/// The functions that a source defines. The body of each begins with a brace at the beginning of a line; its head goes
/// back to the end of the previous item.
fn functions(source: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = BTreeSet::new();
    for (place, _) in lines.iter().enumerate().filter(|(_, line)| **line == "{") {
        let ends = |line: &&&str| {
            let line = line.trim_end();
            line.is_empty()
                || line.starts_with('#')
                || line.ends_with([';', '}'])
                || line.ends_with("*/")
        };
        let head: Vec<&str> = lines[..place]
            .iter()
            .rev()
            .take_while(|line| !ends(line))
            .copied()
            .collect();
        let head = head.into_iter().rev().collect::<Vec<_>>().join(" ");
        if let Some(name) = called(&head) {
            found.insert(name.to_owned());
        }
    }
    found
}

/// The name before the first parenthesis.
fn called(head: &str) -> Option<&str> {
    let before = head
        .split('(')
        .next()
        .filter(|before| before.len() < head.len())?;
    let before = before.trim_end();
    let start = before
        .rfind(|sign: char| !is_of_name(sign))
        .map_or(0, |place| place + 1);
    Some(&before[start..]).filter(|name| !name.is_empty())
}

fn is_of_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// The files with the descriptions and the declarations of settings.
const DESCRIPTIONS: &str = "Documentation/networking/ip-sysctl.rst";
const DECLARATIONS: &str = "net/ipv4/sysctl_net_ipv4.c";

/// The files with the rules of TCP.
const FILES: [&str; 13] = [
    "include/net/tcp.h",
    "net/ipv4/inet_connection_sock.c",
    "net/ipv4/tcp.c",
    "net/ipv4/tcp_cong.c",
    "net/ipv4/tcp_cubic.c",
    "net/ipv4/tcp_dctcp.c",
    "net/ipv4/tcp_input.c",
    "net/ipv4/tcp_metrics.c",
    "net/ipv4/tcp_minisocks.c",
    "net/ipv4/tcp_output.c",
    "net/ipv4/tcp_rate.c",
    "net/ipv4/tcp_recovery.c",
    "net/ipv4/tcp_timer.c",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_before_its_parenthesis() {
        let source = "#define F(x) \\\n\tg(x)\n\nstatic struct a *\nb_of(struct c *c,\n     int d)\n{\n\tif (d) {\n\t}\n}\nint e(void);\n\
            enum f g(int h)\n\t__releases(&h)\n{\n}\nstruct i {\n\tint j;\n};\n";
        let names: Vec<String> = functions(source).into_iter().collect();
        assert_eq!(names, ["b_of", "g"]);
    }

    #[test]
    fn a_described_setting_begins_a_line() {
        let text =
            "tcp_a - BOOLEAN\n\ttcp_b - INTEGER\ntcp_c\ntcp_d is told elsewhere\nip_e - INTEGER\n";
        assert_eq!(settings(text).collect::<Vec<_>>(), ["tcp_a", "tcp_c"]);
        let code = "\t.procname\t= \"tcp_f\",\n\t.data = \"no tcp_g\",\n";
        assert_eq!(declared(code).collect::<Vec<_>>(), ["tcp_f"]);
    }
}
