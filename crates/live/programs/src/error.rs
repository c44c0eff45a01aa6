//! Why programs do not do what they are to.

/// Why a program cannot be loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The kernel refused.
    #[error("the kernel refuses to {0}: {1}")]
    Refused(&'static str, libbpf_rs::Error),
    /// An object without a part that it must have.
    #[error("the program has no {0}")]
    Lacks(&'static str),
}
