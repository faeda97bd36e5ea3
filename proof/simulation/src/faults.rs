//! The faults of clients, masters and the network, and how they end.

use super::agenda::{Direction, End, Happening, LineId};
use super::client::name;
use super::clock::{Time, nanos};
use super::history::MasterState;
use super::line::Piece;
use super::marks::Victim;
use super::plan::Fault;
use super::world::World;
use std::time::Duration;

/// A cut: bytes do not pass.
pub(super) struct Cut {
    id: u64,
    seat: Option<usize>,
    node: usize,
    direction: Option<Direction>,
}

impl Cut {
    pub(super) fn is_between(&self, seat: usize, node: usize) -> bool {
        self.node == node && self.seat.is_none_or(|only| only == seat)
    }

    pub(super) fn concerns(&self, seat: usize, node: usize, direction: Direction) -> bool {
        self.node == node
            && self.seat.is_none_or(|only| only == seat)
            && self.direction.is_none_or(|only| only == direction)
    }
}

pub(super) struct Slowness {
    id: u64,
    pub(super) node: usize,
    pub(super) by: Duration,
}

impl World {
    /// Ends a fault after `span`.
    pub(super) fn ends_after(&mut self, span: Duration, end: End) {
        let at = self.agenda.now + nanos(span);
        self.calm_from = self.calm_from.max(at + 1);
        self.agenda.at(at, Happening::Ends(end));
    }

    pub(super) fn befalls(&mut self, fault: Fault) {
        let now = self.agenda.now;
        self.say(|| format!("** {fault:?}"));
        let (label, victim) = fault.mark();
        let on = match victim {
            Victim::Seat(seat) => Some(name(self.seats[seat])),
            Victim::Master(node) => Some(format!("n{}", node + 1)),
            Victim::All => None,
        };
        self.history.mark(now, label, on);
        self.faults += 1;
        self.troubled_at = Some(now);
        let id = self.faults;
        match fault {
            Fault::PausesClient { seat, span } => {
                let client = self.seats[seat];
                if self.clients[client].paused == 0 {
                    self.clients[client].paused_at = now;
                }
                self.clients[client].paused += 1;
                self.ends_after(span, End::Pause(client));
            }
            Fault::KillsClient { seat, back_after } => self.kill_client(seat, back_after),
            Fault::EndsClient { seat, back_after } => self.end_client(seat, back_after),
            Fault::SetsWallClock { seat, ahead_ms } => {
                let client = &mut self.clients[self.seats[seat]];
                let ahead = Duration::from_millis(ahead_ms.unsigned_abs());
                client.wall = if ahead_ms < 0 { client.wall - ahead } else { client.wall + ahead };
            }
            Fault::Cuts { seat, node, direction, span } => {
                self.cuts.push(Cut { id, seat, node, direction });
                self.ends_after(span, End::Cut(id));
            }
            Fault::Slows { node, by, span } => {
                self.slowness.push(Slowness { id, node, by });
                self.ends_after(span, End::Slowness(id));
            }
            Fault::Drops { seat, node } => self.drop_line(seat, node),
            Fault::Resets { seat, node } => self.reset(seat, node),
            Fault::Strays { seat, node, by } => self.stray(seat, node, by),
            Fault::Stops { node, span } if self.masters[node].is_up => {
                let master = &mut self.masters[node];
                master.stops += 1;
                let life = master.life;
                self.ends_after(span, End::Stop { node, life });
            }
            Fault::Kills { node, silent, down, keeps } => self.kill(node, silent, down, keeps),
            Fault::KillsAll { down, keeps } => {
                (0..self.masters.len()).for_each(|node| self.kill(node, true, down, keeps));
            }
            Fault::FlushesScripts { node } => {
                self.masters[node].operate(now, &["SCRIPT", "FLUSH"]);
            }
            Fault::Denies { node, rights, span } => {
                self.masters[node].deny(rights);
                self.masters[node].denials += 1;
                self.denials += 1;
                self.have_denied.insert(node);
                self.ends_after(span, End::Denial(node));
            }
            Fault::MakesReplica { node, span } => {
                self.masters[node].operate(now, &["REPLICAOF", "192.0.2.1", "6379"]);
                self.masters[node].is_replica = true;
                self.ends_after(span, End::Replica(node));
            }
            Fault::StepsBack { node, by } => {
                self.masters[node].step_back(by, now);
                self.match_set_back(node);
            }
            Fault::StepsForward { node, by } => {
                self.masters[node].clock.stepped += nanos(by) as i64;
            }
            Fault::Sticks { node, key, span } => {
                self.masters[node].stick(key, now);
                self.ends_after(span, End::Stuck { node, key });
            }
            Fault::Stops { .. } => {}
        }
        self.note_disturbances();
        self.note_states();
    }

