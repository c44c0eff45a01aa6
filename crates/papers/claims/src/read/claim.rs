//! Reading claims.

use std::ops::Range;

use toml_edit::Item;

use super::fields::{Fields, Reader, Word};
use super::operand::{Common, operand};
use super::{Context, Runs};
use crate::unit::Dimension;
use crate::{
    At, Average, Claim, ClaimKind, Compare, Number, Operand, Order, Rank, Shape, ShapeKind,
};

impl Reader<'_> {
    /// A claim; none if what is wrong leaves nothing to judge.
    pub(super) fn claim(&mut self, fields: &Fields<'_>, runs: Runs<'_>) -> Option<Claim> {
        let id = self.id(fields);
        let says = self.required_text(fields, "says");
        let place = self.required_text(fields, "where");
        self.check_place(fields, "where", &place, runs.sections);
        if !fields.has("kind") {
            self.missing(fields, "kind");
        }
        let kinds = [("number", NUMBER), ("order", ORDER), ("shape", SHAPE)];
        let keys = self.choice(fields, "kind", &kinds)?;
        let known: Vec<&str> = COMMON.iter().chain(keys).copied().collect();
        self.only(fields, &known);
        let common = Common {
            runs,
            measure: self.measure(fields, "measure"),
        };
        if let Some(measure) = &common.measure {
            self.check_measure(measure, &fields.value_place("measure"), runs.own);
        }
        let describes = |(_, item): (&str, &Item)| item.to_string().contains("measure");
        if !fields.has("measure") && !fields.table.iter().any(describes) {
            self.missing(fields, "measure");
        }
        let at = self.at(fields, "at", runs.own);
        let except = self.at(fields, "except", runs.own);
        let untestable = self.text(fields, "untestable").map(|word| word.text);
        let own = self.text(fields, "own").map(|word| word.text);
        let kind = if keys == NUMBER {
            ClaimKind::Number(Box::new(self.number_claim(fields, &common)?))
        } else if keys == ORDER {
            ClaimKind::Order(Box::new(self.order(fields, &common)?))
        } else {
            ClaimKind::Shape(Box::new(self.shape(fields, &common)?))
        };
        self.can_fail(fields, &kind);
        Some(Claim {
            id,
            says,
            place,
            kind,
            at,
            except,
            untestable,
            own,
        })
    }

    /// The figure whose runs are meant, and what is run for it.
    pub(super) fn run<'b>(
        &mut self,
        fields: &Fields<'_>,
        runs: Runs<'b>,
    ) -> Option<(Option<String>, &'b Context)> {
        let Some(word) = self.text(fields, "run") else {
            return Some((None, runs.own));
        };
        let found = runs.all.get(&word.text);
        if found.is_none() {
            let names: Vec<&str> = runs.all.keys().map(String::as_str).collect();
            self.unknown("figure", &word, names);
        }
        Some((Some(word.text), found?))
    }

    /// Names of schemes that are run.
    pub(super) fn schemes(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        context: &Context,
    ) -> Vec<String> {
        let words = self.words(fields, name);
        for word in &words {
            self.scheme(word, context);
        }
        words.into_iter().map(|word| word.text).collect()
    }

    /// Values of swept settings.
    pub(super) fn at(&mut self, fields: &Fields<'_>, name: &str, context: &Context) -> At {
        let Some(table) = self.table(fields, name) else {
            return At::new();
        };
        let mut at = At::new();
        for (key, _) in table.table.iter() {
            let values = self.axis_key(key, &table.place_of(key), context);
            let words = self.words(&table, key);
            for word in &words {
                let known = values.iter().flat_map(|values| values.iter());
                let known: Vec<&str> = known.map(String::as_str).collect();
                if values.is_some() && !known.contains(&word.text.as_str()) {
                    self.unknown(&format!("value of {key}"), word, known);
                }
            }
            at.push((
                key.to_owned(),
                words.into_iter().map(|word| word.text).collect(),
            ));
        }
        at
    }

    /// The values of a swept setting; none, which is said, if it is not swept.
    pub(super) fn axis_key<'b>(
        &mut self,
        key: &str,
        place: &Range<usize>,
        context: &'b Context,
    ) -> Option<&'b Vec<String>> {
        let found = context.axes.iter().find(|(axis, _)| axis == key);
        if found.is_none() {
            let axes: Vec<&str> = context.axes.iter().map(|(axis, _)| axis.as_str()).collect();
            let word = Word {
                text: key.to_owned(),
                place: place.clone(),
            };
            self.unknown("swept setting", &word, axes);
        }
        found.map(|(_, values)| values)
    }

    pub(super) fn id(&mut self, fields: &Fields<'_>) -> String {
        let id = self.required_text(fields, "id");
        let correct = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !id.chars().all(correct) {
            let expected = "letters, digits and dashes, which can be typed on a command line";
            self.wrong(
                format!("{id:?} cannot be an id"),
                fields.value_place("id"),
                expected,
            );
        }
        id
    }

    pub(super) fn scheme(&mut self, word: &Word, context: &Context) -> bool {
        let known = context.schemes.contains(&word.text);
        if !known {
            let schemes = context.schemes.iter().map(String::as_str);
            self.unknown("scheme in this scenario called", word, schemes);
        }
        known
    }

    fn number_claim(&mut self, fields: &Fields<'_>, common: &Common<'_>) -> Option<Number> {
        let of = self.operand(fields, "of", common);
        let against = self.operand(fields, "against", common);
        if !fields.has("of") {
            self.missing(fields, "of");
        }
        let choices = [
            ("reduction", Compare::Reduction),
            ("increase", Compare::Increase),
            ("ratio", Compare::Ratio),
            ("difference", Compare::Difference),
        ];
        let compare = self.choice(fields, "compare", &choices);
        if fields.has("against") != fields.has("compare") {
            let missing = if fields.has("against") {
                "compare"
            } else {
                "against"
            };
            self.missing(fields, missing);
        }
        let compare = compare.unwrap_or(Compare::Value);
        if !fields.has("paper") {
            self.missing(fields, "paper");
        }
        let is_range = fields.get("paper").is_some_and(Item::is_array);
        let paper = if is_range {
            self.pair(fields, "paper")
        } else {
            self.number(fields, "paper").map(|value| (value, value))
        };
        if paper.is_some_and(|(low, high)| low < high) && fields.has("tolerance") {
            let place = fields.value_place("tolerance");
            let message = "a range has no tolerance".to_owned();
            self.wrong(message, place, "nothing: ours must lie in the range");
        }
        let unit = self
            .text(fields, "unit")
            .map_or_else(String::new, |word| word.text);
        let of = of?;
        let dimension = compare.dimension(of.measure.value_dimension());
        if !of.measure.is_number() {
            let place = fields.value_place("measure");
            self.wrong(
                "a claim needs a number".into(),
                place,
                "a statistic in the measure",
            );
        }
        self.check_unit(fields, &unit, dimension);
        Some(Number {
            rank: self.rank_of_number(fields, common, &of),
            of,
            against,
            compare,
            average: self.average(fields).unwrap_or(Average::Mean),
            of_averages: self.truth(fields, "of_averages"),
            paper: paper?,
            unit,
            tolerance: self.number(fields, "tolerance").unwrap_or(NUMBER_TOLERANCE),
            within: self.level(fields, "within", dimension),
        })
    }

    /// The unit of the paper's number must be one of what is measured.
    fn check_unit(&mut self, fields: &Fields<'_>, unit: &str, dimension: Dimension) {
        if dimension.scale(unit, 1.0).is_some() {
            return;
        }
        if !fields.has("unit") {
            return self.missing(fields, "unit");
        }
        let units: Vec<_> = dimension.units().iter().map(|(name, _)| *name).collect();
        let expected = format!("one of the units {}", units.join(", "));
        let message = format!("{unit:?} is no unit of this number");
        self.wrong(message, fields.value_place("unit"), &expected);
    }

    fn rank_of_number(
        &mut self,
        fields: &Fields<'_>,
        common: &Common<'_>,
        of: &Operand,
    ) -> Option<Rank> {
        let lowest = self.choice(fields, "rank", &[("lowest", true), ("highest", false)])?;
        let (of, among, place) = (of.clone(), self.among(fields, common), 1);
        Some(if lowest {
            Rank::Lowest { of, among, place }
        } else {
            Rank::Highest { of, among, place }
        })
    }

    fn order(&mut self, fields: &Fields<'_>, common: &Common<'_>) -> Option<Order> {
        let kinds = ["lowest", "highest", "sorted"];
        let given: Vec<&str> = kinds.into_iter().filter(|name| fields.has(name)).collect();
        let [kind] = given[..] else {
            let message = "an order has one of lowest, highest and sorted";
            self.wrong(message.into(), fields.place.clone(), "exactly one of them");
            return None;
        };
        let average = self.average(fields);
        let rank = if kind == "sorted" {
            let sorted = self.operands(fields, "sorted", common);
            if sorted.len() < 2 {
                let place = fields.value_place("sorted");
                self.wrong(
                    "an order needs two schemes".into(),
                    place,
                    "a list of schemes",
                );
                return None;
            }
            Rank::Sorted(sorted)
        } else {
            let of = self.operand(fields, kind, common)?;
            let among = self.among(fields, common);
            let place = self.whole(fields, "place").unwrap_or(1).max(1) as usize;
            match kind {
                "lowest" => Rank::Lowest { of, among, place },
                _ => Rank::Highest { of, among, place },
            }
        };
        Some(Order { rank, average })
    }

    /// What one scheme is compared with: those that are named, or all.
    fn among(&mut self, fields: &Fields<'_>, common: &Common<'_>) -> Vec<Operand> {
        if fields.has("among") {
            return self.operands(fields, "among", common);
        }
        let all = common.runs.own.schemes.iter();
        let operands = all.filter_map(|scheme| Some(operand(scheme, common.measure.clone()?)));
        operands.collect()
    }

    fn shape(&mut self, fields: &Fields<'_>, common: &Common<'_>) -> Option<Shape> {
        if !fields.has("shape") {
            self.missing(fields, "shape");
        }
        if !fields.has("of") {
            self.missing(fields, "of");
        }
        let of = self.operands(fields, "of", common);
        let names: Vec<(&str, &str)> = SHAPES.iter().map(|name| (*name, *name)).collect();
        let name = self.choice(fields, "shape", &names)?;
        let dimension = of.first()?.measure.value_dimension();
        let needs_level = ["above", "below", "near", "reaches"].contains(&name);
        let needs_other = ["greater", "less"].contains(&name);
        for (needed, key) in [(needs_level, "level"), (needs_other, "than")] {
            if needed && !fields.has(key) {
                self.missing(fields, key);
            }
        }
        let level = self.level(fields, "level", dimension);
        let than = self.operand(fields, "than", common);
        let factor = self.number(fields, "factor").unwrap_or(1.0);
        let location = self.words(fields, "location").pop().map(|word| word.text);
        let (shape, tolerance) = match name {
            "constant" => (ShapeKind::Constant, 0.2),
            "rising" => (ShapeKind::Rising, 0.05),
            "falling" => (ShapeKind::Falling, 0.05),
            "peak" => (ShapeKind::Peak(location), 0.1),
            "valley" => (ShapeKind::Valley(location), 0.1),
            "above" => (ShapeKind::Above(level?), 0.0),
            "below" => (ShapeKind::Below(level?), 0.0),
            "near" => (ShapeKind::Near(level?), 0.2),
            "reaches" => (ShapeKind::Reaches(level?), 0.01),
            "equal" => (
                ShapeKind::Equal(self.level(fields, "within", dimension)),
                0.2,
            ),
            "greater" => (
                ShapeKind::Greater {
                    than: than?,
                    factor,
                },
                0.0,
            ),
            _ => (
                ShapeKind::Less {
                    than: than?,
                    factor,
                },
                0.0,
            ),
        };
        let x = self.text(fields, "x");
        if let Some(word) = &x {
            self.axis_key(&word.text, &word.place, common.runs.own);
        }
        if of.iter().any(|operand| !operand.measure.is_number()) {
            let place = fields.value_place("measure");
            self.wrong(
                "a claim needs a number".into(),
                place,
                "a statistic in the measure",
            );
        }
        Some(Shape {
            shape,
            of,
            x: x.map(|word| word.text),
            average: self.average(fields),
            tolerance: self.number(fields, "tolerance").unwrap_or(tolerance),
        })
    }

    fn average(&mut self, fields: &Fields<'_>) -> Option<Average> {
        let choices = [
            ("mean", Average::Mean),
            ("min", Average::Min),
            ("max", Average::Max),
            ("sum", Average::Sum),
        ];
        self.choice(fields, "average", &choices)
    }
}

impl Compare {
    /// The dimension of the number that is compared.
    pub(crate) fn dimension(self, measured: Dimension) -> Dimension {
        match self {
            Self::Value | Self::Difference => measured,
            Self::Reduction | Self::Increase => Dimension::Share,
            Self::Ratio => Dimension::Count,
        }
    }
}

/// How far a number may be off unless the claim says otherwise.
const NUMBER_TOLERANCE: f64 = 0.2;

const COMMON: &[&str] = &[
    "id",
    "kind",
    "says",
    "where",
    "measure",
    "at",
    "except",
    "untestable",
    "own",
];
const NUMBER: &[&str] = &[
    "of",
    "against",
    "compare",
    "average",
    "of_averages",
    "paper",
    "unit",
    "tolerance",
    "within",
    "rank",
    "among",
];
const ORDER: &[&str] = &["lowest", "highest", "sorted", "among", "place", "average"];
const SHAPE: &[&str] = &[
    "shape",
    "of",
    "level",
    "than",
    "factor",
    "within",
    "location",
    "x",
    "average",
    "tolerance",
];
const SHAPES: [&str; 12] = [
    "constant", "rising", "falling", "peak", "valley", "above", "below", "near", "reaches",
    "equal", "greater", "less",
];
