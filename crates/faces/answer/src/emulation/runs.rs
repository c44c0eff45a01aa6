//! The lines of an emulation, sorted by kind.

use std::path::Path;
use std::{fs, io};

use protocol::{
    BedLine, CaptureLine, ClaimLine, EmulationLine, FILE, LinuxRun, PointLine, RunsOn, Settings,
    SkippedLine, TwinLine,
};
use scenario::{Problem, Problems};

/// The results of a scenario from `tailwater-live`.
#[derive(Clone, Debug)]
pub struct Emulation {
    pub(super) about: EmulationLine,
    pub(super) beds: Vec<BedLine>,
    pub(super) skipped: Vec<SkippedLine>,
    pub(super) captures: Vec<CaptureLine>,
    pub(super) twins: Vec<TwinLine>,
    pub(super) points: Vec<PointLine>,
    pub(super) claims: Vec<ClaimLine>,
}

impl Emulation {
    /// The lines of an emulation, sorted by kind. Other lines are ignored.
    ///
    /// # Errors
    /// If the first line of an emulation is missing.
    pub fn of(lines: impl IntoIterator<Item = protocol::Line>) -> Result<Self, Problems> {
        use protocol::Line;

        let mut about = None;
        let (mut beds, mut skipped, mut captures) = (Vec::new(), Vec::new(), Vec::new());
        let (mut twins, mut points, mut claims) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            match line {
                Line::Emulation(line) => about = Some(line),
                Line::Bed(line) => beds.push(line),
                Line::Skipped(line) => skipped.push(line),
                Line::Capture(line) => captures.push(line),
                Line::Twin(line) => twins.push(line),
                Line::Point(line) => points.push(*line),
                Line::Claim(line) => claims.push(*line),
                _ => {}
            }
        }
        let about = about.ok_or_else(|| {
            let problem = Problem::new("no line of the kind emulation, with which lines begin");
            Problems::from(problem.help(AGAIN))
        })?;
        Ok(Self {
            about,
            beds,
            skipped,
            captures,
            twins,
            points,
            claims,
        })
    }

    /// The lines that `tailwater-live` wrote in `folder`; `None` if it has not run there.
    pub fn read(folder: &Path) -> Option<Result<Self, Problems>> {
        let file = folder.join(FILE);
        let damaged = |cause: &dyn std::fmt::Display| {
            let text = format!("{}: {cause}", file.display());
            Problems::from(Problem::new(text).help(AGAIN))
        };
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            text => text.map_err(|error| damaged(&error)),
        };
        let lines = text.and_then(|text| {
            protocol::read_all(&text).map_err(|malformed| {
                let text = format!("{}, {malformed}", file.display());
                Problem::new(text).help(AGAIN).into()
            })
        });
        Some(lines.and_then(Self::of))
    }

    /// Adds these verdicts.
    #[must_use]
    pub fn with_claims(mut self, claims: Vec<ClaimLine>) -> Self {
        self.claims.extend(claims);
        self
    }

    /// Drops single flows and series, which only the judging of claims needs.
    pub fn forget_details(&mut self) {
        self.points.iter_mut().for_each(PointLine::forget_details);
    }

    /// Points of a scheme with these settings, on Linux or in the simulator.
    pub(super) fn points<'a>(
        &'a self,
        runs_on: RunsOn,
        like: &'a PointLine,
    ) -> impl Iterator<Item = &'a PointLine> {
        self.points.iter().filter(move |point| {
            point.runs_on() == runs_on && point.scheme == like.scheme && point.set == like.set
        })
    }

    /// The first run on Linux of every scheme under these settings.
    pub(super) fn first_runs<'a>(
        &'a self,
        set: &'a Settings,
    ) -> impl Iterator<Item = &'a PointLine> {
        let points = self.points.iter();
        points.filter(move |point| point.live().is_some() && point.run == 0 && point.set == *set)
    }

    /// The schemes that do not run with these settings.
    pub(super) fn left_out<'a>(
        &'a self,
        set: &'a Settings,
    ) -> impl Iterator<Item = &'a SkippedLine> {
        self.skipped.iter().filter(move |line| line.set == *set)
    }

    /// The network with these settings, if any scheme runs there.
    pub(super) fn bed(&self, set: &Settings) -> Option<&BedLine> {
        self.beds.iter().find(|bed| bed.set == *set)
    }

    /// The runs on Linux under these settings.
    pub(super) fn live<'a>(&'a self, set: &'a Settings) -> impl Iterator<Item = &'a LinuxRun> {
        let points = self.points.iter().filter(move |point| point.set == *set);
        points.filter_map(PointLine::live)
    }

    /// Whether there are runs with these settings, and all of them are valid.
    pub(super) fn is_valid(&self, set: &Settings) -> bool {
        self.live(set).next().is_some() && self.live(set).all(|run| run.valid)
    }

    /// Whether a setting, as [`settings`] writes it, differs between networks.
    pub(super) fn is_swept(&self, setting: &str) -> bool {
        let mut sets = self.sets().into_iter();
        !sets.all(|set| settings(set).any(|own| own == setting))
    }

    /// Settings in the order in which their networks were made.
    pub(super) fn sets(&self) -> Vec<&Settings> {
        let mut sets: Vec<&Settings> = Vec::new();
        let of_beds = self.beds.iter().map(|bed| &bed.set);
        for set in of_beds.chain(self.skipped.iter().map(|line| &line.set)) {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        sets
    }
}

/// The settings in which networks differ, one text for each key.
pub(super) fn settings(set: &Settings) -> impl Iterator<Item = String> {
    set.iter().map(|(key, value)| format!("{key} = {value}"))
}

/// Linux and the simulator, in the order of columns.
pub(super) const WORLDS: [RunsOn; 2] = [RunsOn::Linux, RunsOn::Simulator];

/// The remedy for a damaged folder.
const AGAIN: &str = "`tailwater emulate` with the same --out writes the folder anew";
