//! A point whose files changed since they were written counts as missing, whichever byte changed.

use std::fs;
use std::path::{Path, PathBuf};

use record::pcap::CapturePoints;
use results::{Access, Store};
use scenario::{Overrides, Scenario, Source};
use sim::run::Limits;

#[test]
fn a_point_with_any_byte_flipped_is_missing() {
    let folder = Folder::new("flipped");
    let (scenario, places) = scenario();
    let store = folder.filled(&scenario, &places);
    let files = files(&folder.0);
    let of_points = files.iter().filter(|path| !path.ends_with("scenario.toml"));
    let mut kinds = [0; 3];
    for path in of_points {
        let whole = fs::read(path).expect("a folder of the test");
        let ending = path
            .extension()
            .expect("a folder of the test")
            .to_str()
            .expect("a folder of the test");
        let kind = ["part", "series", "pcapng"]
            .iter()
            .position(|kind| *kind == ending);
        kinds[kind.expect("a file of a point")] += 1;
        // Of long files some bytes are tried, including the first and the last.
        let step = if ending == "part" {
            1
        } else {
            whole.len() / 60 + 1
        };
        for byte in (0..whole.len()).step_by(step).chain([whole.len() - 1]) {
            let mut bytes = whole.clone();
            bytes[byte] ^= 1 << (byte % 8);
            fs::write(path, bytes).expect("a folder of the test");
            let missing = store
                .missing(&scenario, None)
                .expect("a folder of the test");
            assert_eq!(missing.len(), 1, "{} byte {byte}", path.display());
        }
        for length in [0, 1, 8, 16, whole.len() - 1] {
            fs::write(path, &whole[..length]).expect("a folder of the test");
            let missing = store
                .missing(&scenario, None)
                .expect("a folder of the test");
            assert_eq!(missing.len(), 1, "{} cut at {length}", path.display());
        }
        fs::remove_file(path).expect("a folder of the test");
        assert_eq!(
            store
                .missing(&scenario, None)
                .expect("a folder of the test")
                .len(),
            1
        );
        fs::write(path, whole).expect("a folder of the test");
    }
    assert_eq!(
        store
            .missing(&scenario, None)
            .expect("a folder of the test")
            .len(),
        0
    );
    assert_eq!(kinds, [2, 2, 2]);
}

#[test]
fn the_part_of_another_point_is_missing() {
    let folder = Folder::new("exchanged");
    let (scenario, places) = scenario();
    let store = folder.filled(&scenario, &places);
    let mut parts = files(&folder.0.join("points"));
    parts.retain(|path| path.extension().is_some_and(|ending| ending == "part"));
    fs::copy(&parts[0], &parts[1]).expect("a folder of the test");
    let missing = store
        .missing(&scenario, None)
        .expect("a folder of the test");
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].index, 1);
}

fn scenario() -> (Scenario, CapturePoints) {
    let overrides = Overrides {
        schemes: Some("newreno".into()),
        sets: vec!["workload.senders=1,2".into(), "workload.size=1KB".into()],
        trace: Some("queue".into()),
        ..Overrides::default()
    };
    let source = Source::builtin("incast").expect("a folder of the test");
    let scenario = Scenario::load(source, &overrides).expect("a folder of the test");
    let places = CapturePoints::parse("bottleneck").expect("a folder of the test");
    (scenario, places)
}

/// Every file below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the test") {
        let path = entry.expect("a folder of the test").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if !path.ends_with(".lock") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A run folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("damage");
        let path = path.join(name);
        drop(fs::remove_dir_all(&path));
        Self(path)
    }

    /// Every point of the scenario.
    fn filled(&self, scenario: &Scenario, places: &CapturePoints) -> Store {
        let store = Store::open(&self.0, scenario, Some(places), Access::New)
            .expect("a folder of the test");
        store.begin(scenario).expect("a folder of the test");
        for point in scenario.points() {
            results::simulate(&store, point, scenario, Limits::NONE).expect("a folder of the test");
        }
        store
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
