//! The label of a process: its host and its number.

use std::fs;

/// The longest name of a host, in bytes. It has up to 64, or 253 with its domain; a label has up to 512.
const LONGEST_HOST: usize = 253;

/// Returns the host's name and the number of this process. It is read anew for each client, since both
/// may change: a fork has another number.
pub(super) fn label() -> String {
    of(&host(), std::process::id())
}

/// Returns the host's name where the system has it in a file or in a variable: Linux, Windows, most shells.
/// Empty otherwise.
fn host() -> String {
    let file = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let variable = || ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok());
    file.or_else(variable).unwrap_or_default()
}

fn of(host: &str, process: u32) -> String {
    let mut shown: String = host.trim().chars().filter(|sign| !sign.is_control()).collect();
    while shown.len() > LONGEST_HOST {
        shown.pop();
    }
    format!("{shown}:{process}")
}

#[cfg(test)]
mod tests {
    use super::super::check_label;
    use super::*;

    #[test]
    fn the_label_of_a_process_is_its_host_and_its_number() {
        assert_eq!(of("web-3\n", 4711), "web-3:4711");
        assert_eq!(of("", 4711), ":4711", "the host is not known");
        let own = label();
        assert!(own.ends_with(&format!(":{}", std::process::id())), "{own}");
        #[cfg(target_os = "linux")]
        assert!(!own.starts_with(':'), "{own}");
    }

    #[test]
    fn no_host_has_a_name_that_makes_the_label_invalid() {
        for host in ["\u{e9}\n\u{1b}[31m".repeat(253), "x;term=7".to_owned(), "\0".to_owned()] {
            for process in [0, 7, u32::MAX] {
                let label = of(&host, process);
                assert_eq!(check_label("label", &label), Ok(()), "{label:?}");
            }
        }
    }
}
