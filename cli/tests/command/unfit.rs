//! The command on masters of which one has a problem: it works, and reports the master and the
//! problem.

use crate::cli::{self, told};
use crate::support::masters::Masters;
use crate::support::server::Server;
use serde_json::{Value, json};

/// Four masters and a replica of another server; the expected report on the replica.
struct Place {
    masters: Masters,
    replica: Server,
    other: Server,
}

impl Place {
    fn new() -> Self {
        let other = Server::start();
        let replica = Server::start_with(&["--replicaof", "127.0.0.1", &other.port().to_string()]);
        Self { masters: Masters::start(4), replica, other }
    }

    fn told(&self, arguments: &[&str]) -> cli::Told {
        let urls = self.masters.urls().into_iter().chain([self.replica.url()]);
        told(cli::over(urls).args(arguments))
    }

    fn problem(&self) -> String {
        format!("a replica of 127.0.0.1:{}: name independent masters only", self.other.port())
    }

    fn warning(&self) -> String {
        format!("{} cannot be used: {}", self.replica.addr(), self.problem())
    }
}

#[test]
fn every_connecting_command_works_and_warns_of_an_unfit_master() {
    let place = Place::new();
    let line = format!("quorumlock: warning: {}\n", place.warning());
    for (arguments, stdout) in [
        (&["run", "r", "--", "echo", "done"][..], "done\n"),
        (&["inspect", "r"], "\"r\" is free\n"),
        (&["force-release", "--yes", "r"], "\"r\" is free: nothing was done\n"),
        (&["bench", "--cycles", "1"], "MASTER"),
    ] {
        let told = place.told(arguments);
        assert_eq!((told.code, &told.stderr), (Some(0), &line), "{arguments:?}: {told:?}");
        assert!(told.stdout.starts_with(stdout), "{arguments:?}: {told:?}");
    }
}

#[test]
fn with_json_the_warning_is_an_object() {
    let place = Place::new();
    let told = place.told(&["inspect", "r", "--json"]);
    let warning: Value = serde_json::from_str(&told.stderr).unwrap();
    assert_eq!((told.code, warning), (Some(0), json!({ "warning": place.warning() })));
}

#[test]
fn a_strict_command_fails_on_one_and_any_on_three() {
    let place = Place::new();
    let (name, problem) = (place.replica.addr(), place.problem());
    let line = format!("quorumlock: masters cannot be used as configured\n  {name}  {problem}\n");
    let strict = place.told(&["run", "--strict", "r", "--", "echo", "done"]);
    assert_eq!((strict.code, &*strict.stdout, &strict.stderr), (Some(115), "", &line));
    let urls = place.masters.urls().into_iter().chain([place.replica.url()]);
    let by_variable = told(cli::over(urls).env("QUORUMLOCK_STRICT", "true").args(["inspect", "r"]));
    assert_eq!((by_variable.code, &by_variable.stderr), (Some(115), &line));

    let wrong = |url: &String| format!("{url}/99");
    let two = &place.masters.urls()[..2];
    let urls = two.iter().map(wrong).chain(place.masters.urls()[2..].to_vec());
    let three = told(cli::over(urls.chain([place.replica.url()])).args(["inspect", "r"]));
    // A headline, the two with a database that is not there, and the replica.
    assert_eq!((three.code, three.stderr.lines().count()), (Some(115), 3), "{three:?}");
}
