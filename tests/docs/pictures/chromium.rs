//! A browser without a window.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The result of opening a page.
pub(crate) struct Opened {
    /// The document once its scripts have run.
    pub(crate) dom: String,
    /// Output on the console, including errors and warnings.
    pub(crate) console: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

/// Bound for a busy machine. A browser that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Checks for chromium. If it is missing, prints a line that says so; a failure if `CI` is set.
fn is_there() -> bool {
    let mut version = Command::new("chromium");
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    let found = version.status().is_ok();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "CI is set, and there is no chromium");
        eprintln!("no chromium here: no picture was opened");
    }
    found
}

fn run(arguments: &[String], folder: &Path) -> (String, String) {
    let (out, err) = (folder.join("out"), folder.join("err"));
    let mut browser = Command::new("chromium")
        .args(["--headless", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"])
        // Its sandbox needs rights that a container does not have. The pages are our own.
        .args(["--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).expect("a file"))
        .stderr(fs::File::create(&err).expect("a file"))
        .spawn()
        .expect("chromium");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = browser.try_wait().expect("the browser's end") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            browser.kill().expect("its end");
            browser.wait().expect("its end");
            panic!("the browser hangs: {}", fs::read_to_string(&err).unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let read = |path| String::from_utf8_lossy(&fs::read(path).expect("its output")).into_owned();
    let (out, err) = (read(&out), read(&err));
    assert!(status.success(), "chromium: {status}\n{err}");
    (out, err)
}

fn scheme(scheme: Scheme) -> String {
    let number = match scheme {
        Scheme::Dark => 0,
        Scheme::Light => 1,
    };
    format!("--blink-settings=preferredColorScheme={number}")
}

/// Opens the page with this script at its end.
pub(crate) fn open(page: &str, script: &str, light: Scheme) -> Option<Opened> {
    if !is_there() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    fs::write(&file, format!("{page}<script>{script}</script>")).expect("the page");
    let address = format!("file://{}", file.display());
    let arguments = [scheme(light), "--dump-dom".to_owned(), address];
    let (dom, log) = run(&arguments, folder.path());
    let console = log.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned);
    Some(Opened { dom, console: console.collect() })
}

/// Takes a screenshot, as a PNG.
pub(crate) fn screenshot(file: &Path, size: (u32, u32), light: Scheme, png: &Path) -> Option<()> {
    if !is_there() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        scheme(light),
        format!("--window-size={},{}", size.0, size.1),
        format!("--screenshot={}", png.display()),
        format!("file://{}", file.display()),
    ];
    run(&arguments, folder.path());
    Some(())
}
