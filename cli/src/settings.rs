//! The sources of settings: options override the environment, which overrides the file.

pub(crate) mod file;

use crate::args::MastersArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use file::OF_THE_MACHINE;
use quorumlock::config::NodeAddress;
use quorumlock::{Config, NodeStanding, Redlock, RedlockBuilder};

/// Returns all settings, from every source.
pub(crate) fn settings(args: MastersArgs) -> Result<Config> {
    let file = file::find(&args);
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
    if urls.is_empty() {
        return Ok(None);
    }
    let read = |url: String| {
        let address = url.parse::<NodeAddress>();
        address.map_err(|invalid| Failure::usage(format!("{option}: {}", invalid.problem)))
    };
    urls.into_iter().map(read).collect::<Result<_, _>>().map(Some)
}
