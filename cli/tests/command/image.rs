//! The command's image, built from nothing, on masters in containers.

use crate::cli::Finished;
use crate::support::docker::{Containers, Profile, docker, script};
use serde_json::Value;
use std::process::Command;

/// An image with the program of this test; removed on drop.
struct Image(String);

impl Image {
    fn build() -> Self {
        let name = format!("quorumlock-test:{}", std::process::id());
        let mut build = Command::new(script("build-command-image"));
        build.arg(&name).env("COMMAND", env!("CARGO_BIN_EXE_quorumlock"));
        let built: Finished = build.output().expect("bash").into();
        assert_eq!(built.code, Some(0), "{built:?}");
        Self(name)
    }

    /// Runs the command on the network of the masters, where they have names.
    fn run(&self, masters: &Containers, arguments: &[&str]) -> Finished {
        let project = masters.project();
        let nodes: Vec<String> = (1..=5).map(|n| format!("redis://volatile-{n}")).collect();
        let mut run = Command::new("docker");
        run.args(["run", "--rm", "--network", &format!("{project}_default")]);
        // If this test is killed, it is swept like the masters.
        run.args(["--label", &format!("com.docker.compose.project={project}")]);
        run.args(["--env", &format!("QUORUMLOCK_NODES={}", nodes.join(","))]);
        // They have only just started.
        run.args(["--env", "QUORUMLOCK_RESTART_GUARD=off"]);
        run.args(["--env", "QUORUMLOCK_OPERATION_TIMEOUT=1s"]);
        run.args(["--env", "QUORUMLOCK_CONNECT_TIMEOUT=5s"]);
        run.arg(&self.0).args(arguments).output().expect("docker").into()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _others_may_use_it = Command::new("docker").args(["rmi", &self.0]).output();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_image_has_all_that_the_command_needs() {
    let Some(masters) = Containers::start(Profile::Volatile).await else { return };
    let image = Image::build();
    let version = image.run(&masters, &["--version"]);
    let expected = format!("quorumlock {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((version.code, &*version.stdout), (Some(0), &*expected), "{version:?}");

    let redlock = masters.builder().label("worker-7").connect().await.unwrap();
    let _guard = redlock.acquire("held").keep_alive().await.unwrap();
    let output = image.run(&masters, &["--json", "inspect", "held", "free"]);
    assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{output:?}");
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["holder"]["label"], "worker-7", "{output:?}");
    assert_eq!(lines[1]["state"], "free", "{output:?}");

    // There is a bundle of certificates, no other program, and no right to be root.
    let entries = docker(&["create", &image.0]);
    let listed = Command::new("sh")
        .args(["-c", &format!("docker export {entries} | tar -t; docker rm {entries} >/dev/null")])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let programs =
        listed.lines().filter(|path| path.starts_with("usr/bin/") && !path.ends_with('/'));
    assert_eq!(programs.collect::<Vec<_>>(), ["usr/bin/quorumlock"]);
    assert!(listed.contains("etc/ssl/certs/ca-certificates.crt"), "{listed}");
    let user = docker(&["inspect", "--format", "{{.Config.User}}", &image.0]);
    assert_eq!(user, "65534:65534");
}
