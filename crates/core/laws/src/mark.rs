//! The face of `c/mark.h`.

use crate::Loadable;
use crate::memory::bytes;

/// Congestion marks at one port.
#[derive(Clone, Debug)]
pub struct Mark {
    params: Params,
}

impl Mark {
    /// Marks capable packets that find this many bytes waiting.
    pub const fn new(from_bytes: u64) -> Self {
        Self {
            params: Params { from_bytes },
        }
    }

    /// Whether a capable packet is marked that finds this many bytes waiting.
    pub fn marks(&self, qlen_bytes: u64) -> bool {
        laws_mark_marks(&self.params, qlen_bytes) != 0
    }

    /// This law with its program, whose map holds the settings alone.
    pub fn loadable(&self) -> Loadable {
        Loadable::of_settings("mark", self.params.from_bytes.to_ne_bytes().to_vec())
    }

    /// The port that the map of [`loadable`](Self::loadable) holds; `None` if something is missing.
    pub fn of_map(memory: &[u8]) -> Option<Self> {
        bytes(memory, 0).map(u64::from_ne_bytes).map(Self::new)
    }
}

impl Loadable {
    /// Marks capable packets that find this many bytes waiting.
    pub fn mark(from_bytes: u64) -> Self {
        Mark::new(from_bytes).loadable()
    }
}

/// `struct mark_params`.
#[derive(Clone, Debug)]
#[repr(C)]
struct Params {
    from_bytes: u64,
}

const _: () = assert!(size_of::<Params>() == 8);

#[expect(unsafe_code, reason = "the law is C, so that a kernel runs it too")]
// SAFETY: the declaration is that of `c/laws.c`; the struct has the same only field, its size asserted on both sides. The
// function reads the struct and nothing else, never keeps a pointer, and is defined for every value of every argument.
unsafe extern "C" {
    safe fn laws_mark_marks(params: &Params, qlen_bytes: u64) -> u32;
}
