//! Numbers of clients, their time, and which libraries take part.

use std::path::PathBuf;
use std::time::Duration;

/// The only one that is not written in Rust.
pub(super) const POTTERY: &str = "pottery";

pub(super) const LIBRARIES: [&str; 4] = ["rslock", "redlock", "redsync", POTTERY];

/// Clients of others, all libraries together.
const OTHERS: usize = 4;

const USAGE: &str =
    "usage: peers share [--seconds N] [--rounds N] [--ours N] [--older PROGRAM] [NAME]...
  --seconds N  how long a round is measured: 30
  --rounds N   how often: 5
  --ours N     clients of ours: 20; of the others there are four, as many of each that is named
  --older PROGRAM  this bench, built from another revision: its clients take turns with ours
  NAME         only these of rslock, redlock, redsync and pottery";

#[derive(PartialEq, Eq, Debug)]
pub(super) struct Options {
    pub(super) span: Duration,
    pub(super) rounds: usize,
    pub(super) ours: usize,
    pub(super) older: Option<PathBuf>,
    pub(super) theirs: Vec<&'static str>,
}

impl Options {
    pub(super) fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            span: Duration::from_secs(30),
            rounds: 5,
            ours: 20,
            older: None,
            theirs: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut number = || {
                let number = args.next().and_then(|word| word.parse::<u32>().ok());
                number.filter(|&number| number > 0).ok_or(USAGE)
            };
            match arg.as_str() {
                "--seconds" => options.span = Duration::from_secs(number()?.into()),
                "--rounds" => options.rounds = number()? as usize,
                "--ours" => options.ours = number()? as usize,
                "--older" => options.older = Some(args.next().ok_or(USAGE)?.into()),
                name => {
                    let library = LIBRARIES.into_iter().find(|&library| library == name);
                    options.theirs.push(library.ok_or(USAGE)?);
                }
            }
        }
        if options.theirs.is_empty() {
            options.theirs = LIBRARIES.into();
        }
        Ok(options)
    }

    /// Returns how many clients each of the other libraries has.
    pub(super) fn of_each(&self) -> usize {
        (OTHERS / self.theirs.len().max(1)).max(1)
    }

    /// Returns for how long all contend before they are measured.
    pub(super) fn warm_up(&self) -> Duration {
        self.span / 10
    }

    /// Leaves out a library; returns whether it would have taken part.
    pub(super) fn leave_out(&mut self, library: &str) -> bool {
        let before = self.theirs.len();
        self.theirs.retain(|name| *name != library);
        self.theirs.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, String> {
        Options::from_args(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn four_clients_are_of_the_libraries_that_are_named() {
        let of_each = |line| options(line).map(|options| (options.theirs.len(), options.of_each()));
        assert_eq!(of_each(""), Ok((4, 1)));
        assert_eq!(of_each("rslock pottery"), Ok((2, 2)));
        assert_eq!(of_each("--seconds 3 redlock"), Ok((1, 4)));
    }

    #[test]
    fn what_is_no_library_and_no_number_is_refused() {
        for line in ["redlok", "--rounds", "--rounds 0", "--seconds x", "--older"] {
            assert_eq!(options(line), Err(USAGE.to_owned()), "{line}");
        }
    }
}
