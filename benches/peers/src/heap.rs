//! Counts the allocations of this process where they are made. Where nothing is counted, an
//! allocation only costs one more look at a flag, so time measurements are not disturbed.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

pub(crate) struct Heap {
    counts: AtomicBool,
    calls: AtomicU64,
    bytes: AtomicU64,
    live: AtomicI64,
}

/// Counts since [`Heap::count`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    /// Requests to the allocator for memory, including growth.
    pub(crate) allocations: u64,
    /// Bytes requested.
    pub(crate) bytes: u64,
    /// Live bytes, minus those that were live at the start.
    pub(crate) live: i64,
}

impl Heap {
    pub(crate) const fn new() -> Self {
        Self {
            counts: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            live: AtomicI64::new(0),
        }
    }

    /// Counts from now on, for as long as the process lives.
    pub(crate) fn count(&self) {
        self.counts.store(true, Relaxed);
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally {
            allocations: self.calls.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            live: self.live.load(Relaxed),
        }
    }

    fn grow(&self, old: usize, new: usize) {
        if self.counts.load(Relaxed) {
            self.calls.fetch_add(1, Relaxed);
            self.bytes.fetch_add(new.saturating_sub(old) as u64, Relaxed);
            self.live.fetch_add(new as i64 - old as i64, Relaxed);
        }
    }

    fn shrink(&self, size: usize) {
        if self.counts.load(Relaxed) {
            self.live.fetch_sub(size as i64, Relaxed);
        }
    }
}

// SAFETY: every call is passed to `System` unchanged, and its result is returned; counting neither
// allocates nor panics.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.grow(0, layout.size());
        // SAFETY: the caller upholds the requirements of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.grow(0, layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.grow(layout.size(), size);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.shrink(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
