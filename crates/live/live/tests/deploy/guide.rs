//! The commands that the pages about this machine's kernel tell the reader to type work, and print what the pages show.
//!
//! The commands of a page run one after the other, each in the blocks called `text`. Numbers are those of one run on
//! one machine, so all numbers count as equal, and so do all distances between columns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::Ends;
use crate::bed::{Bed, PORT, SENDER, SWITCH, command, ip, program};

#[path = "../../../../faces/cli/tests/book/output.rs"]
mod output;
#[expect(
    dead_code,
    reason = "pages are changed by the tests of the command alone"
)]
#[path = "../../../../faces/cli/tests/book/page.rs"]
mod page;

use page::{Page, Step, Terminal, Typed};

#[test]
fn the_commands_about_emulating_print_what_the_page_shows() {
    let Some(bed) = Bed::new() else { return };
    follow(&bed, "emulate");
}

#[test]
fn the_commands_about_believing_an_emulation_print_what_the_page_shows() {
    let Some(bed) = Bed::new() else { return };
    follow(&bed, "emulate-trust");
}

#[test]
fn the_commands_about_our_tcp_print_what_the_page_shows() {
    let Some(bed) = Bed::new() else { return };
    let _down = Down;
    follow(&bed, "tun");
}

#[test]
fn the_commands_about_attaching_print_what_the_page_shows() {
    let Some(bed) = Bed::new() else { return };
    let switch = bed.namespace(SWITCH);
    command(&format!(
        "tc -n {switch} qdisc replace dev {PORT} root tbf rate 100mbit burst 5000 limit 262144"
    ));
    follow(&bed, "attach");
    bed.holds_nothing();
}

#[test]
fn the_commands_about_observing_print_what_the_page_shows() {
    let Some(bed) = Bed::new() else { return };
    let sender = bed.namespace(SENDER);
    let route = "route change default via 10.9.1.2 initcwnd 2 congctl cubic";
    ip(&format!("-n {sender} {route}"));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                bed.transfer(20, 48 << 10);
                thread::sleep(Duration::from_millis(50));
            }
        });
        let until = Ends(&over);
        follow(&bed, "observe");
        drop(until);
    });
    bed.holds_nothing();
}

#[test]
fn the_commands_about_programs_print_what_the_page_shows() {
    let Some(bed) = Bed::new() else { return };
    let _down = Down;
    follow(&bed, "programs");
}

#[test]
fn the_commands_about_kernels_print_what_the_page_shows() {
    let Some(bed) = Bed::new() else { return };
    follow(&bed, "kernels");
    bed.holds_nothing();
}

#[test]
fn the_tests_that_show_what_is_never_done_are_there() {
    let text = fs::read_to_string(path_of("safety")).expect("the page");
    let folders = [
        "crates/live/live/tests/deploy",
        "crates/live/programs/tests/programs",
        "crates/live/observed/src/trial",
        "crates/core/laws/tests/laws",
    ];
    let sources = folders.map(|folder| {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of tests");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let files = paths.filter(|path| path.is_file());
        files
            .map(|file| fs::read_to_string(file).expect("a source"))
            .collect::<String>()
    });
    let sources = sources.concat();
    let named = text.split('`').skip(1).step_by(2);
    let named: Vec<_> = named.filter(|name| name.matches('_').count() > 3).collect();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        assert!(sources.contains(&format!("fn {name}(")), "{name}");
    }
}

