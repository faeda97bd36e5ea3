//! A client asks a node whether its settings are the same as the others', and notes them.

use super::mutants::Mutant;
use super::protocol::Agreement;
use super::state::{State, bit};

impl Agreement {
    pub(super) fn ask(&self, state: &mut State, client: usize, node: usize) -> Option<()> {
        let link = &mut state.nodes[node].links[client];
        if link.unseen > 0 {
            // The client finds its connection closed, and asks on a new one.
            link.close();
        }
        if link.under_way > 0 {
            return None;
        }
        let tells = self.note(state, client, node);
        if !self.sends_again(state, client) {
            return Some(());
        }
        let link = &mut state.nodes[node].links[client];
        (link.under_way, link.tells) = (1, tells);
        if self.config.clients[client].late { Some(()) } else { self.read(state, client, node) }
    }

    /// Notes a client at a node that reports no other to it. Returns those that it reports.
    fn note(&self, state: &mut State, client: usize, node: usize) -> u8 {
        let brief = state.actors[client].brief;
        let links = &mut state.nodes[node].links;
        let noted = |other: &usize| links[*other].note > 0;
        let tells = self.others(client).filter(noted).fold(0, |all, other| all | bit(other));
        let reads = self.config.clients[client].reads;
        let link = &mut links[client];
        if tells == 0 && (!reads || self.config.is(Mutant::ReaderNotes)) {
            let prolonged = !self.config.is(Mutant::ProlongedOnce) || link.note == 0;
            if prolonged {
                link.note = link.note.max(self.decisions.life(client, brief));
            }
        }
        tells
    }

    /// Answers the question that was sent ahead of a command of the first round. Returns whether the
    /// command's vote counts.
    pub(super) fn condition(&self, state: &mut State, client: usize, node: usize) -> bool {
        let tells = self.note(state, client, node);
        let asked = state.actors[client].since + 1;
        let link = &mut state.nodes[node].links[client];
        (link.conditional, link.under_way, link.tells) = (false, asked, tells);
        let read = self.read(state, client, node);
        let confirmed = state.nodes[node].links[client].confirmed > 0;
        read.is_some() && confirmed || self.config.is(Mutant::UnconfirmedVotes)
    }

    pub(super) fn read(&self, state: &mut State, client: usize, node: usize) -> Option<()> {
        let link = &mut state.nodes[node].links[client];
        if link.under_way == 0 || link.unseen > 0 {
            return None;
        }
        let (asked, tells) = (link.under_way, link.tells);
        let from_now = self.config.is(Mutant::LimitFromTheAnswer);
        let counts = if from_now { 1 } else { self.decisions.confirms(asked) };
        let brief = state.actors[client].brief && !self.config.is(Mutant::BriefConfirms);
        (link.under_way, link.tells, link.failed) = (0, 0, false);
        link.answered = counts;
        let agreed = if tells == 0 { counts } else { 0 };
        (link.briefly, link.confirmed) = if brief { (agreed, 0) } else { (0, agreed) };
        // The node's new report replaces its earlier one.
        (link.reported, link.hidden) = Default::default();
        if tells == 0 && self.config.is(Mutant::ForgottenAtAnyAnswer) {
            for node in &mut state.nodes[..self.config.nodes] {
                let link = &mut node.links[client];
                (link.reported, link.hidden) = Default::default();
            }
        }
        let clients = &self.config.clients;
        let numbers = |other: &usize| !clients[client].has_the_numbers(&clients[*other]);
        let reported = |other: &usize| tells >> other & 1 == 1;
        let hides = self.config.is(Mutant::NumbersHideLists)
            && (0..self.count()).filter(reported).any(|other| numbers(&other));
        for other in (0..self.count()).filter(reported) {
            let links = &mut state.nodes[node].links;
            let lapses = links[other].note.max(self.decisions.silence + 1);
            let link = &mut links[client];
            link.reported[other] = lapses;
            if hides {
                link.hidden |= bit(other);
            }
        }
        Some(())
    }

    /// Answers with an error, which says nothing.
    pub(super) fn fail(&self, state: &mut State, client: usize, node: usize) -> Option<()> {
        let sends_again = self.sends_again(state, client);
        let link = &mut state.nodes[node].links[client];
        if link.unseen > 0 || link.under_way > 0 || !sends_again {
            return None;
        }
        (link.answered, link.failed) = (1, true);
        if self.config.is(Mutant::ErrorIsAYes) {
            link.confirmed = 1;
        }
        Some(())
    }
}
