//! The network between clients and masters: dials, bytes in flight, and ends that break.

use super::agenda::{Direction, Happening, LineId};
use super::clock::{Time, millis, nanos};
use super::commands::Commands;
use super::line::{Line, Piece, Pipe};
use super::world::World;
use quorumlock_core::coordinator::Epoch;
use quorumlock_embedded::{ClientId, Output};
use std::collections::BTreeSet;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = millis(500);

/// The pause before a dial that gets no answer is tried again.
const AGAIN: Duration = millis(40);

/// In the order of a socket's buffers, or far less.
const ROOMS: [usize; 4] = [150, 2_000, ROOMY, WIDE];
/// What is written to it is not held up.
pub(super) const ROOMY: usize = 100_000;
const WIDE: usize = 1 << 22;

/// By how much one message in fifty is late, in microseconds at most.
const LATEST_US: u64 = 60_000;
pub(super) const LATEST_IN_A_BURST_US: u64 = 2_000;

/// What a master that has much to do reads at once.
const READ_AT_ONCE: usize = 16_384;

impl World {
    pub(super) fn is_cut(&self, client: usize, node: usize, direction: Direction) -> bool {
        let seat = self.clients[client].seat;
        self.cuts.iter().any(|cut| cut.concerns(seat, node, direction))
    }

    /// Returns by how much a message may be late, in microseconds: clients at odds wait for answers, soon enough for every
    /// ttl, in a story the bounds are to be short, and in order an answer comes before a round ends.
    pub(super) fn latest_us(&self) -> u64 {
        match &self.setup.jam {
            Some(jam) if jam.is_burst() => LATEST_IN_A_BURST_US,
            _ if self.is_prompt() => 10_000,
            _ => LATEST_US,
        }
    }

    fn is_prompt(&self) -> bool {
        self.is_at_odds() || self.setup.is_a_story() || self.setup.is_orderly()
    }

    fn latency(&mut self, id: LineId) -> u64 {
        let range = self.setup.latency_us.clone();
        let late = self.latest_us();
        let line = &mut self.lines[id.0];
        let mut micros = line.rng.within(range);
        if line.rng.chance(2) {
            micros += line.rng.within(0..late);
        }
        let node = line.node;
        let slow = self.slowness.iter().filter(|slow| slow.node == node);
        micros * 1_000 + slow.map(|slow| nanos(slow.by)).sum::<u64>()
    }

    pub(super) fn send(&mut self, id: LineId, direction: Direction, piece: Piece) {
        let mut latency = self.latency(id);
        if direction == Direction::ToClient {
            // An answer leaves when the command has been executed.
            latency += self.masters[self.lines[id.0].node].works_for(self.agenda.now);
        }
        let at = self.agenda.now + latency;
        self.lines[id.0].pipe(direction).send(at, piece);
        self.expect(id, direction);
    }

    /// Puts the next arrival on the agenda, unless it is already there.
    pub(super) fn expect(&mut self, id: LineId, direction: Direction) {
        let pipe = self.lines[id.0].pipe(direction);
        if let Some(at) = pipe.next_at().filter(|_| !pipe.is_due) {
            pipe.is_due = true;
            self.agenda.at(at, Happening::Arrives(id, direction));
        }
    }

    /// Releases bytes that were held up.
    pub(super) fn release_held(&mut self) {
        for place in 0..self.lines.len() {
            self.expect(LineId(place), Direction::ToMaster);
            self.expect(LineId(place), Direction::ToClient);
        }
    }

    pub(super) fn arrives(&mut self, id: LineId, direction: Direction) {
        let line = &mut self.lines[id.0];
        line.pipe(direction).is_due = false;
        if line.is_dropped {
            line.pipe(direction).clear();
            self.troubled_at = Some(self.agenda.now);
            return;
        }
        let (client, node) = (line.client, line.node);
        let master = &self.masters[node];
        let held = match direction {
            Direction::ToMaster if !master.is_up => master.is_silent,
            Direction::ToMaster => !master.reads(),
            Direction::ToClient => self.clients[client].paused > 0,
        };
        if held || self.is_cut(client, node, direction) {
            return;
        }
        let now = self.agenda.now;
        let works_for = self.masters[node].works_for(now);
        let line = &mut self.lines[id.0];
        if direction == Direction::ToMaster && works_for > 0 {
            line.up.is_due = true;
            return self.agenda.at(now + works_for, Happening::Arrives(id, direction));
        }
        let (mut most, rest_at) = (line.portion(), now + line.rng.within(1..300_000));
        if !self.setup.service.is_zero() {
            most = most.min(READ_AT_ONCE);
        }
        let Some(piece) = line.pipe(direction).receive(now, most, rest_at) else {
            return self.expect(id, direction);
        };
        match direction {
            Direction::ToMaster => self.reaches_master(id, piece),
            Direction::ToClient => self.reaches_client(id, piece),
        }
        self.expect(id, direction);
    }

