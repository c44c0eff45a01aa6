//! Measures values over time from the series of a run.

use std::collections::{BTreeMap, BTreeSet};

use base::Ordered as _;
use scenario::Problems;

use super::super::measure::{Measure, Moment, Of, PortSelector, Stretch};
use super::super::sample::Steps;
use super::subject::Subject;
use super::{MeasuredRun, text, whole};

impl MeasuredRun {
    /// The series of a measure without a statistic, for the first seed of a row that has one. For each port, flow or
    /// host: times in microseconds and the values from then on.
    pub fn series(
        &self,
        measure: &Measure,
        row: usize,
    ) -> Result<BTreeMap<Subject, Vec<(f64, f64)>>, Problems> {
        let Of::Series { during, .. } = &measure.of else {
            return Ok(BTreeMap::new());
        };
        let points = self.run.summary().rows[row].points.iter().copied();
        let stretches = self.stretches(*during)?;
        let mut found = None;
        self.each_series(measure, &points.into_set(), &mut |point, lines| {
            if found.is_none() {
                let stretch = stretches[&point];
                let lines = lines.iter();
                let clipped = lines.map(|(subject, steps)| (*subject, steps.clip(stretch)));
                found = Some(clipped.into_map());
            }
        })?;
        Ok(found.unwrap_or_default())
    }

    /// The distance of a series' statistic from the same statistic of another column.
    pub(super) fn apart(
        &self,
        measure: &Measure,
        other: &'static str,
    ) -> Result<BTreeMap<u32, f64>, Problems> {
        let of = |name: Option<&'static str>| {
            let mut measure = measure.clone();
            if let Of::Series {
                column, apart_from, ..
            } = &mut measure.of
            {
                *apart_from = None;
                *column = name.unwrap_or(column);
            }
            self.by_point(&measure)
        };
        let (here, there) = (of(None)?, of(Some(other))?);
        let both = here.into_iter();
        let both = both.filter_map(|(point, value)| Some((point, value, there.get(&point)?)));
        Ok(both
            .map(|(point, value, other)| (point, (value - other).abs()))
            .into_map())
    }

    /// The series of the matching ports, flows or hosts, for those of `points` that have some.
    pub(super) fn each_series(
        &self,
        measure: &Measure,
        points: &BTreeSet<u32>,
        each: &mut dyn FnMut(u32, &BTreeMap<Subject, Steps>),
    ) -> Result<(), Problems> {
        let Of::Series {
            column,
            place,
            group,
            flow,
            host,
            during,
            window_us,
            ..
        } = &measure.of
        else {
            return Ok(());
        };
        let place = if *place == PortSelector::default() {
            &PortSelector {
                bottleneck: true,
                ..PortSelector::default()
            }
        } else {
            place
        };
        let ports = self.ports(place)?;
        let members = group
            .as_ref()
            .map(|group| self.members(group))
            .transpose()?;
        let wanted = |point: u32, subject: Subject| match subject {
            Subject::Port(port) => ports.contains(&(point, port)),
            Subject::Flow(number) => {
                let mut members = members.iter();
                flow.is_none_or(|flow| flow == number)
                    && members.all(|members| members.contains(&(point, number)))
            }
            Subject::Host(number) => host.is_none_or(|host| host == number),
        };
        let stretches = self.stretches(*during)?;
        let mut each = |point: u32, lines: &BTreeMap<Subject, Steps>| {
            let Some(window_us) = window_us else {
                return each(point, lines);
            };
            let stretch = stretches[&point];
            let lines = lines.iter();
            let lines =
                lines.map(|(subject, steps)| (*subject, steps.averaged(*window_us, stretch)));
            each(point, &lines.into_map());
        };
        let mut current: Option<(u32, BTreeMap<Subject, Steps>)> = None;
        self.run.series(&mut |row| {
            if !points.contains(&row.point) {
                return;
            }
            let value = row.values.iter().find(|(name, _)| name == column);
            let Some((_, value)) = value else { return };
            let subject = row.flow.map(Subject::Flow).or(row.port.map(Subject::Port));
            let Some(subject) = subject.or(row.host.map(Subject::Host)) else {
                return;
            };
            if !wanted(row.point, subject) {
                return;
            }
            if let Some((point, lines)) = &current
                && *point != row.point
            {
                each(*point, lines);
                current = None;
            }
            let (_, lines) = current.get_or_insert_with(|| (row.point, BTreeMap::new()));
            let steps = lines.entry(subject).or_insert_with(|| {
                // A queue and the counters of a port are zero until their first row.
                Steps::new(matches!(subject, Subject::Port(_)).then_some(0.0))
            });
            steps.push(row.time_us, *value);
        })?;
        if let Some((point, lines)) = &current {
            each(*point, lines);
        }
        Ok(())
    }

    /// The matching ports of all points.
    fn ports(&self, place: &PortSelector) -> Result<BTreeSet<(u32, u32)>, Problems> {
        let mut ports = BTreeSet::new();
        let columns = ["point", "port", "from", "to", "bottleneck"];
        self.run.port_cells(&columns, &mut |cells| {
            if place.contains(text(cells[2]), text(cells[3]), cells[4]) {
                ports.extend(whole(cells[0]).zip(whole(cells[1])));
            }
        })?;
        Ok(ports)
    }

    /// The stretch of every point in microseconds. If it has no begin or no end, the flows determine it.
    pub(super) fn stretches(&self, during: Stretch) -> Result<BTreeMap<u32, (f64, f64)>, Problems> {
        let points = self.run.summary().points.iter();
        let is_open = during.from.is_none() || during.to.is_none();
        let spans = if is_open { Some(self.spans()?) } else { None };
        let stretches = points.map(|point| {
            let open = spans.and_then(|spans| spans.get(&point.point));
            let open = open.copied().unwrap_or_default();
            (point.point, self.within(point.point, during, open))
        });
        Ok(stretches.into_map())
    }

    /// A stretch of the simulation of a point in microseconds, with these replacements for missing ends.
    pub(super) fn within(
        &self,
        point: u32,
        during: Stretch,
        (start, end): (f64, f64),
    ) -> (f64, f64) {
        let us = |moment: Option<Moment>, open: f64| match moment {
            None => open,
            Some(Moment::At(us)) => us,
            Some(Moment::Share(share)) => share * self.duration(point),
        };
        (us(during.from, start), us(during.to, end))
    }

    /// The time in microseconds at which the simulation of a point stops, or its actual length if it is not limited.
    fn duration(&self, point: u32) -> f64 {
        let spec = self.scenario.points().get(point as usize);
        if let Some(limit) = spec.and_then(|spec| spec.keys.run.duration.0) {
            return limit.as_micros();
        }
        let mut points = self.run.summary().points.iter();
        let found = points.find(|other| other.point == point);
        found.map_or(f64::NAN, |point| point.simulated_us)
    }
}
