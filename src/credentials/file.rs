//! Credentials in a file. Errors show nothing of its content.

use super::Credentials;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest file. A longer one is something else, and may have no end.
const LONGEST: u64 = 64 << 10;

/// Reads a file of one line, the password, or of two: the user, then the password.
pub(super) fn read(path: &Path) -> Result<Credentials, String> {
    let problem = |problem: &str| format!("{} {problem}", path.display());
    let text = content(path).map_err(|error| problem(&format!("cannot be read: {error}")))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let lines: Vec<_> =
        text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    match lines[..] {
        [""] => {
            Err(problem("is empty: write the password there, or the user and then the password"))
        }
        [password] => Ok(Credentials::password(password)),
        ["", _] | [_, ""] => Err(problem("has an empty line: write the user, then the password")),
        [user, password] => Ok(Credentials::new(user, password)),
        _ => Err(problem("has more than two lines: write the user, then the password")),
    }
}

fn content(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let length = File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > LONGEST {
        return Err(io::Error::other("it is longer than 64 KiB, which no password is"));
    }
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(bytes).map_err(no_text)
}
