//! RESP by hand.

use crate::contenders::{RELEASE, TTL_MS, token};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Ok,
    Integer(i64),
}

/// What the `step`-th command of a client must be answered with: first the SET, then its release.
pub(super) const fn due(step: u64) -> Reply {
    if step % 2 == 1 { Reply::Ok } else { Reply::Integer(1) }
}

/// The first reply in `bytes`, and its length. Panics at any that means a lock was not won.
pub(super) fn reply(bytes: &[u8]) -> Option<(Reply, usize)> {
    let end = bytes.iter().position(|&byte| byte == b'\r')?;
    let len = end + 2;
    if bytes.len() < len {
        return None;
    }
    match &bytes[..end] {
        b"+OK" => Some((Reply::Ok, len)),
        [b':', digits @ ..] => {
            let digits = std::str::from_utf8(digits).expect("digits");
            Some((Reply::Integer(digits.parse().expect("an integer")), len))
        }
        other => panic!("not won: {:?}", String::from_utf8_lossy(other)),
    }
}

/// Both commands of one client, encoded once: only the token changes, in place.
pub(super) struct Commands {
    set: Vec<u8>,
    release: Vec<u8>,
    cycles: u64,
    set_token_at: usize,
    release_token_at: usize,
}

impl Commands {
    pub(super) fn new(resource: &str) -> Self {
        let token = token();
        let set = encode(&["SET", resource, &token, "NX", "PX", &TTL_MS.to_string()]);
        let release = encode(&["EVAL", RELEASE, "1", resource, &token]);
        let place = |command: &[u8]| {
            let found = command.windows(token.len()).position(|part| part == token.as_bytes());
            found.expect("the token in its command")
        };
        let (set_token_at, release_token_at) = (place(&set), place(&release));
        Self { set, release, cycles: 0, set_token_at, release_token_at }
    }

    /// The command of this step; each SET with a token of its own.
    pub(super) fn step(&mut self, step: u64) -> &[u8] {
        if step.is_multiple_of(2) {
            return &self.release;
        }
        self.cycles += 1;
        // The first half counts, the second stays as it was drawn.
        let mut token = [0; 16];
        let mut rest = self.cycles;
        for digit in token.iter_mut().rev() {
            *digit = b"0123456789abcdef"[(rest % 16) as usize];
            rest /= 16;
        }
        self.set[self.set_token_at..][..token.len()].copy_from_slice(&token);
        self.release[self.release_token_at..][..token.len()].copy_from_slice(&token);
        &self.set
    }
}

fn encode(arguments: &[&str]) -> Vec<u8> {
    let mut command = format!("*{}\r\n", arguments.len());
    for argument in arguments {
        command.push_str(&format!("${}\r\n{argument}\r\n", argument.len()));
    }
    command.into_bytes()
}
