//! Reads data that may be damaged.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a third-party reader and turns all its failures into errors.
///
/// A damaged or foreign file makes some readers panic. Only such readers are called here, so every panic is an error of
/// the file.
pub fn read<T, E: std::fmt::Display>(reader: impl FnOnce() -> Result<T, E>) -> io::Result<T> {
    READING.set(true);
    let read = catch_unwind(AssertUnwindSafe(reader));
    READING.set(false);
    let damaged = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    match read {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged("its content is inconsistent".to_owned())),
    }
}

/// Whether this thread is in such a reader, so that a panic hook has nothing to report.
pub fn is_reading() -> bool {
    READING.get()
}

thread_local! {
    static READING: Cell<bool> = const { Cell::new(false) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_panics_is_an_error_of_its_file() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !is_reading() {
                hook(panic);
            }
        }));
        let read = |bytes: &[u8]| {
            let first = bytes.to_vec();
            read(move || Ok::<u8, io::Error>(first[0]))
        };
        assert_eq!(read(b"x").unwrap(), b'x');
        let error = read(b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(!is_reading());
    }
}
