//! Papers beside their reproductions: the drawings, and the page around them.

#[path = "../support/browser.rs"]
mod browser;
mod judgement;
mod page;
mod panels;
#[path = "../support/run.rs"]
mod run;
