//! Addresses as users write them, one per line; a line that begins with a plus belongs to the
//! second list.

use quorumlock::{Redlock, fuzzing};

/// The password that the fuzzer puts wherever it needs one.
const SECRET: &str = "hunter2";

pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (joint_with, nodes): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('+'));
    let joint_with: Vec<&str> = joint_with.iter().map(|line| &line[1..]).collect();
    for address in nodes.iter().chain(&joint_with) {
        alone(address);
    }
    let named = (nodes.len(), joint_with.len());
    let builder = Redlock::builder().nodes(nodes).joint_with(joint_with);
    if let Ok(settings) = fuzzing::settings(&builder) {
        let masters = fuzzing::masters(&builder).unwrap_or_default().len();
        let most = named.0 + named.1;
        assert!(masters >= named.0.max(named.1) && masters <= most, "{named:?}");
        let all = (0..masters).collect();
        assert!(settings.membership.is_quorum(all), "all of {named:?} are no quorum");
    }
}

/// Tries the address of an only master.
fn alone(address: &str) {
    match fuzzing::masters(&Redlock::builder().node(address)) {
        Ok(masters) => {
            let [(name, login)] = &masters[..] else { panic!("{address}: {}", masters.len()) };
            let twice = fuzzing::masters(&Redlock::builder().nodes([address, address]));
            assert!(twice.is_err() && !name.is_empty(), "{address}");
            let shown = format!("{login:?}");
            let password = login.password.as_deref();
            assert!(password != Some(SECRET) || shown.contains("\"***\""), "{shown}");
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains(SECRET) && !text.contains('\n'), "{address}: {text}");
        }
    }
}
