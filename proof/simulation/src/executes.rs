//! A master executes what a line has brought, command by command, and what each has changed is checked.

use super::agenda::LineId;
use super::client::name;
use super::commands::{Script, Words, split, text};
use super::flaw::Flaw;
use super::invariants::{Executed, Stood, Verdict};
use super::judge::KEYS;
use super::master::FENCE;
use super::matched::Noting;
use super::unwanted::LISTS;
use super::world::World;
use quorumlock_embedded::{ClientId, Output};

impl World {
    pub(super) fn execute(&mut self, id: LineId, server: ClientId, bytes: &[u8]) {
        self.lines[id.0].arrived.receive(bytes);
        let (node, mut answers) = (self.lines[id.0].node, Vec::new());
        let mut commands = 0;
        while let Some(words) = self.lines[id.0].arrived.next() {
            commands += 1;
            let is_about = |word: &Vec<u8>| KEYS.iter().any(|key| word == key.as_bytes());
            let is_list = |word: &Vec<u8>| word.starts_with(LISTS.as_bytes());
            let names_list = self.judges_order() && words.iter().any(is_list);
            if words.iter().any(is_about) {
                self.execute_one((id, server), words, &mut answers);
            } else {
                let noting = Noting::of(&words);
                self.masters[node].execute(server, self.agenda.now, words);
                let answer = self.take_answers(node, server, &mut answers);
                self.match_answered(self.lines[id.0].ends(), &answer);
                if let Some(noting) = noting {
                    self.match_noted(self.lines[id.0].ends(), &noting, &answer);
                }
            }
            if names_list {
                self.note_lists(node);
            }
        }
        self.masters[node].works(self.agenda.now, commands, self.setup.service);
        self.send_answers(node, answers);
        self.note_notes(node);
    }

    /// Executes a command about a resource.
    fn execute_one(
        &mut self,
        (id, server): (LineId, ClientId),
        words: Words,
        answers: &mut Vec<Output>,
    ) {
        let (node, by, now) = (self.lines[id.0].node, self.lines[id.0].client, self.agenda.now);
        let before = KEYS.map(|key| self.stood(node, key));
        let called = self.called(&words);
        self.masters[node].execute(server, now, words.clone());
        if self.setup.flaw == Some(Flaw::ForgetsFences) {
            for key in KEYS {
                self.masters[node].operate(now, &["DEL", &format!("{FENCE}{key}")]);
            }
        }
        let answer = self.take_answers(node, server, answers);
        self.match_executed(self.lines[id.0].ends(), &words, &answer);
        for (key, before) in KEYS.into_iter().zip(before) {
            let after = self.stood(node, key);
            if split(&words).0.first().is_some_and(|word| word == key.as_bytes()) {
                self.judge_answer((node, key), &words, &answer);
            }
            if let Some(called) = called.as_ref().filter(|called| called.key == key) {
                let verdict = self.judge_called(node, called, &answer, (&before, &after));
                self.find(verdict);
            }
            if before == after {
                continue;
            }
            let (was, is) = (before.value.as_deref(), after.value.as_deref());
            let mut verdict = self.judge_readers(key, by, &before, &after);
            // Waiters do not hear of what another client deletes, nor of a try that is rolled back. What comes late, once
            // another client has won, was no release of that hold.
            let holds = || self.clients.iter().flat_map(|client| client.holds.values());
            let is_other = |value: &str| {
                holds().any(|held| held.token != value && held.asked.keys.contains(&key))
            };
            let is_release =
                |value| self.invariants.given_back.is_release(value) && !is_other(value);
            if was.is_some_and(is_release)
                && is.is_none()
                && self.setup.announces(self.clients[by].seat)
            {
                self.released_at.insert(key, now);
            }
            if was != is {
                self.say(|| format!("   n{} {key}: {was:?} -> {is:?}, by {}", node + 1, name(by)));
                verdict = self.judge_change(node, key, by, was, is).and(verdict);
            }
            self.find(verdict);
        }
    }

    /// Returns the call of a script that a master is about to execute.
    fn called(&self, words: &Words) -> Option<Called> {
        if self.setup.flaw.is_some_and(|flaw| !flaw.is_about_entries()) {
            return None;
        }
        let script = Script::of(words)?;
        let (keys, rest) = split(words);
        let key =
            KEYS.into_iter().find(|key| keys.first().is_some_and(|name| name == key.as_bytes()))?;
        Some(Called { key, script, words: rest.iter().map(|word| text(word)).collect() })
    }

    fn judge_called(
        &self,
        node: usize,
        called: &Called,
        answer: &[u8],
        (before, after): (&Stood, &Stood),
    ) -> Verdict {
        // It is refused, and has written nothing that is not seen elsewhere.
        if answer.is_empty()
            || answer.starts_with(b"-")
            || self.denials > 0
            || self.masters[node].is_replica
        {
            return Ok(());
        }
        let number = answer.strip_prefix(b":").and_then(|rest| rest.strip_suffix(b"\r\n"));
        let number = number.and_then(|rest| std::str::from_utf8(rest).ok()?.parse().ok());
        let (key, script, words) = (called.key, called.script, &called.words[..]);
        let entries = self.masters[node].entries_of_readers(key, self.agenda.now);
        Executed { key, script, words, answer: number, before, after, entries }.judge()
    }
}

/// A call of a script.
struct Called {
    key: &'static str,
    script: Script,
    words: Vec<String>,
}
