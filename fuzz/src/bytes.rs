//! Choices made from bytes. When no bytes are left, the choice is the first one.

use std::time::Duration;

pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub(super) fn number(&mut self) -> u64 {
        self.take(8).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Returns a span from zero to the longest possible, of every order of magnitude.
    pub(super) fn span(&mut self) -> Duration {
        let (unit, count) = (self.below(5), u64::from(self.byte()));
        match unit {
            0 => Duration::from_millis(count),
            1 => Duration::from_secs(count),
            2 => Duration::from_nanos(self.number()),
            3 => Duration::from_secs(self.number()),
            _ => Duration::MAX,
        }
    }

    pub(super) fn text(&mut self) -> String {
        let len = self.below(256);
        String::from_utf8_lossy(self.take(len)).into_owned()
    }
}
