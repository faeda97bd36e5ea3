//! The sources of settings: options override the environment, which overrides the file.

use crate::args::MastersArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use quorumlock::config::NodeAddress;
use quorumlock::{Config, NodeStanding, Redlock, RedlockBuilder};
use std::env::var_os;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variable that names a file.
const NAMED: &str = "QUORUMLOCK_CONFIG";
const NODES: &str = "QUORUMLOCK_NODES";

/// The file in every configuration folder.
const BELOW: &str = "quorumlock/config.toml";

/// The default place for all users of the machine.
const OF_THE_MACHINE: &str = "/etc/quorumlock/config.toml";

/// Returns all settings, from every source.
pub(crate) fn settings(args: MastersArgs) -> Result<Config> {
    let file = file(&args);
    let mut config = Config::default();
    config.nodes = addresses(args.node, "--node")?;
    config.joint_with = addresses(args.joint_with, "--joint-with")?;
    config.strict = args.strict.then_some(true);
    config.allow_long_max_ttl = args.allow_long_max_ttl.then_some(true);
    let config = config.or(match file {
        Some(file) if !file.as_os_str().is_empty() => {
            Config::from_env()?.or(Config::from_file(file)?)
        }
        // A variable that names no file is an error of the environment.
        _ => Config::load()?,
    });
    if config.nodes.as_ref().is_none_or(Vec::is_empty) {
        let problem = format!(
            "no masters: name each with --node, or all of them in QUORUMLOCK_NODES or under `nodes` in the file \
             of --config or QUORUMLOCK_CONFIG, ~/.config/quorumlock/config.toml or {OF_THE_MACHINE}"
        );
        return Err(Failure::new(Exit::CONFIGURATION, problem));
    }
    Ok(config)
}

/// Connects for a command that acquires nothing, and so notes nothing at the masters. Such a command ends without a
/// shutdown.
pub(crate) async fn connect_to_inspect(args: MastersArgs, output: Output) -> Result<Redlock> {
    connected(Redlock::builder().config(settings(args)?).inspect_only(true), output).await
}

/// Connects; prints a line for each master that an operator has to fix.
pub(crate) async fn connected(builder: RedlockBuilder, output: Output) -> Result<Redlock> {
    let redlock = builder.connect().await?;
    for node in redlock.status().await.iter().flatten() {
        if let Some(problem) = node.standing.problem() {
            output.warn(&format!("{} cannot be used: {problem}", node.node));
        } else if matches!(node.standing, NodeStanding::Down(_)) {
            output.note(&format!("{} is {}", node.node, node.standing));
        }
    }
    Ok(redlock)
}

fn addresses(urls: Vec<String>, option: &str) -> Result<Option<Vec<NodeAddress>>> {
    let read = |url: String| {
        let address = url.parse::<NodeAddress>();
        address.map_err(|invalid| Failure::usage(format!("{option}: {}", invalid.problem)))
    };
    (!urls.is_empty()).then(|| urls.into_iter().map(read).collect()).transpose()
}

/// Returns the file that these arguments and the environment lead to.
pub(crate) fn file(args: &MastersArgs) -> Option<PathBuf> {
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
