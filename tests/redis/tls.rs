//! TLS to real masters: a private authority, client certificates, and every common mistake.

mod authority;
mod life;
mod masters;
mod mistakes;
#[cfg(all(unix, feature = "config"))]
mod rotation;
