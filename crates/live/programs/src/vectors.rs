//! The laws in the kernel, for one vector of arguments at a time.

use libbpf_rs::{Object, ProgramInput};

use crate::LoadError;
use crate::port::load;

/// Every law, loaded to be called.
pub struct Vectors {
    object: Object,
}

/// `struct vector` of `bpf/vectors.bpf.c` in words of four bytes: arguments of HSCC and RWNDQ, and the results of the laws.
pub type Vector = [u32; 58];

/// `struct grant_vector` of `bpf/vectors.bpf.c`: the same of marks and of grants.
pub type GrantVector = [u32; 52];

impl Vectors {
    /// Loads them.
    pub fn load() -> Result<Self, LoadError> {
        let object = load(OBJECT)?;
        Ok(Self { object })
    }

    /// Calls HSCC and RWNDQ once.
    pub fn run(&self, vector: &mut Vector) -> Result<(), LoadError> {
        self.call("run", vector)
    }

    /// Calls marks and grants once.
    pub fn run_grants(&self, vector: &mut GrantVector) -> Result<(), LoadError> {
        self.call("run_grants", vector)
    }

    fn call(&self, name: &str, vector: &mut [u32]) -> Result<(), LoadError> {
        let mut memory: Vec<u8> = vector.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let mut programs = self.object.progs_mut();
        let program = programs.find(|program| program.name() == name);
        let program = program.ok_or(LoadError::Lacks("program"))?;
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
