//! Why programs cannot be used.

/// Why a program cannot be loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The kernel refused.
    #[error("the kernel refuses to {0}: {1}")]
    Refused(&'static str, libbpf_rs::Error),
    /// The object lacks this required part.
    #[error("the program has no {0}")]
    Lacks(&'static str),
}
