//! Run folders of tests: a place for them, the command that fills them, and their contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for each test, removed at the end.
pub(crate) struct Workspace(PathBuf);

impl Workspace {
    pub(crate) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The command, to be run in this folder. A run has one seed unless it asks for others, because these tests are
    /// about the folder.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tailwater"));
        let asks = ["--seeds", "--until", "--help"];
        let plain = words.starts_with("run ") && !asks.iter().any(|asked| words.contains(asked));
        let seeds = if plain { "--seeds 1" } else { "" };
        command
            .args(words.split_whitespace())
            .args(seeds.split_whitespace())
            .current_dir(&self.0)
            .env_remove("RUST_BACKTRACE");
        command
    }

    pub(crate) fn output(&self, words: &str) -> Output {
        self.command(words).output().expect("the command runs")
    }

    /// The answer of a command that succeeds.
    pub(crate) fn answer(&self, words: &str) -> String {
        let output = self.output(words);
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words}: {complaints}");
        String::from_utf8(output.stdout).expect("answers are text")
    }

    /// The message of a command that is refused.
    pub(crate) fn refusal(&self, words: &str) -> String {
        let output = self.output(words);
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {complaints}");
        assert!(output.stdout.is_empty(), "{words}: nothing is answered");
        complaints
    }

    pub(crate) fn json(&self, file: &str) -> serde_json::Value {
        let text = fs::read(self.path(file)).expect(file);
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Every file of a run folder.
    pub(crate) fn all_files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let root = self.path(folder);
        collect(&root, &root, &mut files);
        files
    }

    /// Replaces `to` by a copy of the folder `from`.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        let to = self.path(to);
        drop(fs::remove_dir_all(&to));
        fs::create_dir_all(&to).expect("a folder for the test");
        // Folders come before their contents.
        for (name, bytes) in self.all_files(from) {
            match name.strip_suffix('/') {
                Some(name) => fs::create_dir(to.join(name)).expect("a folder"),
                None => fs::write(to.join(name), bytes).expect("a file"),
            }
        }
    }

    /// Every file of a run folder but `run.json`, which differs between equal runs.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = self.all_files(folder);
        files.remove("run.json").expect("a complete run folder");
        files
    }

    /// Fails unless two run folders have the same files with the same bytes, except for `run.json`.
    pub(crate) fn assert_same(&self, folder: &str, expected: &str) {
        let (found, expected) = (self.files(folder), self.files(expected));
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "files of {folder}");
        for (name, bytes) in &expected {
            assert!(found[name] == *bytes, "{folder}/{name} differs");
        }
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(root).expect("a path within").display();
        if path.is_dir() {
            files.insert(format!("{name}/"), Vec::new());
            collect(root, &path, files);
        } else {
            files.insert(name.to_string(), fs::read(&path).expect("a file"));
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Marsaglia's xorshift64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 32) as usize % bound
    }

    /// From 0 to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        f64::from((self.next() >> 32) as u32) / f64::from(u32::MAX)
    }
}
