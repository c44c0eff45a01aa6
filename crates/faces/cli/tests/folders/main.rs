//! Run folders through the real command: their contents, and that interruptions of a sweep do not change them.

#[cfg(unix)]
mod arrays;
mod bounds;
mod columns;
mod damage;
#[cfg(unix)]
mod ended;
mod failures;
mod flow_traces;
mod goals;
mod harmless;
mod imports;
mod memory;
#[cfg(unix)]
mod outputs;
mod races;
mod reproduce;
mod resume;
mod rounds;
mod shards;
#[cfg(unix)]
mod survival;
mod ties;
mod twins;
mod until;
mod workspace;
