//! The page that simulates.
//!
//! [`call`] is the program inside the page: it takes a request and gives the answer, the table and the charts of a run as
//! parts of a page, from the functions that the command and its report call, so that every number is theirs, digit by
//! digit. It is compiled for WebAssembly, where `exports` hands it texts through memory. `page` makes the page around it,
//! one file that needs no other.
//!
//! ```
//! let request = r#"{"run": {"name": "small", "text": "schemes = [\"dctcp\"]\nworkload.senders = 4\n"}}"#;
//! let answer: serde_json::Value = serde_json::from_str(&play::call(request))?;
//! assert_eq!(answer["digests"][0]["scheme"], "dctcp");
//! assert!(answer["table"].as_str().is_some_and(|table| table.contains("Goodput")));
//! # Ok::<(), serde_json::Error>(())
//! ```

#[cfg(not(target_family = "wasm"))]
mod description;
#[cfg(target_family = "wasm")]
mod exports;
mod fault;
#[cfg(not(target_family = "wasm"))]
mod ladder;
#[cfg(not(target_family = "wasm"))]
mod lecture;
#[cfg(not(target_family = "wasm"))]
mod page;
#[cfg(not(target_family = "wasm"))]
mod panel;
#[cfg(test)]
mod program;
mod request;
mod run;

use serde_json::json;

#[cfg(not(target_family = "wasm"))]
pub use lecture::{Lecture, SceneStep, lectures};
#[cfg(not(target_family = "wasm"))]
pub use page::{Opened, PROGRAM_VERSION, page};
#[cfg(not(target_family = "wasm"))]
pub use panel::PaperPanel;
pub use request::{PageRequest, PageTask, Panel};

/// The answer of the page to a request, both as JSON.
pub fn call(request: &str) -> String {
    let answer = match serde_json::from_str(request) {
        Ok(PageTask::Run(request)) => run::run(&request),
        Ok(PageTask::Play(request)) => run::play(&request),
        Ok(PageTask::Draw { run, panel }) => run::draw(&run, &panel),
        Ok(PageTask::Version) => json!({ "version": sim::VERSION }),
        Err(error) => json!({ "problems": [{ "message": format!("no request: {error}") }] }),
    };
    answer.to_string()
}
