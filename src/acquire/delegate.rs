//! The options of an acquisition, for the types that wrap an [`Acquire`](crate::Acquire).

/// Gives `$type` the options of the acquisition in its field `inner`.
macro_rules! delegate_options {
    ($type:ident) => {
        impl<K: $crate::Kind> $type<K> {
            /// Sets how long the key lives unless it is released or extended. See
            /// [`Acquire::ttl`](crate::Acquire::ttl).
            pub fn ttl(mut self, ttl: std::time::Duration) -> Self {
                self.inner = self.inner.ttl(ttl);
                self
            }

            /// Sets how much longer than the ttl the key lives, unless it is released. See
            /// [`Acquire::lock_delay`](crate::Acquire::lock_delay).
            pub fn lock_delay(mut self, lock_delay: std::time::Duration) -> Self {
                self.inner = self.inner.lock_delay(lock_delay);
                self
            }

            /// Sets for how long to keep trying. See
            /// [`Acquire::timeout`](crate::Acquire::timeout).
            pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
                self.inner = self.inner.timeout(timeout);
                self
            }

            /// Keeps trying until the lock is won; only a shutdown ends that earlier. See
            /// [`Acquire::no_timeout`](crate::Acquire::no_timeout).
            pub fn no_timeout(mut self) -> Self {
                self.inner = self.inner.no_timeout();
                self
            }

            /// Keeps the resource closed for this long from the start, if the work ends well. See
            /// [`Acquire::at_least`](crate::Acquire::at_least).
            pub fn at_least(mut self, span: std::time::Duration) -> Self {
                self.inner = self.inner.at_least(span);
                self
            }

            /// Extends the lock in the background. See
            /// [`Acquire::keep_alive`](crate::Acquire::keep_alive).
            pub fn keep_alive(mut self) -> Self {
                self.inner = self.inner.keep_alive();
                self
            }

            /// Same as [`keep_alive`](Self::keep_alive), for at most this long. See
            /// [`Acquire::keep_alive_for`](crate::Acquire::keep_alive_for).
            pub fn keep_alive_for(mut self, span: std::time::Duration) -> Self {
                self.inner = self.inner.keep_alive_for(span);
                self
            }

            /// Same as [`keep_alive`](Self::keep_alive), without an end. See
            /// [`Acquire::keep_alive_forever`](crate::Acquire::keep_alive_forever).
            pub fn keep_alive_forever(mut self) -> Self {
                self.inner = self.inner.keep_alive_forever();
                self
            }

            /// Names the holder of this lock, in place of the builder's label. Never a secret. See
            /// [`Acquire::label`](crate::Acquire::label).
            pub fn label(mut self, label: impl Into<String>) -> Self {
                self.inner = self.inner.label(label);
                self
            }
        }
    };
}

pub(crate) use delegate_options;
