//! The command on masters of which one has a problem: it works, and reports the master and the
//! problem.

use crate::cli::{self, run};
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

    fn run(&self, arguments: &[&str]) -> cli::Finished {
        let urls = self.masters.urls().into_iter().chain([self.replica.url()]);
        run(cli::over(urls).args(arguments))
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
    ] {
        let output = place.run(arguments);
        assert_eq!((output.code, &output.stderr), (Some(0), &line), "{arguments:?}: {output:?}");
        assert!(output.stdout.starts_with(stdout), "{arguments:?}: {output:?}");
    }
}

#[test]
fn with_json_the_warning_is_an_object() {
    let place = Place::new();
    let output = place.run(&["inspect", "r", "--json"]);
    let warning: Value = serde_json::from_str(&output.stderr).unwrap();
    assert_eq!((output.code, warning), (Some(0), json!({ "warning": place.warning() })));
}

#[test]
fn a_strict_command_fails_on_one_and_any_on_three() {
    let place = Place::new();
    let (name, problem) = (place.replica.addr(), place.problem());
    let line = format!("quorumlock: masters cannot be used as configured\n  {name}  {problem}\n");
    let strict = place.run(&["run", "--strict", "r", "--", "echo", "done"]);
    assert_eq!((strict.code, &*strict.stdout, &strict.stderr), (Some(115), "", &line));
    let urls = place.masters.urls().into_iter().chain([place.replica.url()]);
    let by_variable = run(cli::over(urls).env("QUORUMLOCK_STRICT", "true").args(["inspect", "r"]));
    assert_eq!((by_variable.code, &by_variable.stderr), (Some(115), &line));

    let wrong = |url: &String| format!("{url}/99");
    let two = &place.masters.urls()[..2];
    let urls = two.iter().map(wrong).chain(place.masters.urls()[2..].to_vec());
    let three = run(cli::over(urls.chain([place.replica.url()])).args(["inspect", "r"]));
    // A headline, the two with a database that is not there, and the replica.
    assert_eq!((three.code, three.stderr.lines().count()), (Some(115), 3), "{three:?}");
}
