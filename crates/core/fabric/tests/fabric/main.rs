//! Networks and ports as a whole.

mod faults;
mod paths;
mod pauses;
mod priorities;
mod shared;