    fn reaches_master(&mut self, id: LineId, piece: Piece) {
        let line = &mut self.lines[id.0];
        let (node, client) = (line.node, line.client);
        match (line.server, piece) {
            (Some(server), Piece::Bytes(bytes)) => {
                self.execute(id, server, &bytes);
                let line = &mut self.lines[id.0];
                if std::mem::take(&mut line.is_full) {
                    self.agenda.at(self.agenda.now, Happening::Writes(client));
                }
            }
            (Some(server), Piece::End) => {
                line.server = None;
                self.ends.remove(&(node, server));
                self.masters[node].hang_up(server);
                self.match_dead(self.lines[id.0].ends());
            }
            // A process that does not know the connection resets it.
            (None, Piece::Bytes(_)) => {
                line.up.clear();
                let at = self.agenda.now + self.latency(id);
                self.agenda.at(at, Happening::Breaks(id));
            }
            (None, Piece::End) => {}
        }
    }

    /// Takes what a master has to send to what it has had, and returns what `asker` is answered, behind
    /// the messages that it has by the same command.
    pub(super) fn take_answers(
        &mut self,
        node: usize,
        asker: ClientId,
        all: &mut Vec<Output>,
    ) -> Vec<u8> {
        let (mut answer, mut letters) = (Vec::new(), Vec::new());
        while let Some(output) = self.masters[node].poll_output() {
            if let Output::Send(server, bytes) = &output {
                if bytes.starts_with(b">") {
                    letters.extend_from_slice(bytes);
                }
                if *server == asker {
                    answer.extend_from_slice(bytes);
                }
                if let Some(Output::Send(before, sent)) = all.last_mut()
                    && before == server
                {
                    sent.extend_from_slice(bytes);
                    continue;
                }
            }
            all.push(output);
        }
        self.judge_letters(node, &letters);
        answer
    }

    /// Puts the master's answers in flight.
    pub(super) fn send_answers(&mut self, node: usize, all: Vec<Output>) {
        for output in all {
            match output {
                Output::Send(server, bytes) => {
                    if let Some(id) = self.ends.get(&(node, server)) {
                        self.send(*id, Direction::ToClient, Piece::Bytes(bytes));
                    }
                }
                Output::Close(server) => {
                    if let Some(id) = self.ends.remove(&(node, server)) {
                        self.lines[id.0].server = None;
                        self.match_dead(self.lines[id.0].ends());
                        self.send(id, Direction::ToClient, Piece::End);
                    }
                }
            }
        }
    }

    fn reaches_client(&mut self, id: LineId, piece: Piece) {
        let line = &mut self.lines[id.0];
        let (client, node, epoch) = (line.client, line.node, line.epoch);
        if !line.is_of(&self.clients, id) {
            return line.down.clear();
        }
        let bytes = match piece {
            Piece::Bytes(bytes) => bytes,
            Piece::End => return self.breaks(id),
        };
        line.owes_answer = false;
        line.has_answered |= line.voted_at.is_some();
        self.heard.insert(id);
        let local = self.clients[client].clock.at(self.agenda.now);
        let own = self.clients[client].own(node);
        if let Some(machine) = &mut self.clients[client].machine {
            machine.handle_bytes(local, own, epoch, &bytes);
        }
        self.turn(client);
    }

