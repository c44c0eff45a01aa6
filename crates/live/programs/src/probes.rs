//! Probes of the kernel: each feature is tried with the smallest program that needs it.

use libbpf_rs::{Object, ProgramInput};

use crate::error::LoadError;
use crate::port::load;

/// Whether a program may loop, as the parser of options does.
pub fn loops() -> Result<bool, LoadError> {
    Ok(returned(&load(LOOP)?)? == DONE)
}

/// Whether a program can hand events to its user.
pub fn has_ring_buffer() -> Result<bool, LoadError> {
    Ok(returned(&load(RING)?)? == DONE)
}

/// Passes `calls` values from a struct of functions to the kernel. Returns how many arrive changed.
pub fn wrong_returns(calls: u32) -> Result<u32, LoadError> {
    let object = load(RETURNS)?;
    let mut programs = object.progs_mut();
    let program = programs.next().ok_or(LoadError::Lacks("program"))?;
    let mut wrong = 0;
    for call in 0..calls {
        // Spread over all values of four bytes.
        let value = call.wrapping_mul(2_654_435_761);
        let mut state = value.to_ne_bytes();
        // The kernel copies the state from this address, and back to it.
        let address = state.as_mut_ptr().expose_provenance() as u64;
        let mut arguments = address.to_ne_bytes();
        let input = ProgramInput {
            context_in: Some(&mut arguments),
            ..ProgramInput::default()
        };
        let ran = program.test_run(input);
        let ran = ran.map_err(|error| LoadError::Refused("call a function", error))?;
        wrong += u32::from(ran.return_value != value);
    }
    Ok(wrong)
}

/// The return value of the only program of an object.
fn returned(object: &Object) -> Result<u32, LoadError> {
    let mut programs = object.progs_mut();
    let program = programs.next().ok_or(LoadError::Lacks("program"))?;
    let ran = program.test_run(ProgramInput::default());
    let ran = ran.map_err(|error| LoadError::Refused("run a program", error))?;
    Ok(ran.return_value)
}

/// The return value of a successful probe.
const DONE: u32 = 100;

const LOOP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe_loop.o"));
const RING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe_ring.o"));
const RETURNS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe_returns.o"));
