//! The label of this process, for clients that inspect the lock.

use nix::unistd::gethostname;

/// A host's name has up to 64 bytes, or 253 with its domain; a label 128.
const LONGEST_HOST: usize = 100;

/// Returns the host and the process id.
pub(super) fn label() -> String {
    let host = gethostname().map(|host| host.to_string_lossy().into_owned()).unwrap_or_default();
    of(&host, std::process::id())
}

fn of(host: &str, process: u32) -> String {
    let mut shown = String::new();
    for sign in host.chars().filter(|sign| !sign.is_control()) {
        if shown.len() + sign.len_utf8() > LONGEST_HOST {
            break;
        }
        shown.push(sign);
    }
    format!("{shown}:{process}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_never_too_long_and_has_no_control_characters() {
        assert_eq!(of("host", 7), "host:7");
        let long = of(&"\u{e9}\n".repeat(253), u32::MAX);
        assert!(long.len() <= 128 && !long.contains(char::is_control), "{long}");
    }
}