#[test]
fn timeouts_fall_as_predicted_by_the_commands_of_the_loop() {
    let Some(bed) = Bed::new() else { return };
    let mut missed = Vec::new();
    for _ in 0..3 {
        let answers = {
            let _down = Down;
            follow(&bed, "loop")
        };
        let looks = answers.iter().filter(|text| text.contains("flows: "));
        let [before, with_hscc, with_grants] = looks.collect::<Vec<_>>()[..] else {
            return;
        };
        if !before.contains("it fits") {
            // On a busy machine more packets are dropped than by its queue.
            continue;
        }
        let each = |text: &str| number(text, "  timeouts: ") / number(text, "  flows: ");
        let model = number(before, "model of today: ... ... ... ... ... ... ");
        let shares = [("hscc", with_hscc), ("rcc (grant)", with_grants)].map(|(cure, after)| {
            let cured = cured(before, cure);
            (1.0 - cured / model, 1.0 - each(after) / each(before))
        });
        let is_right =
            |(predicted, found): &(f64, f64)| *predicted > 0.0 && *found >= 0.5 * predicted;
        if shares.iter().all(is_right) {
            return;
        }
        missed.push(format!(
            "predicted and found: {shares:?}\n{before}\n{with_hscc}\n{with_grants}"
        ));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    testing::skipped("this machine is too busy for a model of its network");
}

/// Timeouts with a cure: the second last number of its row.
fn cured(text: &str, cure: &str) -> f64 {
    let mut rows = text.lines();
    let row = rows.find(|line| line.starts_with(&format!("{cure} ")));
    let row = row.unwrap_or_else(|| panic!("{cure} in {text}"));
    let digits = row.split_whitespace().rev().nth(1).unwrap_or_default();
    let digits = digits.replace(',', "");
    digits
        .parse()
        .unwrap_or_else(|_| panic!("timeouts in {row}"))
}

/// The number behind these words, of which "..." stands for any.
fn number(text: &str, words: &str) -> f64 {
    let mut rest = text;
    let mut parts = words.split("... ").peekable();
    while let Some(part) = parts.next() {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("{part} in {rest}"));
        rest = &rest[at + part.len()..];
        if parts.peek() == Some(&"") {
            // One word.
            rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
        }
    }
    let digits = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',');
    let digits: String = digits.filter(char::is_ascii_digit).collect();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("a number behind {words} in {text}"))
}

/// Removes a network that a page leaves up if it is not followed to its end.
struct Down;

impl Drop for Down {
    fn drop(&mut self) {
        if thread::panicking() {
            for (node, dev) in [("s0", "p1"), ("h0", "eth0")] {
                let detach = ["exec", node, "--", program(), "detach", "--dev", dev];
                drop(Command::new(program()).args(detach).output());
            }
            drop(Command::new(program()).arg("down").output());
        }
    }
}

