//! Reading claims.

use std::ops::Range;

use serde::Deserialize;

use super::kind::Kind;
use super::reader::{Reader, Table};
use super::short::list;
use super::tree::{Node, Site, split};
use super::{Context, Runs};
use crate::leaf;
use crate::unit::Dimension;
use crate::{
    At, Average, Claim, ClaimKind, Compare, Level, Measure, Number, Operand, OrderClaim, Rank,
    ShapeClaim, ShapeKind,
};

/// The keys of every claim.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    #[serde(deserialize_with = "leaf::id")]
    id: String,
    #[serde(rename = "kind")]
    _kind: Option<Kind>,
    says: String,
    #[serde(rename = "where")]
    place: String,
    measure: Option<Measure>,
    #[serde(default, deserialize_with = "leaf::at")]
    at: At,
    #[serde(default, deserialize_with = "leaf::at")]
    except: At,
    untestable: Option<String>,
    own: Option<String>,
    weaker: Option<String>,
    wide: Option<String>,
}

/// The keys of a claim about a number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfNumber {
    of: Compared,
    against: Option<Compared>,
    compare: Option<Compare>,
    average: Option<Average>,
    #[serde(default)]
    of_averages: bool,
    paper: Vec<f64>,
    #[serde(default)]
    unit: String,
    tolerance: Option<f64>,
    within: Option<Level>,
    rank: Option<Extreme>,
    among: Option<Vec<Compared>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Extreme {
    Lowest,
    Highest,
}

/// The keys of a claim about an order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfOrder {
    lowest: Option<Compared>,
    highest: Option<Compared>,
    sorted: Option<Vec<Compared>>,
    among: Option<Vec<Compared>>,
    place: Option<u32>,
    average: Option<Average>,
}

/// The keys of a claim about a shape.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfShape {
    shape: Form,
    of: Vec<Compared>,
    level: Option<Level>,
    than: Option<Compared>,
    factor: Option<f64>,
    within: Option<Level>,
    #[serde(default)]
    location: Vec<String>,
    x: Option<String>,
    average: Option<Average>,
    tolerance: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Constant,
    Rising,
    Falling,
    Peak,
    Valley,
    Above,
    Below,
    Near,
    Reaches,
    Equal,
    Greater,
    Less,
}

/// A scheme with the keys that a claim gives for it alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compared {
    scheme: String,
    measure: Option<Measure>,
    #[serde(default, deserialize_with = "leaf::at")]
    at: At,
    run: Option<String>,
    label: Option<String>,
}

/// The table of a claim, with the keys that its operands share.
struct Whole<'a> {
    name: &'a str,
    site: Site<'a>,
    runs: Runs<'a>,
    measure: Option<Measure>,
}

