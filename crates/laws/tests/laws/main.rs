//! The C of the laws against their formulas, and its build.

mod hscc;
mod idle;
mod native;
mod rwndq;
