//! The C of the laws against their formulas, and its build.

mod grant;
mod hscc;
mod idle;
mod native;
mod rwndq;
