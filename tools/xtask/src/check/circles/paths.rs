//! The paths in a Rust file, read from its tokens.
//!
//! Tokens are enough: they contain no comments, a path is a sequence of names with `::` in between, and only the braces
//! of a `use` contain several paths with a common beginning.

use std::collections::BTreeMap;
use std::str::FromStr;

use proc_macro2::{LexError, TokenStream, TokenTree};

/// A path, name by name.
pub(super) type Path = Vec<String>;

/// The paths in a file, relative to the module of the file.
#[derive(Default, Debug)]
pub(super) struct Paths {
    /// Every path in it, including those of its imports.
    pub(super) used: Vec<Path>,
    /// The meaning of each name that it imports.
    pub(super) named: BTreeMap<String, Path>,
}

/// The paths of a file, without those of its tests.
pub(super) fn read(text: &str) -> Result<Paths, LexError> {
    let mut paths = Paths::default();
    walk(TokenStream::from_str(text)?, 0, &mut paths);
    Ok(paths)
}

/// Reads tokens that are in this many nested modules of the file.
fn walk(tokens: TokenStream, depth: usize, paths: &mut Paths) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        let length = match first {
            _ if is_test(rest) => item(rest),
            TokenTree::Ident(word) if word == "use" => {
                let length = item(rest);
                let mut found = Vec::new();
                branches(&rest[1..length], &[], &mut found);
                for (path, name) in found {
                    let Some(path) = from_file(path, depth) else {
                        continue;
                    };
                    paths.used.push(path.clone());
                    if depth == 0 {
                        paths.named.insert(name, path);
                    }
                }
                length
            }
            TokenTree::Ident(word) if word == "mod" => {
                if let Some(TokenTree::Group(body)) = rest.get(2) {
                    walk(body.stream(), depth + 1, paths);
                }
                3.min(rest.len())
            }
            TokenTree::Ident(_) => {
                let (path, length) = path(rest);
                if path.len() > 1 {
                    paths.used.extend(from_file(path, depth));
                }
                length
            }
            TokenTree::Group(group) => {
                walk(group.stream(), depth, paths);
                1
            }
            _ => 1,
        };
        rest = &rest[length..];
    }
}

/// Whether the next item is only for tests: `#[cfg(test)]`.
fn is_test(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = tokens else {
        return false;
    };
    hash.as_char() == '#' && attribute.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The tokens up to the end of an item: a semicolon, or braces that are not those of an import.
fn item(tokens: &[TokenTree]) -> usize {
    let is_end = |(place, token): (usize, &TokenTree)| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => {
            let before = place.checked_sub(1).map(|before| &tokens[before]);
            group.delimiter() == proc_macro2::Delimiter::Brace && !before.is_some_and(is_colon)
        }
        _ => false,
    };
    let end = tokens.iter().enumerate().position(is_end);
    end.map_or(tokens.len(), |end| end + 1)
}

/// The names at the beginning of `tokens` with `::` in between, and their number of tokens.
fn path(tokens: &[TokenTree]) -> (Path, usize) {
    let mut path = Path::new();
    let mut length = 0;
    while let Some(TokenTree::Ident(word)) = tokens.get(length) {
        path.push(word.to_string());
        length += 1;
        if !tokens[length..].iter().take(2).all(is_colon) || tokens.len() < length + 3 {
            break;
        }
        length += 2;
    }
    (path, length)
}

/// The paths of a `use` after `before`, each with its name here.
fn branches(tokens: &[TokenTree], before: &[String], found: &mut Vec<(Path, String)>) {
    for branch in tokens.split(is_comma) {
        let (names, length) = path(branch);
        let mut whole = before.to_vec();
        whole.extend(names);
        match &branch[length..] {
            [TokenTree::Group(group), ..] => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                branches(&inner, &whole, found);
            }
            [TokenTree::Ident(_), TokenTree::Ident(name), ..] => {
                found.push((whole, name.to_string()));
            }
            _ => {
                // `a::{self}` names `a`.
                if whole.len() > 1 && whole.last().is_some_and(|last| last == "self") {
                    whole.pop();
                }
                if let Some(name) = whole.last().cloned() {
                    found.push((whole, name));
                }
            }
        }
    }
}

/// A path of a nested module as a path of the file; `None` if it stays within the file.
fn from_file(mut path: Path, depth: usize) -> Option<Path> {
    let above = path.iter().take_while(|part| *part == "super").count();
    let is_absolute = path.first().is_some_and(|first| first == "crate");
    if depth == 0 || is_absolute {
        return Some(path);
    }
    (above > depth).then(|| path.split_off(depth))
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}
