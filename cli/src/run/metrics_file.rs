//! `--metrics-file`: the metrics of the client and of its command, in a file for node_exporter's textfile
//! collector.
//!
//! A file that is read at any moment is whole: it is written next to its place, and moved there. Writing
//! never delays the lock: it is done by another thread, and a file that cannot be written costs a warning.

use crate::failure::{Failure, Result};
use crate::output::{Output, since_1970};
use metrics::{Unit, describe_gauge, gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use quorumlock::metrics::BUCKETS;
use std::fmt::Display;
use std::fs;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the file is written, changed or not: its age shows that the process lives.
const PAUSE: Duration = Duration::from_secs(5);

/// The longest time for which the end waits until the file is written.
const PATIENCE: Duration = Duration::from_secs(2);

const STARTED: &str = "quorumlock_command_start_time_seconds";
const SUCCEEDED: &str = "quorumlock_command_success_time_seconds";
const EXIT_CODE: &str = "quorumlock_command_exit_code";

/// Does `work` under the lock of this name, and meanwhile keeps the file, if there is one.
pub(super) async fn recorded(
    path: Option<PathBuf>,
    lock: &str,
    output: Output,
    work: impl Future<Output = Result>,
) -> Result {
    let Some(path) = path else { return work.await };
    let mut file = MetricsFile::open(path, lock, output)?;
    let follow = async {
        loop {
            tokio::time::sleep(PAUSE).await;
            file.write().await;
        }
    };
    let ended = tokio::select! {
        biased;
        ended = work => ended,
        ended = follow => ended,
    };
    file.end(&ended).await;
    ended
}

struct MetricsFile {
    path: PathBuf,
    recorder: PrometheusHandle,
    output: Output,
    /// It could not be written, and that was reported.
    is_broken: bool,
}

impl MetricsFile {
    /// Writes it for the first time, so that a mistake shows before a master is asked. The recorder is
    /// there before the client connects.
    fn open(path: PathBuf, lock: &str, output: Output) -> Result<Self> {
        if path.extension().is_none_or(|extension| extension != "prom") {
            let problem =
                "--metrics-file: node_exporter reads files that end with .prom: name it so";
            return Err(Failure::usage(problem.to_owned()));
        }
        let what = format!("--metrics-file {}", path.display());
        let unusable = |error: &dyn Display| Failure::system(&what, error);
        let recorder =
            PrometheusBuilder::new().set_buckets(BUCKETS).map_err(|error| unusable(&error))?;
        // Two files of one host with the same series would be refused by the collector.
        let recorder = recorder.add_global_label("lock", lock).install_recorder();
        let recorder = recorder.map_err(|error| unusable(&error))?;
        describe_gauge!(STARTED, Unit::Seconds, "When the command quorumlock was started.");
        describe_gauge!(
            SUCCEEDED,
            Unit::Seconds,
            "When a command under this lock last ended with 0 here; 0 if that is not known."
        );
        describe_gauge!(EXIT_CODE, Unit::Count, "The exit code of quorumlock, once it has ended.");
        gauge!(STARTED).set(since_1970().as_secs_f64());
        gauge!(SUCCEEDED).set(last_success(&path));
        replace(&path, &recorder.render()).map_err(|error| unusable(&error))?;
        Ok(Self { path, recorder, output, is_broken: false })
    }

    async fn end(mut self, ended: &Result) {
        let exit = ended.as_ref().map_or_else(|failure| failure.exit, |exit| *exit);
        gauge!(EXIT_CODE).set(f64::from(exit.code));
        // Another client that holds the lock is no success, even where it is no error (-E 0).
        if ended.as_ref().is_ok_and(|exit| exit.code == 0) {
            gauge!(SUCCEEDED).set(since_1970().as_secs_f64());
        }
        let _ = tokio::time::timeout(PATIENCE, self.write()).await;
    }

    async fn write(&mut self) {
        let (path, metrics) = (self.path.clone(), self.recorder.render());
        let written = tokio::task::spawn_blocking(move || replace(&path, &metrics)).await;
        let written = written.unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
        if let Err(error) = &written
            && !self.is_broken
        {
            let path = self.path.display();
            self.output.warn(&format!("--metrics-file {path}: {error}; tried again"));
        }
        self.is_broken = written.is_err();
    }
}

/// Replaces the file as a whole.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut draft = path.file_name().unwrap_or_default().to_owned();
    // Not one that the collector reads; each process has its own.
    draft.push(format!(".{}", std::process::id()));
    let draft = path.with_file_name(draft);
    let replaced = fs::write(&draft, text).and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&draft);
    }
    replaced
}

/// Returns what an earlier process has written.
fn last_success(path: &Path) -> f64 {
    let before = fs::read_to_string(path).unwrap_or_default();
    let line = before.lines().find(|line| line.starts_with(SUCCEEDED));
    let value =
        line.and_then(|line| line.rsplit_once(' ')).and_then(|(_, value)| value.parse().ok());
    value.filter(|seconds: &f64| seconds.is_finite()).unwrap_or_default()
}
