//! The Python in scripts, as far as assertions on `tcp_info` need it: `assert`, assignments, whole numbers, comparisons
//! and `and`, `or`, `not`.

use std::collections::BTreeMap;

/// Variables that are kept between blocks of Python.
#[derive(Clone, Debug, Default)]
pub struct Python {
    variables: BTreeMap<String, i64>,
}

/// The error in a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockProblem {
    /// It has unsupported syntax.
    Unread(String),
    /// Nobody knows this name.
    Unknown(String),
    /// An assertion does not hold.
    False(String),
}

impl Python {
    /// Runs a block; `known` returns the values of names that no assignment has set.
    ///
    /// # Errors
    /// The first statement that is unsupported or does not hold.
    pub fn run(
        &mut self,
        block: &str,
        known: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<(), BlockProblem> {
        for statement in block.split(['\n', ';']) {
            let statement = statement.split('#').next().unwrap_or_default().trim();
            if !statement.is_empty() && !statement.starts_with("print") {
                self.statement(statement, known)?;
            }
        }
        Ok(())
    }

    fn statement(
        &mut self,
        statement: &str,
        known: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<(), BlockProblem> {
        let tokens = tokens(statement)?;
        let mut reader = Expression {
            tokens: &tokens,
            variables: &self.variables,
            known,
        };
        match tokens.as_slice() {
            [Token::Name("assert"), rest @ ..] => {
                reader.tokens = rest;
                let holds = reader.either()?;
                // The text after a comma is the message.
                if !matches!(reader.tokens, [] | [Token::Sign(","), ..]) {
                    return Err(BlockProblem::Unread(statement.to_owned()));
                }
                if holds == 0 {
                    let values = reader.values(rest);
                    return Err(BlockProblem::False(format!("{statement} ({values})")));
                }
                Ok(())
            }
            [
                Token::Name(name),
                Token::Sign(sign @ ("=" | "+=" | "-=")),
                rest @ ..,
            ] => {
                reader.tokens = rest;
                let value = reader.either()?;
                if !reader.tokens.is_empty() {
                    return Err(BlockProblem::Unread(statement.to_owned()));
                }
                let variable = self.variables.entry((*name).to_owned()).or_default();
                *variable = match *sign {
                    "+=" => *variable + value,
                    "-=" => *variable - value,
                    _ => value,
                };
                Ok(())
            }
            _ => Err(BlockProblem::Unread(statement.to_owned())),
        }
    }
}

/// Evaluates one expression of numbers.
///
/// # Errors
/// If it is none.
pub fn evaluate(text: &str) -> Result<i64, BlockProblem> {
    let tokens = tokens(text)?;
    let mut expression = Expression {
        tokens: &tokens,
        variables: &BTreeMap::new(),
        known: &|_| None,
    };
    let value = expression.either()?;
    if expression.tokens.is_empty() {
        Ok(value)
    } else {
        Err(BlockProblem::Unread(text.to_owned()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'t> {
    Number(i64),
    Name(&'t str),
    Sign(&'t str),
    /// A string, which only messages have.
    Text,
}

/// The longer ones first.
const SIGNS: [&str; 19] = [
    "==", "!=", "<=", ">=", "+=", "-=", "//", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")",
    ",", ".",
];

fn tokens(text: &str) -> Result<Vec<Token<'_>>, BlockProblem> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = if first.is_ascii_digit() {
            let end = rest.find(|letter| !word(letter)).unwrap_or(rest.len());
            let number = match rest[..end].strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16),
                None => rest[..end].parse(),
            };
            found.push(Token::Number(
                number.map_err(|_| BlockProblem::Unread(text.to_owned()))?,
            ));
            end
        } else if word(first) {
            let end = rest.find(|letter| !word(letter)).unwrap_or(rest.len());
            found.push(Token::Name(&rest[..end]));
            end
        } else if first == '\'' || first == '"' {
            let end = rest[1..].find(first);
            found.push(Token::Text);
            end.ok_or_else(|| BlockProblem::Unread(text.to_owned()))? + 2
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| BlockProblem::Unread(text.to_owned()))?;
            found.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[end..].trim_start();
    }
    Ok(found)
}

/// An expression, parsed from left to right with the precedence of Python.
struct Expression<'e> {
    tokens: &'e [Token<'e>],
    variables: &'e BTreeMap<String, i64>,
    known: &'e dyn Fn(&str) -> Option<i64>,
}

