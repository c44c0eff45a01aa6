//! The contents of each paper by its own numbers, with their states, in the form of the page.

use serde::Deserialize;

use super::escape::escape;

/// The list beside the file of a paper, which `claims` checks.
#[derive(Deserialize)]
struct Contents {
    item: Vec<Item>,
}

/// A figure, table, equation or algorithm; one of its states is set.
#[derive(Deserialize)]
struct Item {
    name: String,
    title: String,
    judged: Option<Vec<String>>,
    defined: Option<String>,
    diagram: Option<String>,
    untestable: Option<String>,
    unread: Option<String>,
}

impl Item {
    /// Its state, with links to those figures of this `paper` that are `shown` on the page: some figures have runs for
    /// another paper's claims, and no claims of their own.
    fn state(&self, paper: &str, shown: &[&str]) -> String {
        if let Some(figures) = &self.judged {
            let link = |figure: &String| {
                if shown.contains(&format!("{paper}/{figure}").as_str()) {
                    format!("[{figure}](#{paper}{figure})")
                } else {
                    figure.clone()
                }
            };
            let links: Vec<String> = figures.iter().map(link).collect();
            return format!("judged in {}", links.join(", "));
        }
        let others = [
            ("defined in ", &self.defined),
            ("a diagram; ", &self.diagram),
            ("not testable: ", &self.untestable),
            ("a reader of the paper is wanted: ", &self.unread),
        ];
        let said = others.map(|(word, text)| text.as_ref().map(|text| format!("{word}{text}")));
        escape(&said.into_iter().flatten().collect::<String>())
    }
}

/// The folded table of a paper from the text of its list, on a page with these figures; empty if the text is no such
/// list.
pub(super) fn table(paper: &str, text: &str, shown: &[&str]) -> String {
    let Ok(contents) = toml::from_str::<Contents>(text) else {
        return String::new();
    };
    let rows = contents.item.iter().map(|item| {
        let (name, title) = (escape(&item.name), escape(&item.title));
        format!("| {name} | {title} | {} |\n", item.state(paper, shown))
    });
    let rows: String = rows.collect();
    format!(
        "\n<details><summary>Every figure, table, equation and algorithm, and its state</summary>\n\n\
         | of the paper | subject | here |\n|---|---|---|\n{rows}\n</details>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_a_line_with_its_state() {
        let table = table(
            "rcc",
            "last_figure = 2\n[[item]]\nname = \"Fig. 1\"\ntitle = \"A | b\"\ndiagram = \"no results\"\n\
             [[item]]\nname = \"Fig. 2\"\ntitle = \"Queues\"\njudged = [\"fig2\", \"fig3\"]\n",
            &["rcc/fig2"],
        );
        let unread = "last_equation = 0\n[[item]]\nname = \"Eqs.\"\ntitle = \"All\"\nunread = \"their numbers\"\n";
        let wanted = "| Eqs. | All | a reader of the paper is wanted: their numbers |\n";
        assert!(super::table("rdtcp", unread, &[]).contains(wanted));
        assert!(
            table.contains("| Fig. 1 | A \\| b | a diagram; no results |\n"),
            "{table}"
        );
        let judged = "| Fig. 2 | Queues | judged in [fig2](#rccfig2), fig3 |\n";
        assert!(table.contains(judged), "{table}");
        assert_eq!(super::table("rcc", "", &[]), "");
    }
}
