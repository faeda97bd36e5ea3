//! The options of an acquisition, for the types that wrap an [`Acquire`](crate::Acquire).

/// Gives a type one option of the acquisition in its field `inner`.
macro_rules! delegate_option {
    (ttl) => {
        /// Sets how long the key lives unless it is released or extended. See
        /// [`Acquire::ttl`](crate::Acquire::ttl).
        pub fn ttl(mut self, ttl: std::time::Duration) -> Self {
            self.inner = self.inner.ttl(ttl);
            self
        }
    };
    (lock_delay) => {
        /// Sets how much longer than the ttl the key lives, unless it is released. See
        /// [`Acquire::lock_delay`](crate::Acquire::lock_delay).
        pub fn lock_delay(mut self, lock_delay: std::time::Duration) -> Self {
            self.inner = self.inner.lock_delay(lock_delay);
            self
        }
    };
    (timeout) => {
        /// Sets for how long to keep trying. See
        /// [`Acquire::timeout`](crate::Acquire::timeout).
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.inner = self.inner.timeout(timeout);
            self
        }
    };
    (no_timeout) => {
        /// Keeps trying until the lock is won; only a shutdown ends that earlier. See
        /// [`Acquire::no_timeout`](crate::Acquire::no_timeout).
        pub fn no_timeout(mut self) -> Self {
            self.inner = self.inner.no_timeout();
            self
        }
    };
    (at_least) => {
        /// Keeps the resource closed for this long from the start, if the work ends well. See
        /// [`Acquire::at_least`](crate::Acquire::at_least).
        pub fn at_least(mut self, span: std::time::Duration) -> Self {
            self.inner = self.inner.at_least(span);
            self
        }
    };
    (fair) => {
        /// Waits in turn, first come, first served. See
        /// [`Acquire::fair`](crate::Acquire::fair).
        pub fn fair(mut self) -> Self {
            self.inner = self.inner.fair();
            self
        }
    };
    (keep_alive) => {
        /// Extends the lock in the background. See
        /// [`Acquire::keep_alive`](crate::Acquire::keep_alive).
        pub fn keep_alive(mut self) -> Self {
            self.inner = self.inner.keep_alive();
            self
        }
    };
    (keep_alive_for) => {
        /// Extends the lock in the background, for at most this long. See
        /// [`Acquire::keep_alive_for`](crate::Acquire::keep_alive_for).
        pub fn keep_alive_for(mut self, span: std::time::Duration) -> Self {
            self.inner = self.inner.keep_alive_for(span);
            self
        }
    };
    (keep_alive_forever) => {
        /// Extends the lock in the background, without an end. See
        /// [`Acquire::keep_alive_forever`](crate::Acquire::keep_alive_forever).
        pub fn keep_alive_forever(mut self) -> Self {
            self.inner = self.inner.keep_alive_forever();
            self
        }
    };
    (label) => {
        /// Names the holder of this lock, in place of the builder's label. Never a secret. See
        /// [`Acquire::label`](crate::Acquire::label).
        pub fn label(mut self, label: impl Into<String>) -> Self {
            self.inner = self.inner.label(label);
            self
        }
    };
}

/// Gives `$type` all options of the acquisition in its field `inner`.
macro_rules! delegate_options {
    ($type:ident) => {
        impl<K: $crate::Kind> $type<K> {
            $crate::acquire::delegate_option!(ttl);
            $crate::acquire::delegate_option!(lock_delay);
            $crate::acquire::delegate_option!(timeout);
            $crate::acquire::delegate_option!(no_timeout);
            $crate::acquire::delegate_option!(at_least);
            $crate::acquire::delegate_option!(fair);
            $crate::acquire::delegate_option!(keep_alive);
            $crate::acquire::delegate_option!(keep_alive_for);
            $crate::acquire::delegate_option!(keep_alive_forever);
            $crate::acquire::delegate_option!(label);
        }
    };
}

pub(crate) use {delegate_option, delegate_options};