/// Runs the commands of a page in the namespace of the switch. Returns its answers; `None` if the machine is too busy,
/// which is said aloud.
fn follow(bed: &Bed, page: &str) -> Vec<String> {
    let programs = Path::new(program())
        .parent()
        .expect("a program lies in a folder");
    if !programs.join("tailwater").is_file() {
        testing::skipped("tailwater is not built beside tailwater-live");
        return Vec::new();
    }
    if testing::tool("nsenter").is_none() {
        return Vec::new();
    }
    let folder =
        std::env::temp_dir().join(format!("tailwater-guide-{page}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a new folder");
    let (mut ran, mut answers) = (0, Vec::new());
    for step in Page::read(&path_of(page)).steps("text") {
        let terminal = match step {
            Step::File { name, text } => {
                fs::write(folder.join(name), text).expect("the file can be written");
                continue;
            }
            Step::Terminal(terminal) => terminal,
        };
        if !terminal
            .needs
            .iter()
            .all(|need| testing::tool(need).is_some())
        {
            continue;
        }
        for typed in &terminal.commands {
            if typed.line.contains(" status ") {
                // The page shows the state while connections are under way.
                let mut words = typed.line.split(' ').skip_while(|word| *word != "--dev");
                bed.lowers(words.nth(1).unwrap_or(PORT));
            }
            let answer = typed_in(bed, &folder, programs, typed);
            if !follow_one(&answer, &terminal, typed) {
                fs::remove_dir_all(folder).expect("the folder goes");
                return Vec::new();
            }
            ran += 1;
            answers.push(answer.0);
        }
    }
    assert!(
        ran > 1 || ["loop", "programs"].contains(&page),
        "{page}: {ran} commands"
    );
    fs::remove_dir_all(folder).expect("the folder goes");
    answers
}

/// Compares one answer with the page's. Returns whether this machine is free enough to go on.
fn follow_one(
    (told, complained, status): &(String, String, i32),
    terminal: &Terminal,
    typed: &Typed,
) -> bool {
    let all = format!("$ {}\n{told}{complained}", typed.line);
    if complained.contains("this machine sustains") {
        testing::skipped("this machine is too busy to hold the rate");
        return false;
    }
    assert_eq!(*status, terminal.status, "{all}");
    let printed = if *status == 0 { told } else { complained };
    let mut words = typed.line.split_whitespace();
    let is_told = if words.any(|word| matches!(word, "status" | "doctor" | "observe")) {
        // The state and its effects differ from moment to moment, and from machine to machine.
        let printed: Vec<_> = printed.lines().filter_map(label).collect();
        let shown = typed.shown.iter().filter(|line| line.trim() != "...");
        let mut shown = shown.filter_map(|line| label(line));
        shown.all(|label| printed.contains(&label))
    } else {
        let shown = shapes(typed.shown.iter().map(String::as_str));
        output::matches(&shown, &shapes(printed.lines()).join("\n"))
    };
    assert!(
        is_told,
        "the page shows\n{}\nand not\n{all}",
        typed.shown.join("\n")
    );
    true
}

/// Runs a command of the page and returns its standard output, its standard error and its exit status.
fn typed_in(bed: &Bed, folder: &Path, programs: &Path, typed: &Typed) -> (String, String, i32) {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", bed.namespace(SWITCH)));
    // The user of this test has the rights that sudo would give the reader.
    let line = typed.line.replace("sudo ", "");
    command.args(["sh", "-c", &line]).current_dir(folder);
    command.env("PATH", format!("{}:{path}", programs.display()));
    command.env("COLUMNS", "100").env("NO_COLOR", "1");
    let output = command.output().expect("nsenter starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().unwrap_or(-1);
    (text(&output.stdout), text(&output.stderr), status)
}

/// The lines of an answer without those that differ on other machines: the verdict of a comparison, which may take
/// several lines, and the row of DCTCP, which some kernels have.
fn shapes<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let (mut shapes, mut is_verdict) = (Vec::new(), false);
    for line in lines.filter(|line| !line.starts_with("dctcp ")) {
        is_verdict &= !line.is_empty() && !line.starts_with(' ') && !line.contains(".pcapng: ");
        if !is_verdict {
            is_verdict = line.starts_with("valid: ") || line.starts_with("NOT VALID, ");
            shapes.push(if is_verdict {
                "verdict".to_owned()
            } else {
                shape(line)
            });
        }
    }
    shapes
}

/// A line with every number as 0, and single spaces.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for part in line.split_whitespace() {
        let is_of_number = |c: char| c.is_ascii_digit() || ".,".contains(c);
        let mut rest = part;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let end = rest[at..].find(|c| !is_of_number(c));
            shape.extend([&rest[..at], "0"]);
            rest = &rest[end.map_or(rest.len(), |end| at + end)..];
        }
        shape.extend([rest, " "]);
    }
    shape.trim_end().to_owned()
}

/// The subject of a line: its words up to a colon, a comma, a number or two spaces. `None` for a line whose words
/// depend on the traffic, and for advice, which is given where a model fits.
fn label(line: &str) -> Option<String> {
    let line = line.trim_start();
    let end = [":", ",", "  "].map(|end| line.find(end).unwrap_or(line.len()));
    let label = shape(&line[..end.into_iter().min()?]);
    let label = label.split(" 0").next()?.to_owned();
    let is_told = !["", "on", "off", "passed"].contains(&label.as_str());
    let is_advice = ADVICE.iter().any(|words| label.starts_with(words));
    (is_told && !is_advice).then_some(label)
}

/// The beginnings of lines that follow from a model that fits.
const ADVICE: [&str; 9] = [
    "try it",
    "gain",
    "knee",
    "nothing that can",
    "flows come in rounds",
    "on this machine",
    "at ",
    "or for",
    "undo",
];

fn path_of(page: &str) -> PathBuf {
    root().join(format!("docs/guide/{page}.md"))
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    root.expect("this crate lies two folders below the root")
        .to_owned()
}