impl Expression<'_> {
    fn either(&mut self) -> Result<i64, BlockProblem> {
        let mut value = self.both()?;
        while self.takes(&Token::Name("or")) {
            let other = self.both()?;
            value = i64::from(value != 0 || other != 0);
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<i64, BlockProblem> {
        let mut value = self.negation()?;
        while self.takes(&Token::Name("and")) {
            let other = self.negation()?;
            value = i64::from(value != 0 && other != 0);
        }
        Ok(value)
    }

    fn negation(&mut self) -> Result<i64, BlockProblem> {
        if self.takes(&Token::Name("not")) {
            return Ok(i64::from(self.negation()? == 0));
        }
        self.comparison()
    }

    /// `a <= b <= c` holds if both comparisons do.
    fn comparison(&mut self) -> Result<i64, BlockProblem> {
        let mut left = self.sum()?;
        let mut holds = None;
        while let Some(Token::Sign(sign @ ("==" | "!=" | "<=" | ">=" | "<" | ">"))) =
            self.tokens.first()
        {
            self.tokens = &self.tokens[1..];
            let right = self.sum()?;
            let compared = match *sign {
                "==" => left == right,
                "!=" => left != right,
                "<=" => left <= right,
                ">=" => left >= right,
                "<" => left < right,
                _ => left > right,
            };
            holds = Some(holds.unwrap_or(true) && compared);
            left = right;
        }
        Ok(holds.map_or(left, i64::from))
    }

    fn sum(&mut self) -> Result<i64, BlockProblem> {
        let mut value = self.product()?;
        loop {
            if self.takes(&Token::Sign("+")) {
                value += self.product()?;
            } else if self.takes(&Token::Sign("-")) {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<i64, BlockProblem> {
        let mut value = self.atom()?;
        loop {
            if self.takes(&Token::Sign("*")) {
                value *= self.atom()?;
            } else if self.takes(&Token::Sign("/")) || self.takes(&Token::Sign("//")) {
                let divisor = self.atom()?;
                let quotient = value.checked_div_euclid(divisor);
                value = quotient
                    .ok_or_else(|| BlockProblem::Unread("a division by zero".to_owned()))?;
            } else {
                return Ok(value);
            }
        }
    }

    fn atom(&mut self) -> Result<i64, BlockProblem> {
        let Some((first, rest)) = self.tokens.split_first() else {
            return Err(BlockProblem::Unread(
                "an expression ends too early".to_owned(),
            ));
        };
        self.tokens = rest;
        match first {
            Token::Number(value) => Ok(*value),
            Token::Name(name) => self
                .value(name)
                .ok_or_else(|| BlockProblem::Unknown((*name).to_owned())),
            Token::Sign("-") => Ok(-self.atom()?),
            Token::Sign("(") => {
                let value = self.either()?;
                if self.takes(&Token::Sign(")")) {
                    Ok(value)
                } else {
                    Err(BlockProblem::Unread("a bracket is not closed".to_owned()))
                }
            }
            Token::Sign(_) | Token::Text => {
                Err(BlockProblem::Unread(format!("{first:?} is no number")))
            }
        }
    }

    fn takes(&mut self, token: &Token<'_>) -> bool {
        let found = self.tokens.first() == Some(token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn value(&self, name: &str) -> Option<i64> {
        self.variables
            .get(name)
            .copied()
            .or_else(|| (self.known)(name))
    }

    /// The names of an expression with their values.
    fn values(&self, tokens: &[Token<'_>]) -> String {
        let mut seen = BTreeMap::new();
        for token in tokens {
            if let Token::Name(name) = token
                && let Some(value) = self.value(name)
            {
                seen.insert(*name, value);
            }
        }
        let told = seen.iter().map(|(name, value)| format!("{name} = {value}"));
        told.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(block: &str) -> Result<(), BlockProblem> {
        let known = |name: &str| (name == "tcpi_snd_cwnd").then_some(10);
        Python::default().run(block, &known)
    }

    #[test]
    fn assertions_hold_or_tell_the_values() {
        assert_eq!(
            run("assert tcpi_snd_cwnd == 10, 'is %d' % tcpi_snd_cwnd"),
            Ok(())
        );
        assert_eq!(
            run("assert tcpi_snd_cwnd == 9"),
            Err(BlockProblem::False(
                "assert tcpi_snd_cwnd == 9 (tcpi_snd_cwnd = 10)".to_owned()
            ))
        );
        assert_eq!(run("assert 9 <= tcpi_snd_cwnd < 11 and not 1 > 2"), Ok(()));
        assert!(run("assert 9 <= tcpi_snd_cwnd < 10 or 1 > 2").is_err());
    }

    #[test]
    fn variables_outlast_a_block_and_comments_and_prints_are_passed_over() {
        let mut python = Python::default();
        let none = |_: &str| None;
        python.run("x = 2 * (3 + 4) # fourteen", &none).unwrap();
        python
            .run("print(x); x += 0x10\nx -= 30 / 2", &none)
            .unwrap();
        assert_eq!(python.run("assert x == 15", &none), Ok(()));
        assert_eq!(
            python.run("assert y == 1", &none),
            Err(BlockProblem::Unknown("y".to_owned()))
        );
    }

    #[test]
    fn other_python_is_not_read() {
        for block in [
            "if x:",
            "assert 1 1",
            "x = (1",
            "x = 1 $ 2",
            "assert 'x'",
            "x = 1/0",
        ] {
            assert!(
                matches!(run(block), Err(BlockProblem::Unread(_))),
                "{block}"
            );
        }
        assert_eq!(evaluate("15*1024*1024"), Ok(15 << 20));
        assert!(evaluate("1 1").is_err());
    }
}
