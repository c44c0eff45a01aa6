//! Run folders: their contents, and what happens when something fails or is damaged.

mod damage;
mod failures;
mod tables;
