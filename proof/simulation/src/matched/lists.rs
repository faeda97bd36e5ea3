//! The lists of masters, their quorums, and on which of them a hold rests.

use super::lock::{Kind, Lock};
use super::steps::Steps;
use evaluator::{Change, Element};
use quorumlock_core::quorum::NodeSet;

/// Adds the smallest quorums of each list: what a greater one has answered, one of these has.
pub(super) fn add_quorums(steps: &mut Steps, kind: Kind, lists: &[NodeSet]) -> Vec<Vec<Element>> {
    let each = lists.iter().map(|list| {
        let masters: Vec<usize> = list.iter().collect();
        let named = (kind == Kind::Joint).then(|| steps.state.add("MasterList"));
        let most = masters.len() / 2 + 1;
        let of_list = (0..1_u32 << masters.len()).filter(|set| set.count_ones() as usize == most);
        let quorums = of_list.map(|set| {
            let quorum = steps.state.add("Quorum");
            for (place, node) in masters.iter().enumerate() {
                if set >> place & 1 == 1 {
                    steps.state.set("member", &[quorum, *node as Element], 1);
                }
            }
            if let Some(list) = named {
                steps.state.set("list_of", &[quorum], list);
            }
            quorum
        });
        quorums.collect()
    });
    each.collect()
}

impl Lock {
    /// Notes which lists the client of a token has.
    pub(super) fn uses(&mut self, token: Element, lists: &[NodeSet]) {
        if self.kind == Kind::Joint {
            for (list, known) in self.lists.iter().enumerate() {
                let is_used = lists.contains(known);
                self.steps.state.set("uses", &[token, list as Element], i64::from(is_used));
            }
        }
    }

    /// Returns the quorums on which a round may rest: one of each list.
    fn choices(&self, round: Element) -> Vec<Vec<Element>> {
        if self.kind != Kind::Joint {
            return self.quorums[0].iter().map(|quorum| vec![*quorum]).collect();
        }
        let state = &self.steps.state;
        let has_answered = |quorum: &&Element| {
            let mut nodes = state.live("Node").iter();
            nodes.all(|node| {
                !state.is("member", &[**quorum, *node]) || state.is("ack", &[round, *node])
            })
        };
        let of = |quorums: &Vec<Element>| *quorums.iter().find(has_answered).unwrap_or(&quorums[0]);
        vec![self.quorums.iter().map(of).collect()]
    }

    /// Takes the step by which a deadline rests on the answers of a quorum to one of these rounds.
    pub(super) fn rests(
        &mut self,
        action: &str,
        token: Element,
        rounds: &[Element],
        deadline: i64,
    ) -> Result<(), String> {
        // Of all that do not fit, the one of which most holds.
        let mut nearest = (0, format!("{action} without a round"));
        for round in rounds {
            self.steps.state.set_live("Round", *round, true);
            for choice in self.choices(*round) {
                let parameters = [("r0", *round), ("q0", choice[0]), ("d0", deadline)];
                if self.kind == Kind::Joint {
                    for (list, quorum) in choice.iter().enumerate() {
                        self.steps.state.set("counted", &[list as Element], *quorum);
                    }
                }
                let changes = self.changes(action, token, *round, &choice, deadline);
                match self.steps.takes(action, &parameters, &changes)? {
                    None => return Ok(()),
                    Some(misfit) if misfit.0 > nearest.0 => nearest = misfit,
                    Some(_) => {}
                }
            }
        }
        Err(nearest.1)
    }

    /// Returns what changes when a hold rests on these quorums.
    fn changes(
        &self,
        action: &str,
        token: Element,
        round: Element,
        choice: &[Element],
        deadline: i64,
    ) -> Vec<Change> {
        let state = &self.steps.state;
        let mut changes =
            vec![state.to("deadline", &[token], deadline), state.to("won_in", &[token], round)];
        let by = |name: &str, of: Element| {
            let each = choice.iter().enumerate();
            each.map(|(list, quorum)| state.to(name, &[of, list as Element], *quorum))
                .collect::<Vec<_>>()
        };
        match self.kind {
            Kind::Joint => changes.extend(by("won_by", token)),
            _ => changes.push(state.to("won_by", &[token], choice[0])),
        }
        match action {
            "win" => {
                changes.push(state.to("held", &[token], 1));
                match self.kind {
                    Kind::Lock | Kind::Readers => {}
                    Kind::Joint => {
                        changes.push(state.to("won", &[round], 1));
                        changes.extend(by("history", round));
                    }
                    Kind::Several => {
                        changes.push(state.to("won", &[round], 1));
                        changes.push(state.to("history", &[round], choice[0]));
                    }
                    Kind::HandOver | Kind::MinHold | Kind::Warm => {
                        changes.push(state.to("first_won_by", &[token], choice[0]));
                        changes.push(state.to("first_won_in", &[token], round));
                        changes.extend(self.changes_of_win(token, round));
                    }
                }
            }
            "detach" => {
                changes.push(state.to("value", &[token], 1));
                let nodes = state.live("Node").iter();
                let named = nodes.map(|node| (*node, state.value("more", &[*node])));
                changes.extend(named.map(|(node, is)| state.to("named", &[token, node], is)));
            }
            "adopt" => {
                changes.push(state.to("value", &[token], 0));
                changes.push(state.to("leaving", &[token], 0));
                changes.push(state.to("held", &[token], 1));
            }
            _ => {}
        }
        changes
    }

    fn changes_of_win(&self, token: Element, round: Element) -> Vec<Change> {
        let state = &self.steps.state;
        if self.kind == Kind::Warm {
            return vec![state.to("last", &[token], state.value("ballot", &[round]))];
        }
        let mut changes = vec![state.to("won", &[token], 1)];
        if self.kind == Kind::HandOver {
            let others = self.tokens.values().filter(|other| **other != token);
            let won = others.filter(|other| state.is("won", &[**other]));
            changes.extend(won.map(|other| state.to("followed", &[token, *other], 1)));
        }
        changes
    }
}