impl Reader<'_> {
    /// A claim; `None` if errors leave nothing to judge.
    pub(super) fn claim(&mut self, name: &str, node: &Node<'_>, runs: Runs<'_>) -> Option<Claim> {
        let (site, (common, rest)) = (Site::new(node), split(node, &COMMON));
        if !site.has_within("measure") {
            self.missing(name, "measure", site.place());
        }
        let table = Table {
            name,
            required: &["id", "says", "where"],
            others: &["each"],
        };
        let common: Option<Common> = self.read(&table, &common);
        let Some(kind) = Kind::of(site) else {
            let message = format!("{name} is about no number, order or shape");
            let expected = "paper for a number, lowest, highest or sorted for an order, or shape";
            self.wrong(message, site.place(), expected);
            return None;
        };
        if let Some(common) = &common {
            self.check_place(&common.place, site.key("where"), runs.sections);
            self.at(&common.at, site.key("at"), runs.own);
            self.at(&common.except, site.key("except"), runs.own);
            if let Some(measure) = &common.measure {
                self.check_measure(measure, site.key("measure").place(), runs.own);
            }
        }
        let whole = Whole {
            name,
            site,
            runs,
            measure: common.as_ref().and_then(|common| common.measure.clone()),
        };
        let kind = match kind {
            Kind::Number => ClaimKind::Number(Box::new(self.number(&whole, &rest)?)),
            Kind::Order => ClaimKind::Order(Box::new(self.order(&whole, &rest)?)),
            Kind::Shape => ClaimKind::Shape(Box::new(self.shape(&whole, &rest)?)),
        };
        let common = common?;
        self.can_fail(site, &kind);
        self.tolerance(site, &kind, common.wide.is_some());
        Some(Claim {
            id: common.id,
            says: common.says,
            place: common.place,
            kind,
            at: common.at,
            except: common.except,
            untestable: common.untestable,
            own: common.own,
            weaker: common.weaker,
        })
    }

    fn number(&mut self, whole: &Whole<'_>, node: &Node<'_>) -> Option<Number> {
        let number: OfNumber = self.read(&whole.table(&["of", "paper"]), node)?;
        let site = whole.site;
        for (given, other) in [("against", "compare"), ("compare", "against")] {
            if site.has(given) && !site.has(other) {
                self.missing(whole.name, other, site.place());
            }
        }
        let paper = match number.paper[..] {
            [value] => (value, value),
            [low, high] if low <= high => (low, high),
            _ => {
                let place = site.key("paper").place();
                self.wrong(
                    "wrong value for paper",
                    place,
                    "a number, or two in ascending order",
                );
                return None;
            }
        };
        let of = self.operand(number.of, site.key("of"), whole);
        let against = number
            .against
            .map(|other| self.operand(other, site.key("against"), whole));
        let of = of?;
        let compare = number.compare.unwrap_or(Compare::Value);
        let dimension = compare.dimension(of.measure.value_dimension());
        self.check_number(whole, &of);
        self.check_unit(whole, &number.unit, dimension);
        self.check_level(number.within.as_ref(), site.key("within"), dimension);
        let rank = match number.rank {
            Some(rank) => {
                let (of, among, place) = (of.clone(), self.among(number.among, whole), 1);
                Some(match rank {
                    Extreme::Lowest => Rank::Lowest { of, among, place },
                    Extreme::Highest => Rank::Highest { of, among, place },
                })
            }
            None => None,
        };
        Some(Number {
            of,
            against: against.flatten(),
            compare,
            average: number.average.unwrap_or(Average::Mean),
            of_averages: number.of_averages,
            paper,
            unit: number.unit,
            tolerance: number.tolerance.unwrap_or(if paper.0 < paper.1 {
                0.0
            } else {
                NUMBER_TOLERANCE
            }),
            within: number.within,
            rank,
        })
    }

    fn order(&mut self, whole: &Whole<'_>, node: &Node<'_>) -> Option<OrderClaim> {
        let order: OfOrder = self.read(&whole.table(&[]), node)?;
        let (site, place) = (whole.site, order.place.unwrap_or(1).max(1) as usize);
        let rank = match (order.lowest, order.highest, order.sorted) {
            (Some(lowest), None, None) => Rank::Lowest {
                of: self.operand(lowest, site.key("lowest"), whole)?,
                among: self.among(order.among, whole),
                place,
            },
            (None, Some(highest), None) => Rank::Highest {
                of: self.operand(highest, site.key("highest"), whole)?,
                among: self.among(order.among, whole),
                place,
            },
            (None, None, Some(sorted)) => {
                let sorted = self.operands(sorted, site.key("sorted"), whole);
                if sorted.len() < 2 {
                    let place = site.key("sorted").place();
                    self.wrong("an order needs two schemes", place, "a list of schemes");
                    return None;
                }
                Rank::Sorted(sorted)
            }
            _ => {
                let message = "an order has one of lowest, highest and sorted";
                self.wrong(message, site.place(), "exactly one of them");
                return None;
            }
        };
        Some(OrderClaim {
            rank,
            average: order.average,
        })
    }

    fn shape(&mut self, whole: &Whole<'_>, node: &Node<'_>) -> Option<ShapeClaim> {
        let site = whole.site;
        let mut node = node.clone();
        list(&mut node, "of");
        let shape: OfShape = self.read(&whole.table(&["shape", "of"]), &node)?;
        let needed = match shape.shape {
            Form::Above | Form::Below | Form::Near | Form::Reaches => Some("level"),
            Form::Greater | Form::Less => Some("than"),
            _ => None,
        };
        if let Some(key) = needed.filter(|key| !site.has(key)) {
            self.missing(whole.name, key, site.place());
        }
        let of = self.operands(shape.of, site.key("of"), whole);
        let than = shape
            .than
            .map(|than| self.operand(than, site.key("than"), whole));
        let dimension = of.first()?.measure.value_dimension();
        self.check_level(shape.level.as_ref(), site.key("level"), dimension);
        self.check_level(shape.within.as_ref(), site.key("within"), dimension);
        if let Some(x) = &shape.x {
            self.axis_key(x, site.key("x").place(), whole.runs.own);
        }
        for operand in &of {
            self.check_number(whole, operand);
        }
        let (level, than) = (shape.level, than.flatten());
        let location = shape.location.into_iter().next_back();
        let factor = shape.factor.unwrap_or(1.0);
        let (kind, tolerance) = match shape.shape {
            Form::Constant => (ShapeKind::Constant, 0.2),
            Form::Rising => (ShapeKind::Rising, 0.05),
            Form::Falling => (ShapeKind::Falling, 0.05),
            Form::Peak => (ShapeKind::Peak(location), 0.1),
            Form::Valley => (ShapeKind::Valley(location), 0.1),
            Form::Above => (ShapeKind::Above(level?), 0.0),
            Form::Below => (ShapeKind::Below(level?), 0.0),
            Form::Near => (ShapeKind::Near(level?), 0.2),
            Form::Reaches => (ShapeKind::Reaches(level?), 0.01),
            Form::Equal => (ShapeKind::Equal(shape.within), 0.2),
            Form::Greater => (
                ShapeKind::Greater {
                    than: than?,
                    factor,
                },
                0.0,
            ),
            Form::Less => (
                ShapeKind::Less {
                    than: than?,
                    factor,
                },
                0.0,
            ),
        };
        Some(ShapeClaim {
            shape: kind,
            of,
            x: shape.x,
            average: shape.average,
            tolerance: shape.tolerance.unwrap_or(tolerance),
        })
    }

    /// The operands with which one scheme is compared: the named ones, or all.
    fn among(&mut self, named: Option<Vec<Compared>>, whole: &Whole<'_>) -> Vec<Operand> {
        if let Some(named) = named {
            return self.operands(named, whole.site.key("among"), whole);
        }
        let all = whole.runs.own.schemes.iter();
        let operands = all.filter_map(|scheme| {
            Some(Operand {
                scheme: scheme.clone(),
                measure: whole.measure.clone()?,
                at: At::new(),
                run: None,
                label: scheme.clone(),
            })
        });
        operands.collect()
    }

    fn operands(&mut self, all: Vec<Compared>, site: Site<'_>, whole: &Whole<'_>) -> Vec<Operand> {
        let all = all.into_iter().zip(site.items());
        all.filter_map(|(one, site)| self.operand(one, site, whole))
            .collect()
    }

    /// A scheme with its own measure, or with the claim's.
    fn operand(&mut self, one: Compared, site: Site<'_>, whole: &Whole<'_>) -> Option<Operand> {
        let context = self.run(one.run.as_deref(), site.key("run"), whole.runs)?;
        let known = self.scheme(&one.scheme, site.key("scheme").place(), context);
        let own = one.measure.is_some();
        let measure = one.measure.or_else(|| whole.measure.clone());
        if let Some(measure) = measure.as_ref().filter(|_| own || one.run.is_some()) {
            self.check_measure(measure, site.place(), context);
        }
        self.at(&one.at, site.key("at"), context);
        if measure.is_none() && !whole.site.has("measure") && whole.site.has_within("measure") {
            let message = format!("{} compares {} without a measure", whole.name, one.scheme);
            self.wrong(
                message,
                site.place(),
                "a measure of its own, or of the claim",
            );
        }
        known.then_some(Operand {
            label: one.label.unwrap_or_else(|| one.scheme.clone()),
            scheme: one.scheme,
            measure: measure?,
            at: one.at,
            run: one.run,
        })
    }

    fn check_number(&mut self, whole: &Whole<'_>, operand: &Operand) {
        if !operand.measure.is_number() {
            let place = whole.site.key("measure").place();
            self.wrong(
                "a claim needs a number",
                place,
                "a statistic in the measure",
            );
        }
    }

    /// The unit of the paper's number must match the measure.
    fn check_unit(&mut self, whole: &Whole<'_>, unit: &str, dimension: Dimension) {
        if dimension.scale(unit, 1.0).is_some() {
            return;
        }
        if !whole.site.has("unit") {
            return self.missing(whole.name, "unit", whole.site.place());
        }
        let units: Vec<_> = dimension.units().iter().map(|(name, _)| *name).collect();
        let expected = format!("one of the units {}", units.join(", "));
        let message = format!("{unit:?} is no unit of this number");
        self.wrong(message, whole.site.key("unit").place(), &expected);
    }

    /// The unit of a level must match the measure.
    fn check_level(&mut self, level: Option<&Level>, site: Site<'_>, dimension: Dimension) {
        if level.is_some_and(|level| level.in_column(dimension, 1.0).is_none()) {
            let message = "this is no value of what is measured";
            self.wrong(message, site.place(), &dimension.expected());
        }
    }

    /// Reports schemes in a measure that are not run, and an equation about a flow without a size.
    pub(super) fn check_measure(
        &mut self,
        measure: &Measure,
        place: Range<usize>,
        context: &Context,
    ) {
        for scheme in measure.other_schemes() {
            self.scheme(scheme, place.clone(), context);
        }
        if measure.needs_size() {
            let message = format!("{} is about a flow of some size", measure.column());
            let expected = "size = \"100KB\", or in a plot x = { sizes = [...] }";
            self.wrong(message, place, expected);
        }
    }
}

impl Whole<'_> {
    /// The keys of this kind, in addition to those of every claim.
    fn table<'a>(&'a self, required: &'a [&'a str]) -> Table<'a> {
        Table {
            name: self.name,
            required,
            others: &COMMON,
        }
    }
}

impl Compare {
    /// The dimension of the compared number.
    pub(crate) fn dimension(self, measured: Dimension) -> Dimension {
        match self {
            Self::Value | Self::Difference => measured,
            Self::Reduction | Self::Increase => Dimension::Share,
            Self::Ratio => Dimension::Count,
        }
    }
}

/// The allowed error of a number unless the claim sets it; a range has none.
const NUMBER_TOLERANCE: f64 = 0.2;

/// The names of the keys of every claim.
const COMMON: [&str; 12] = [
    "id",
    "kind",
    "says",
    "where",
    "measure",
    "at",
    "except",
    "untestable",
    "own",
    "weaker",
    "wide",
    "each",
];
