//! The scripts as a master runs them: `src/coordinator/scripts/`, said once more in Rust.

use super::master::Master;
use crate::quorum::Instant;
use std::time::Duration;

/// How a master can be broken, to show that it would be noticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Defect {
    /// It grants whatever stands in its fences.
    ForgetsFences,
    /// It confirms that it has killed a connection, and executes what comes over it.
    KillsNobody,
}

impl Master {
    /// `EVAL` and `EVALSHA`: the script, its keys, its arguments.
    pub(super) fn run(&mut self, now: Instant, words: &[&str]) -> String {
        let [script, count, rest @ ..] = words else { panic!("{words:?} is no call") };
        let (keys, args) = rest.split_at(number(count) as usize);
        match *script {
            "agree" => "confirmed".into(),
            "inspect" => match self.get(now, keys[0]) {
                Some(value) => format!("stands {} {value}", self.life(now, keys[0])),
                None => "nil".into(),
            },
            "release" | "release_all" => self.release(now, keys, args),
            "acquire" => self.acquire(now, keys, args),
            "extend" => self.extend(now, keys, args),
            _ => panic!("no script is called {script}"),
        }
    }

    fn acquire(&mut self, now: Instant, keys: &[&str], args: &[&str]) -> String {
        let [token, life, ballot @ ..] = args else { panic!("{args:?}") };
        let (locks, fences) = parted(keys, ballot);
        let clock = if ballot.is_empty() { 0 } else { self.wall_us(now) };
        let fence = fences.iter().map(|fence| self.fence(now, fence)).max().unwrap_or(0);
        let taken = locks.iter().filter(|key| self.get(now, key).is_some_and(|one| one != *token));
        if let Some(left) = taken.map(|key| self.life(now, key)).max() {
            return format!("refuses 0 {left} {fence} {clock}");
        }
        if let [ballot, back, ahead, kept] = ballot {
            let p = number(ballot);
            if p <= fence && self.defect != Some(Defect::ForgetsFences) {
                return format!("refuses -1 0 {fence} {clock}");
            }
            if p > clock + number(ahead) || (!back.is_empty() && p + number(back) < clock) {
                return format!("refuses -2 0 {fence} {clock}");
            }
            fences.iter().for_each(|fence| self.set(now, fence, ballot, millis(kept)));
        }
        for key in locks {
            if self.get(now, key).is_none() {
                self.set(now, key, token, millis(life));
            }
        }
        "ok".into()
    }

    fn extend(&mut self, now: Instant, keys: &[&str], args: &[&str]) -> String {
        let [token, life] = args else { panic!("{args:?}") };
        let mut worst = 1;
        for key in keys {
            match self.get(now, key) {
                Some(holder) if holder == *token => self.prolong(now, key, millis(life)),
                Some(_) => worst = -1,
                None => worst = worst.min(0),
            }
        }
        worst.to_string()
    }

    fn release(&mut self, now: Instant, keys: &[&str], args: &[&str]) -> String {
        let [token, ballot @ ..] = args else { panic!("{args:?}") };
        let (locks, fences) = parted(keys, ballot);
        let mut all = 1;
        for key in locks {
            if self.get(now, key) == Some(*token) {
                self.remove(key);
            } else {
                all = 0;
            }
        }
        if let [ballot, ahead, kept] = ballot {
            let p = number(ballot);
            for fence in fences {
                if p <= self.wall_us(now) + number(ahead) && p > self.fence(now, fence) {
                    self.set(now, fence, ballot, millis(kept));
                }
            }
        }
        all.to_string()
    }

    fn fence(&self, now: Instant, key: &str) -> u64 {
        self.get(now, key).map_or(0, number)
    }
}

/// What to lock, and the fence of each if there is a ballot.
fn parted<'a, 'b>(keys: &'a [&'b str], ballot: &[&str]) -> (&'a [&'b str], &'a [&'b str]) {
    keys.split_at(if ballot.is_empty() { keys.len() } else { keys.len() / 2 })
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}

pub(super) fn millis(word: &str) -> Duration {
    Duration::from_millis(number(word))
}
