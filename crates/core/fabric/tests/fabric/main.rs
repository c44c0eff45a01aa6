//! Networks and ports as a whole.

mod paths;
mod priorities;
mod shared;
