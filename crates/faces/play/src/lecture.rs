//! Scenes for lectures: steps of settings, each with a sentence about what the run shows.

use serde::{Deserialize, Serialize};

/// One scene.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lecture {
    /// Its subject, in a few words.
    pub title: String,
    /// The scenario that its steps change.
    pub scenario: String,
    /// Its steps, one after the other.
    pub steps: Vec<SceneStep>,
}

/// One step of a scene.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneStep {
    /// The sentence about the run.
    pub says: String,
    /// The schemes of the run.
    pub schemes: Vec<String>,
    /// Its settings.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// The sentence as goals; the run of every scheme meets each, as tests assert.
    pub holds: Vec<String>,
}

/// The scenes that come with a page.
///
/// # Panics
/// If their file is wrong; a test reads it.
pub fn lectures() -> Vec<Lecture> {
    #[derive(Deserialize)]
    struct File {
        lecture: Vec<Lecture>,
    }
    let file: File = toml::from_str(include_str!("../lectures.toml")).expect("the file is correct");
    file.lecture
}

#[cfg(test)]
mod tests {
    use scenario::BUILTINS;
    use serde_json::Value;

    use super::*;
    use crate::request::PageRequest;
    use crate::run;

    #[test]
    fn every_sentence_of_a_lecture_holds_on_its_run() {
        let mut wrong = Vec::new();
        for lecture in lectures() {
            let builtin = BUILTINS.iter().find(|one| one.name == lecture.scenario);
            let text = builtin.expect("a built-in scenario").text;
            for step in &lecture.steps {
                assert!(!step.holds.is_empty(), "{}: nothing is asserted", step.says);
                let answer = run::run(&PageRequest {
                    name: lecture.scenario.clone(),
                    text: text.to_owned(),
                    schemes: step.schemes.clone(),
                    sets: step.set.clone(),
                    seed: Some(1),
                    goals: step.holds.clone(),
                    ..PageRequest::default()
                });
                if answer["goals_met"] != Value::Bool(true) {
                    let told = answer["sentences"].to_string();
                    wrong.push(format!("{}\n  {told} {}", step.says, answer["problems"]));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
