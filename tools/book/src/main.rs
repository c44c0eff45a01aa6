//! Builds the documentation as a site, from `book.toml` in the current directory.
//!
//! `docs/SUMMARY.md` lists the pages. mdBook does not report missing inclusions and broken links, so its output is
//! checked here.
//!
//! It is a separate crate so that the other maintenance commands of the repository do not wait for mdBook to be
//! compiled; `cargo xtask book` runs it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints where the site is, or what is wrong with it"
)]

mod links;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use mdbook_driver::MDBook;

/// Build the documentation as a site
#[derive(Parser)]
struct Cli {
    /// Show it in a browser
    #[arg(long)]
    open: bool,
}

fn main() -> ExitCode {
    match build(Cli::parse().open) {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            eprintln!("{}", wrong.join("\n"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the site and lists its errors.
fn build(open: bool) -> Result<Vec<String>> {
    let book = MDBook::load(".")?;
    book.build()?;

    let (source, site) = (book.source_dir(), book.build_dir_for("html"));
    let pages = pages(&site)?;
    let exists = |path: &str| site.join(path).is_file();
    let mut wrong = links::broken(&pages, &exists);
    wrong.extend(holes(&pages));
    wrong.extend(unlisted(&source, &pages)?);
    let index = site.join("index.html");
    println!("{}", index.display());
    if open {
        opener::open(&index).context("no browser opened the site")?;
    }
    Ok(wrong)
}

/// The text of every page, by its path in the site.
fn pages(site: &Path) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    for path in files(site, "html")? {
        // The page for wrong addresses has links relative to the server's root.
        if path == "404.html" {
            continue;
        }
        let file = site.join(&path);
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        pages.insert(path, text);
    }
    Ok(pages)
}

/// Pages with an instruction that mdBook could not follow, such as the inclusion of a missing file.
fn holes(pages: &BTreeMap<String, String>) -> Vec<String> {
    let holes = pages.iter().filter(|(_, text)| text.contains("{{#"));
    holes
        .map(|(page, _)| format!("{page}: an instruction between {{{{# and }}}} has no effect"))
        .collect()
}

/// Sources that are missing in `SUMMARY.md`.
fn unlisted(source: &Path, pages: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let sources = files(source, "md")?.into_iter();
    let unlisted = sources.filter(|path| {
        let page = path.replace(".md", ".html").replace("README", "index");
        path != "SUMMARY.md" && !pages.contains_key(&page)
    });
    Ok(unlisted
        .map(|path| format!("{path}: SUMMARY.md does not name it"))
        .collect())
}

/// Files below `root` that end in `.extension`, as paths from there, sorted.
fn files(root: &Path, extension: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let relative = path.strip_prefix(root).expect("it lies below the root");
                found.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_without_effect_are_found() {
        let pages = [
            ("a.html", "<p>{{#include gone.md}}</p>"),
            ("b.html", "<p>{}</p>"),
        ];
        let pages = pages.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let holes = holes(&pages.into());
        assert_eq!(holes.len(), 1, "{holes:?}");
        assert!(holes[0].starts_with("a.html: "));
    }

    #[test]
    fn sources_that_no_page_shows_are_found() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut pages: BTreeMap<String, String> = files(&source, "md")
            .unwrap()
            .into_iter()
            .map(|path| (path.replace(".md", ".html"), String::new()))
            .collect();
        assert_eq!(unlisted(&source, &pages).unwrap(), [""; 0]);
        pages.remove("architecture.html");
        let expected = ["architecture.md: SUMMARY.md does not name it"];
        assert_eq!(unlisted(&source, &pages).unwrap(), expected);
    }
}
