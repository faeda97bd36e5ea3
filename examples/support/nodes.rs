//! The addresses of an example's masters.

use std::env;

/// Reads the comma-separated addresses in `QUORUMLOCK_NODES`.
pub(crate) fn from_environment() -> Result<Vec<String>, String> {
    let listed = env::var("QUORUMLOCK_NODES").unwrap_or_default();
    let nodes = listed.split(',').map(str::trim).filter(|node| !node.is_empty());
    let nodes: Vec<String> = nodes.map(str::to_owned).collect();
    if nodes.is_empty() {
        return Err("QUORUMLOCK_NODES is not set: name the masters, comma separated, such as\n  \
                    QUORUMLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3"
            .to_owned());
    }
    Ok(nodes)
}
