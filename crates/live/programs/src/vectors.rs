//! The laws in the kernel, for one vector of arguments at a time.

use libbpf_rs::{Object, ProgramInput};

use crate::LoadError;
use crate::port::load;

/// Every law, loaded to be called.
pub struct Vectors {
    object: Object,
}

/// `struct vector` of `bpf/vectors.bpf.c` in words of four bytes: arguments, and the results of the laws.
pub type Vector = [u32; WORDS];

const WORDS: usize = 58;

impl Vectors {
    /// Loads them.
    pub fn load() -> Result<Self, LoadError> {
        let object = load(OBJECT)?;
        Ok(Self { object })
    }

    /// Calls every law once.
    pub fn run(&self, vector: &mut Vector) -> Result<(), LoadError> {
        let mut memory: Vec<u8> = vector.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let mut programs = self.object.progs_mut();
        let program = programs.next().ok_or(LoadError::Lacks("program"))?;
        let input = ProgramInput {
            context_in: Some(&mut memory),
            ..ProgramInput::default()
        };
        let ran = program.test_run(input);
        ran.map_err(|error| LoadError::Refused("run a program", error))?;
        for (word, bytes) in vector.iter_mut().zip(memory.as_chunks().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        Ok(())
    }
}

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vectors.o"));
