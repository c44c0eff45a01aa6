//! Papers beside their reproductions: what is drawn, and the page around it.

mod judgement;
mod page;
mod panels;
#[path = "../support/run.rs"]
mod run;
