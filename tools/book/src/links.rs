//! Broken links within the site.

use std::collections::{BTreeMap, BTreeSet};

/// Links of `pages`, by path in the site, to missing files and to missing anchors on the page. Links to other sites are
/// not checked, because a check must not depend on the network.
pub(super) fn broken(
    pages: &BTreeMap<String, String>,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let ids: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|(page, text)| (page.as_str(), attributes(text, "id").collect()))
        .collect();
    let mut broken = Vec::new();
    for (page, text) in pages {
        for link in attributes(text, "href").chain(attributes(text, "src")) {
            // A link with a scheme, such as https: or data:, leaves the site.
            if link
                .split('/')
                .next()
                .is_some_and(|head| head.contains(':'))
            {
                continue;
            }
            let (path, id) = link.split_once('#').unwrap_or((link, ""));
            let target = resolve(page, path);
            let found = match ids.get(target.as_str()) {
                Some(ids) => id.is_empty() || ids.contains(id),
                None => exists(&target),
            };
            if !found {
                broken.push(format!("{page}: the link to {link} leads nowhere"));
            }
        }
    }
    broken
}

/// The values of an attribute in all tags of an HTML text.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {name}=\"");
    // Text has no bare `<`, so each one begins a tag.
    html.split('<').skip(1).filter_map(move |tag| {
        let tag = tag.split('>').next()?;
        tag.split_once(&start)?.1.split('"').next()
    })
}

/// The path in the site to which `link` leads on `page`; an empty link leads to the page itself.
fn resolve(page: &str, link: &str) -> String {
    if link.is_empty() {
        return page.to_owned();
    }
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_missing_files_and_places_are_found() {
        let pages = [
            (
                "guide/a.html",
                r##"<a class="x" href="../b.html#there">1</a> <a href="#top">2</a>
                    <a href="../b.html#gone">3</a> <img src="images/a.png"/> <img src="c.png"/>
                    <a href="https://example.org/">4</a> <a href="d.html">5</a> href="e.html""##,
            ),
            (
                "b.html",
                r#"<h1 id="there">B</h1> <a href="guide/a.html">6</a>"#,
            ),
        ];
        let pages = pages.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let exists = |path: &str| path == "guide/images/a.png";
        let expected = ["#top", "../b.html#gone", "d.html", "c.png"];
        let expected =
            expected.map(|link| format!("guide/a.html: the link to {link} leads nowhere"));
        assert_eq!(broken(&pages.into(), &exists), expected);
    }
}
