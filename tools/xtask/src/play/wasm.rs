//! The program of pages as WebAssembly: the crates in it, and the file without their names.

use std::collections::BTreeMap;

/// Bytes of code by crate, the most first, and the bytes of data. A generic function counts for the crate that declares it,
/// whatever its types are. `None` if `program` is no program with names.
pub(super) fn sizes(program: &[u8]) -> Option<Vec<(String, usize)>> {
    let (mut imported, mut bodies, mut names, mut data) = (0, Vec::new(), BTreeMap::new(), 0);
    let mut rest = program.get(HEADER..)?;
    while let [kind, behind @ ..] = rest {
        let (mut section, behind) = Reader(behind).section()?;
        rest = behind;
        match *kind {
            CUSTOM if section.text()? == "name" => names = section.names()?,
            IMPORTS => imported = section.number()?,
            CODE => {
                for _ in 0..section.number()? {
                    let (body, behind) = section.section()?;
                    bodies.push(body.0.len());
                    section = Reader(behind);
                }
            }
            DATA => data = section.0.len(),
            _ => {}
        }
    }
    let mut by_crate: BTreeMap<String, usize> = BTreeMap::new();
    for (place, bytes) in bodies.into_iter().enumerate() {
        let name = names.get(&(imported + place)).map_or("", String::as_str);
        *by_crate.entry(crate_of(name).to_owned()).or_default() += bytes;
    }
    let mut sizes: Vec<(String, usize)> = by_crate.into_iter().collect();
    sizes.push(("data".to_owned(), data));
    sizes.sort_by_key(|(name, bytes)| (std::cmp::Reverse(*bytes), name.clone()));
    Some(sizes)
}

/// The crate in the symbol of a function: the first name in it that is one. C has no crates.
fn crate_of(symbol: &str) -> &str {
    let Some(path) = symbol.strip_prefix("_ZN") else {
        return if symbol.starts_with("_R") { "std" } else { "C" };
    };
    // The length of the first part and its text, which escapes what is no letter: `_$LT$sim..world..Out$u20$as...`.
    let digits = path.find(|letter: char| !letter.is_ascii_digit());
    let (length, text) = path.split_at(digits.unwrap_or_default());
    let part = length
        .parse()
        .ok()
        .and_then(|length: usize| text.get(..length));
    let mut part = part.unwrap_or_default();
    for escape in ["_$LT$", "$RF$", "mut$u20$", "$LP$", "$u5b$"] {
        part = part.strip_prefix(escape).unwrap_or(part);
    }
    let is_name =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let end = part.find(|letter: char| !is_name(letter));
    match &part[..end.unwrap_or(part.len())] {
        "" | "core" | "alloc" | "std" => "std",
        name => name,
    }
}

/// A program without the sections that are for people, such as names of functions; none if it is no program.
pub(super) fn without_names(program: &[u8]) -> Option<Vec<u8>> {
    let mut small = program.get(..HEADER)?.to_vec();
    let mut rest = &program[HEADER..];
    while let [kind, behind @ ..] = rest {
        let (length, digits) = leb128(behind)?;
        let whole = rest.get(..1 + digits + length)?;
        if *kind != CUSTOM {
            small.extend(whole);
        }
        rest = &rest[whole.len()..];
    }
    Some(small)
}

/// A number in LEB128, and how many bytes it takes.
fn leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((number, place + 1));
        }
    }
    None
}

/// The bytes that are left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<usize> {
        let (number, digits) = leb128(self.0)?;
        self.0 = &self.0[digits..];
        Some(number)
    }

    /// The bytes that the next number counts, and those behind them.
    fn section(&mut self) -> Option<(Self, &'a [u8])> {
        let length = self.number()?;
        let (own, behind) = self.0.split_at_checked(length)?;
        Some((Self(own), behind))
    }

    fn text(&mut self) -> Option<&'a str> {
        let (own, behind) = self.section()?;
        self.0 = behind;
        std::str::from_utf8(own.0).ok()
    }

    /// Names of functions by their numbers (WebAssembly Core, appendix "Custom Sections").
    fn names(&mut self) -> Option<BTreeMap<usize, String>> {
        while let [kind, behind @ ..] = self.0 {
            let (mut own, behind) = Self(behind).section()?;
            if *kind == FUNCTIONS {
                let count = own.number()?;
                let name = |_| Some((own.number()?, own.text()?.to_owned()));
                return (0..count).map(name).collect();
            }
            self.0 = behind;
        }
        None
    }
}

/// The magic number and the version of the format (WebAssembly Core §5.5.16).
const HEADER: usize = 8;
/// Kinds of sections (WebAssembly Core §5.5.2). A program does not need the first.
const CUSTOM: u8 = 0;
const IMPORTS: u8 = 2;
const CODE: u8 = 10;
const DATA: u8 = 11;
/// The kind of the part of names that is about functions.
const FUNCTIONS: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_counts_for_the_crate_in_its_symbol() {
        for (symbol, name) in [
            ("_ZN3sim3run8simulate17h2b9fcf116e3a8b3bE", "sim"),
            (
                "_ZN63_$LT$sim..breakdown..Follower$u20$as$u20$sim..probe..Follow$GT$7on_send17h66E",
                "sim",
            ),
            ("_ZN4core5slice4sort8unstable17h12E", "std"),
            (
                "_ZN49_$LT$$u5b$T$u5d$$u20$as$u20$base..order..Sort$GT$5order17h1bE",
                "std",
            ),
            (
                "_ZN48_$LT$$RF$mut$u20$serde_json..ser..Serializer$GT$9serialize17h0E",
                "serde_json",
            ),
            ("_RNvNtCsdHhIpgkcIfN_4core3fmt5write", "std"),
            ("dlmalloc", "C"),
        ] {
            assert_eq!(crate_of(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn sections_for_people_are_left_out_and_others_stay() {
        let header = b"\0asm\x01\0\0\0";
        let program = [&header[..], b"\x01\x02ab", b"\x00\x83\x00xyz", b"\x0a\x01c"].concat();
        let small = [&header[..], b"\x01\x02ab", b"\x0a\x01c"].concat();
        assert_eq!(without_names(&program), Some(small));
        assert_eq!(without_names(&program[..10]), None);
    }
}
