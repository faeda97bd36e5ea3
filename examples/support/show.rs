//! The display while the demonstration runs: a live panel on a terminal, plain lines elsewhere.

use crate::floor::Floor;
use crate::masters::{MASTERS, Masters, QUORUM, State};
use crate::news::{Heard, Tone};
use crate::panel::Panel;
use crate::witness::Witness;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

const FRAME: Duration = Duration::from_millis(70);
/// Time between status lines where there is no panel.
const SECOND: Duration = Duration::from_secs(1);
/// Width of an event's text; with the time before it, it fits into 80 columns.
const WIDTH: usize = 68;

/// The state to show.
pub(crate) struct Scene {
    pub(crate) masters: Arc<Masters>,
    pub(crate) witness: Witness,
    pub(crate) floor: Arc<Floor>,
}

pub(crate) struct Show {
    scene: Arc<Scene>,
    heard: Heard,
    panel: Option<Panel>,
    began: Instant,
}

impl Show {
    pub(crate) fn new(scene: Arc<Scene>, heard: Heard) -> Self {
        let panel = on_terminal().then(Panel::new);
        Self { scene, heard, panel, began: Instant::now() }
    }

    /// Shows what goes on until `play` is over.
    pub(crate) async fn during<T>(&mut self, play: impl Future<Output = T>) -> io::Result<T> {
        if self.panel.is_none() {
            say("   time   M1    M2    M3    M4    M5    inside     validity  waiting  sections")?;
        }
        let frame = if self.panel.is_some() { FRAME } else { SECOND };
        let mut tick = interval_at(Instant::now() + frame, frame);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        tokio::pin!(play);
        loop {
            tokio::select! {
                biased;
                Some((tone, what)) = self.heard.recv() => self.event(tone, &what)?,
                _ = tick.tick() => self.draw()?,
                result = &mut play => {
                    while let Ok((tone, what)) = self.heard.try_recv() {
                        self.event(tone, &what)?;
                    }
                    return Ok(result);
                }
            }
        }
    }

    /// Leaves the lines above the panel, and room below them.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.panel.take().map_or(Ok(()), |panel| panel.clear())
    }

    fn draw(&self) -> io::Result<()> {
        let time = self.time();
        match &self.panel {
            Some(panel) => panel.draw(&time, &self.scene),
            None => say(&status(&time, &self.scene))?,
        }
        Ok(())
    }

    pub(crate) fn event(&self, tone: Tone, what: &str) -> io::Result<()> {
        let mut before = self.time();
        for line in folded(what) {
            let line = format!("{before}   {}", paint(tone, &line));
            match &self.panel {
                Some(panel) => panel.say(&line)?,
                None => say(&line)?,
            }
            before = " ".repeat(before.len());
        }
        Ok(())
    }

    fn time(&self) -> String {
        format!("{:>5.1} s", self.began.elapsed().as_secs_f64())
    }
}

/// Formats the status as one plain line.
fn status(time: &str, scene: &Scene) -> String {
    let killed = if scene.masters.can_be_killed() { "DEAD" } else { "CUT " };
    let states = scene.masters.all().iter().map(|master| match master.state() {
        State::Up => "up  ",
        State::Back => "back",
        State::Lost => killed,
    });
    let states = states.collect::<Vec<_>>().join("  ");
    let floor = &scene.floor;
    let (inside, left) = match floor.inside() {
        Some(inside) => (inside, format!("{:.2} s", floor.validity_left().as_secs_f64())),
        None => ("no worker".to_owned(), "-".to_owned()),
    };
    let (waiting, sections) = (floor.waiting.load(SeqCst), floor.tally().sections);
    format!("{time}   {states}  {inside:<11} {left:>7}  {waiting:>7}  {sections:>8}")
}

/// Says in words whether a quorum is up.
pub(crate) fn quorum(masters: &Masters) -> (Tone, String) {
    match masters.up() {
        up if up < QUORUM => {
            (Tone::Bad, format!("NO QUORUM: {up} of {MASTERS} masters, {QUORUM} are needed"))
        }
        up => (Tone::Calm, format!("{up} of {MASTERS} masters: a quorum")),
    }
}

pub(crate) fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

fn on_terminal() -> bool {
    io::stdout().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Adds colour if the output supports it and the user wants it (`NO_COLOR`).
pub(crate) fn paint(tone: Tone, text: &str) -> String {
    let colour = match tone {
        Tone::Good => "32",
        Tone::Trouble => "33",
        Tone::Bad => "1;31",
        Tone::Calm => return text.to_owned(),
    };
    if on_terminal() && env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{colour}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

fn folded(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let room = lines.last().is_some_and(|line| line.len() + 1 + word.len() <= WIDTH);
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
