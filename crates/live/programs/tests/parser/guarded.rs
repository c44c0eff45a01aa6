//! Memory between two inaccessible pages: reading one byte beside it ends the program.

#![expect(unsafe_code, reason = "pages with other rights have no safe face")]

use std::ptr::null_mut;
use std::slice;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use rustix::param::page_size;

pub(crate) struct Guarded {
    page: &'static mut [u8],
}

impl Guarded {
    pub(crate) fn new() -> Self {
        let page = page_size();
        let rights = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: three new pages, which stay for good; the one in the middle gets its rights before it is used.
        let middle = unsafe {
            let pages = mmap_anonymous(null_mut(), 3 * page, ProtFlags::empty(), MapFlags::PRIVATE);
            let middle = pages.expect("three pages").byte_add(page);
            mprotect(middle, page, rights).expect("rights");
            slice::from_raw_parts_mut(middle.cast(), page)
        };
        Self { page: middle }
    }

    /// Puts bytes right before the following page, or right after the preceding one.
    pub(crate) fn place(&mut self, bytes: &[u8], beside: Side) -> &[u8] {
        let start = match beside {
            Side::End => self.page.len() - bytes.len(),
            Side::Start => 0,
        };
        let place = &mut self.page[start..start + bytes.len()];
        place.copy_from_slice(bytes);
        place
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    Start,
    End,
}
