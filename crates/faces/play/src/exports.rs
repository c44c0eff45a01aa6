//! How a page calls [`call`](crate::call): texts in UTF-8 through memory, without bindings that a tool would have to
//! generate.
//!
//! The page writes a request to where [`alloc`] says, calls [`call`], and reads as many bytes as [`length`] says from
//! where that says. Both texts are kept here until the next request, so nothing is freed by hand.

use std::sync::{Mutex, PoisonError};

static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<String> = Mutex::new(String::new());

/// Where a request of this many bytes goes.
#[expect(unsafe_code, reason = "the page finds the function by its name")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn alloc(bytes: usize) -> *mut u8 {
    let mut request = REQUEST.lock().unwrap_or_else(PoisonError::into_inner);
    request.clear();
    request.resize(bytes, 0);
    request.as_mut_ptr()
}

/// Answers the request that was written, and says where the answer is.
#[expect(unsafe_code, reason = "the page finds the function by its name")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn call() -> *const u8 {
    let request = REQUEST.lock().unwrap_or_else(PoisonError::into_inner);
    let request = String::from_utf8_lossy(&request);
    let mut answer = ANSWER.lock().unwrap_or_else(PoisonError::into_inner);
    *answer = crate::call(&request);
    answer.as_ptr()
}

/// Bytes of the last answer.
#[expect(unsafe_code, reason = "the page finds the function by its name")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn length() -> usize {
    let answer = ANSWER.lock().unwrap_or_else(PoisonError::into_inner);
    answer.len()
}
