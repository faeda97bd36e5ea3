//! TLS to real masters: a private authority, client certificates, and every common mistake.
//! On a real clock: handshakes hang and fail as those of a server do.

mod authority;
mod life;
mod masters;
mod mistakes;
#[cfg(all(unix, feature = "config"))]
mod rotation;
