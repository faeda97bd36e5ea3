//! The file with the settings: the one that was named, or one in a default place.

use super::MastersArgs;
use std::env::var_os;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variable that names a file.
const NAMED: &str = "QUORUMLOCK_CONFIG";
const NODES: &str = "QUORUMLOCK_NODES";

/// The file in every configuration folder.
const BELOW: &str = "quorumlock/config.toml";

/// The default place for all users of the machine.
pub(crate) const OF_THE_MACHINE: &str = "/etc/quorumlock/config.toml";

/// Returns the file that these arguments and the environment lead to.
pub(crate) fn find(args: &MastersArgs) -> Option<PathBuf> {
    if let Some(named) = args.config.clone().or_else(|| var_os(NAMED).map(PathBuf::from)) {
        return Some(named);
    }
    // Masters that are named without a file need none.
    if !args.node.is_empty() || var_os(NODES).is_some() {
        return None;
    }
    let mut places = default_places(var_os("XDG_CONFIG_HOME"), var_os("HOME")).into_iter();
    // A file that is not seen for lack of rights is read, so that the error is reported.
    places.find(|place| place.try_exists().unwrap_or(true))
}

/// Returns the default places, the user's own first. The XDG specification ignores relative paths.
fn default_places(config_home: Option<OsString>, home: Option<OsString>) -> Vec<PathBuf> {
    let absolute =
        |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let own = absolute(config_home).or_else(|| Some(absolute(home)?.join(".config")));
    let own = own.map(|folder| folder.join(BELOW));
    own.into_iter().chain([PathBuf::from(OF_THE_MACHINE)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_users_own_place_comes_before_that_of_the_machine() {
        for (config_home, home, own) in [
            (Some("/x"), Some("/home/me"), Some("/x/quorumlock/config.toml")),
            (None, Some("/home/me"), Some("/home/me/.config/quorumlock/config.toml")),
            (Some(""), Some("/home/me"), Some("/home/me/.config/quorumlock/config.toml")),
            (Some("relative"), Some("/home/me"), Some("/home/me/.config/quorumlock/config.toml")),
            (None, Some("relative"), None),
            (None, None, None),
        ] {
            let places = default_places(config_home.map(Into::into), home.map(Into::into));
            let expected: Vec<PathBuf> =
                own.into_iter().chain([OF_THE_MACHINE]).map(PathBuf::from).collect();
            assert_eq!(places, expected, "{config_home:?} {home:?}");
        }
    }
}
