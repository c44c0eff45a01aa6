//! Papers beside their reproductions: what is drawn, and the page around it.

#[path = "../support/browser.rs"]
mod browser;
mod judgement;
mod page;
mod panels;
#[path = "../support/run.rs"]
mod run;