    pub(super) fn end(&mut self, end: End) {
        let now = self.agenda.now;
        self.say(|| format!("** over: {end:?}"));
        self.troubled_at = Some(now);
        self.note_disturbances();
        match end {
            End::Pause(client) => self.resume(client),
            End::WarmUp => {}
            End::Absence(seat) if self.deceives(seat) => {
                self.ends_after(Duration::from_millis(50), End::Absence(seat));
            }
            End::Absence(seat) => self.seat(seat),
            End::Linger(client) => self.is_gone(client, true),
            End::Denial(node) => {
                let denied = if self.setup.denies.contains(node) { self.setup.denied } else { &[] };
                self.masters[node].deny(denied);
                self.masters[node].denials -= 1;
                self.denials -= 1;
            }
            End::Stuck { node, key } => self.masters[node].unstick(key, now),
            End::Cut(id) => self.cuts.retain(|cut| cut.id != id),
            End::Slowness(id) => self.slowness.retain(|slow| slow.id != id),
            End::Stop { node, life } => {
                let master = &mut self.masters[node];
                if master.life == life {
                    master.stops -= 1;
                }
            }
            End::Outage { node, keeps } => {
                let keeps = keeps || self.setup.replaces && !self.have_all_met(node);
                self.masters[node].start(keeps, now);
                self.match_started(node, keeps);
                if !keeps {
                    self.match_restart(node);
                }
                if !keeps && self.setup.replaces {
                    self.replace(node);
                }
                if self.setup.warms_up() {
                    let warm = now + nanos(self.setup.quarantine);
                    self.agenda.at(warm, Happening::Ends(End::WarmUp));
                }
            }
            // The operator waits until the master is up.
            End::Replica(node) if !self.masters[node].is_up => {
                self.ends_after(Duration::from_millis(50), End::Replica(node));
            }
            // A promoted replica is unfit until it is restarted.
            End::Replica(node) => {
                self.masters[node].operate(now, &["REPLICAOF", "NO", "ONE"]);
                self.masters[node].is_replica = false;
                self.kill(node, false, Duration::from_millis(20), true);
            }
        }
        self.release_held();
        self.note_disturbances();
        self.note_states();
    }

    // The network.

    /// Returns the client's connection to a master, if it has one.
    fn line(&self, seat: usize, node: usize) -> Option<LineId> {
        self.clients[self.seats[seat]].lines[node]
    }

    fn reset(&mut self, seat: usize, node: usize) {
        let Some(id) = self.line(seat, node) else { return };
        let line = &mut self.lines[id.0];
        line.up.clear();
        line.down.clear();
        if let Some(server) = line.server.take() {
            self.ends.remove(&(node, server));
            self.masters[node].hang_up(server);
            self.match_dead(self.lines[id.0].ends());
        }
        self.agenda.at(self.agenda.now, Happening::Breaks(id));
    }

    /// Loses what is in flight, and all that is sent from now on.
    fn drop_line(&mut self, seat: usize, node: usize) {
        let Some(id) = self.line(seat, node) else { return };
        self.lines[id.0].is_dropped = true;
    }

    /// Breaks the way back, and delays what is in flight on the way there by so much.
    fn stray(&mut self, seat: usize, node: usize, by: Duration) {
        let Some(id) = self.line(seat, node) else { return };
        let until = self.agenda.now + nanos(by);
        self.calm_from = self.calm_from.max(until);
        self.lines[id.0].up.delay(until);
        self.agenda.at(self.agenda.now, Happening::Breaks(id));
    }

    // Masters.

    fn kill(&mut self, node: usize, silent: bool, down: Duration, keeps: bool) {
        if !self.masters[node].is_up {
            return;
        }
        self.masters[node].kill(silent);
        let lines = self.ends.iter().filter(|((at, _), _)| *at == node);
        let lines: Vec<LineId> = lines.map(|(_, id)| *id).collect();
        self.ends.retain(|(at, _), _| *at != node);
        for id in lines {
            self.lines[id.0].server = None;
            self.match_dead(self.lines[id.0].ends());
            // The kernel closes the process's connections.
            if !silent {
                self.send(id, Direction::ToClient, Piece::End);
            }
        }
        self.ends_after(down, End::Outage { node, keeps });
    }

    /// Records the present state of each master, for the history.
    fn note_states(&mut self) {
        for node in 0..self.masters.len() {
            let state = self.state(node, self.agenda.now);
            self.history.enters(node, state, self.agenda.now);
        }
    }

    fn state(&self, node: usize, now: Time) -> MasterState {
        let master = &self.masters[node];
        let cut = |cut: &Cut| cut.node == node && cut.seat.is_none() && cut.direction.is_none();
        match () {
            () if !master.is_up => MasterState::Down,
            () if master.stops > 0 => MasterState::Stopped,
            () if self.cuts.iter().any(cut) => MasterState::CutOff,
            () if self.slowness.iter().any(|slow| slow.node == node) => MasterState::Slow,
            () if self.may_not_vote(node, now, self.setup.quarantine) => MasterState::WarmingUp,
            () => MasterState::Up,
        }
    }

    /// Returns whether it has lost its memory so recently that no vote of it counts.
    pub(super) fn may_not_vote(&self, node: usize, now: Time, quarantine: Duration) -> bool {
        let quarantine = nanos(quarantine);
        self.masters[node].forgot_at.is_some_and(|at| now < at + quarantine)
    }
}
