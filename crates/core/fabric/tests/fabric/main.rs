//! Networks and ports as a whole.

mod paths;
mod pauses;
mod priorities;
mod shared;
