//! Judges a file: `judge FILE [SECONDS]`.

use judge::{History, Verdict, judge};
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: judge FILE [SECONDS], a history and the time limit, 60 unless given";

const REJECTED: u8 = 1;
const NOT_JUDGED: u8 = 2;
const UNKNOWN: u8 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            eprintln!("error: nothing was judged: {problem}");
            ExitCode::from(NOT_JUDGED)
        }
    }
}

fn run(arguments: &[String]) -> Result<u8, String> {
    let (file, seconds) = match arguments {
        [file] => (file, "60"),
        [file, seconds] => (file, seconds.as_str()),
        _ => return Err(USAGE.to_owned()),
    };
    let limit: u64 = seconds.parse().map_err(|_| format!("{seconds:?} are no seconds; {USAGE}"))?;
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let history = History::read(&text).map_err(|error| format!("{file}: {error}"))?;
    let judgements = judge(&history, Duration::from_secs(limit));
    if judgements.is_empty() {
        return Err(format!("{file} has no hold and no write"));
    }
    for judgement in &judgements {
        println!("    {judgement}");
    }
    let count = |is: fn(&Verdict) -> bool| {
        judgements.iter().filter(|judgement| is(&judgement.verdict)).count()
    };
    let rejected = count(|verdict| matches!(verdict, Verdict::Rejected(_)));
    let unknown = count(|verdict| *verdict == Verdict::Unknown);
    let (holds, writes) = history.size();
    let (verdict, code) = match (rejected, unknown) {
        (0, 0) => ("ACCEPTED", 0),
        (0, _) => ("UNKNOWN, which is no acceptance", UNKNOWN),
        _ => ("REJECTED", REJECTED),
    };
    println!(
        "  PORCUPINE: {verdict}: of {} parts {rejected} rejected, {unknown} unknown within {limit} s; \
         {holds} holds, {writes} writes",
        judgements.len(),
    );
    Ok(code)
}