    /// Lets the client read the end of the stream, or an error.
    pub(super) fn breaks(&mut self, id: LineId) {
        let line = &mut self.lines[id.0];
        let (client, node, epoch) = (line.client, line.node, line.epoch);
        if !line.is_of(&self.clients, id) {
            return;
        }
        if self.clients[client].paused > 0 {
            return self.clients[client].waiting.push(Happening::Breaks(id));
        }
        let all_may_have_left = line.rng.chance(30);
        line.open = false;
        self.clients[client].lines[node] = None;
        self.say(|| {
            format!("{} finds its line to n{} broken", super::client::name(client), node + 1)
        });
        let local = self.clients[client].clock.at(self.agenda.now);
        let own = self.clients[client].own(node);
        if let Some(machine) = &mut self.clients[client].machine {
            // Like a stream that passes on some of the bytes it was given, and then fails.
            if all_may_have_left {
                let offered = machine.transmit(own).1.len();
                machine.handle_written(local, own, epoch, offered);
            }
            machine.handle_closed(local, own, epoch, "reset by peer");
        }
        self.note_break(client, node);
        self.match_broken((client, node, epoch));
        self.turn(client);
    }

    /// Closes the client's end: what it has written still arrives.
    pub(super) fn hang_up(&mut self, id: LineId) {
        let line = &mut self.lines[id.0];
        let (client, node, epoch) = line.ends();
        line.open = false;
        line.down.clear();
        if self.clients[client].lines[node] == Some(id) {
            self.clients[client].lines[node] = None;
        }
        self.match_broken((client, node, epoch));
        self.send(id, Direction::ToMaster, Piece::End);
    }

    /// Widens the lines. If a line takes less than is repeatedly asked of it, its queue never ends.
    /// That is a fault, too, and ends with the others.
    pub(super) fn widen_lines(&mut self) {
        self.is_calm = true;
        self.lines.iter_mut().for_each(|line| line.room = WIDE);
        (0..self.clients.len()).for_each(|client| self.turn(client));
    }

    // Dials.

    pub(super) fn begin_dial(&mut self, client: usize, node: usize, epoch: Epoch) {
        let since = self.agenda.now;
        let range = self.setup.latency_us.clone();
        let takes = self.clients[client].rng.within(range) * 1_000;
        self.agenda.at(since + takes, Happening::Dial { client, node, epoch, since });
    }

    pub(super) fn dial(&mut self, client: usize, node: usize, epoch: Epoch, since: Time) {
        let now = self.agenda.now;
        if self.clients[client].paused > 0 {
            let dial = Happening::Dial { client, node, epoch, since };
            return self.clients[client].waiting.push(dial);
        }
        let both = [Direction::ToMaster, Direction::ToClient];
        let is_cut = both.into_iter().any(|direction| self.is_cut(client, node, direction));
        let master = &self.masters[node];
        let failed = match () {
            () if is_cut || (!master.is_up && master.is_silent) => {
                let until = since + nanos(CONNECT_TIMEOUT);
                if now < until {
                    let dial = Happening::Dial { client, node, epoch, since };
                    return self.agenda.at(until.min(now + nanos(AGAIN)), dial);
                }
                Some("timed out")
            }
            () if !master.is_up => Some("connection refused"),
            () => None,
        };
        let local = self.clients[client].clock.at(now);
        if self.clients[client].machine.is_none() {
            return;
        }
        if failed.is_none() {
            self.open_line(client, node, epoch);
        }
        let own = self.clients[client].own(node);
        let Some(machine) = &mut self.clients[client].machine else { return };
        match failed {
            Some(cause) => machine.handle_closed(local, own, epoch, cause),
            None => machine.handle_connected(local, own, epoch),
        }
        self.turn(client);
    }

    fn open_line(&mut self, client: usize, node: usize, epoch: Epoch) {
        let server = self.masters[node].accept();
        let id = LineId(self.lines.len());
        let mut rng = self.clients[client].rng.fork();
        // Clients at odds wait for answers: a long message must not have to wait for itself.
        let narrow = *rng.pick(if self.is_prompt() { &ROOMS[2..] } else { &ROOMS });
        let room = if self.is_calm { WIDE } else { narrow };
        self.ends.insert((node, server), id);
        self.lines.push(Line {
            client,
            node,
            epoch,
            opened: self.agenda.now,
            server: Some(server),
            open: true,
            up: Pipe::default(),
            down: Pipe::default(),
            room,
            is_full: false,
            rng,
            written: Commands::default(),
            released: BTreeSet::new(),
            waiters: BTreeSet::new(),
            is_dropped: false,
            voted_at: None,
            has_answered: false,
            owes_answer: false,
            channels: BTreeSet::new(),
            arrived: Commands::default(),
        });
        self.clients[client].lines[node] = Some(id);
        self.match_connected((client, node, epoch));
        self.opened.insert((client, node));
    }
}
