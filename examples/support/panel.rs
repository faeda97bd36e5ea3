//! The live lines at the bottom of a terminal, with events scrolling by above them.

use crate::masters::State;
use crate::news::Tone;
use crate::show::{Scene, paint, quorum};
use crate::witness::Seen;
use crate::workers::TTL;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::env;
use std::io;
use std::sync::atomic::Ordering::SeqCst;

pub(crate) struct Panel {
    multi: MultiProgress,
    lines: Vec<ProgressBar>,
    holder: ProgressBar,
    styles: [ProgressStyle; 3],
    done: ProgressBar,
}

impl Panel {
    pub(crate) fn new() -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stdout());
        let text = |_| multi.add(ProgressBar::new(0).with_style(style("{msg}")));
        // An empty line, the time, and one for each master.
        let lines = (0..2 + crate::masters::MASTERS).map(text).collect();
        let styles = ["green", "yellow", "red"].map(|colour| {
            style(&format!("   inside  {{prefix:14}} {{bar:34.{colour}/dim}} {{msg}}"))
        });
        let ttl = u64::try_from(TTL.as_millis()).unwrap_or(u64::MAX);
        let holder = multi.add(ProgressBar::new(ttl).with_style(styles[0].clone()));
        let done = multi.add(ProgressBar::new(0).with_style(style("{msg}")));
        Self { lines, holder, styles, done, multi }
    }

    pub(crate) fn say(&self, line: &str) -> io::Result<()> {
        self.multi.println(line)
    }

    pub(crate) fn clear(&self) -> io::Result<()> {
        self.multi.clear()
    }

    pub(crate) fn draw(&self, time: &str, scene: &Scene) {
        let (tone, quorum) = quorum(&scene.masters);
        self.lines[0].set_message(" ");
        self.lines[1].set_message(format!("{time}   {}", paint(tone, &quorum)));
        for node in 0..scene.masters.all().len() {
            self.lines[2 + node].set_message(master(scene, node));
        }
        self.draw_holder(scene);
        let tally = scene.floor.tally();
        let waiting = scene.floor.waiting.load(SeqCst);
        let tone = if tally.overlaps == 0 { Tone::Good } else { Tone::Bad };
        let overlaps = paint(tone, &format!("overlaps {}", tally.overlaps));
        let sections = tally.sections;
        self.done.set_message(format!("   sections {sections:<6} {overlaps}   waiting {waiting}"));
    }

    fn draw_holder(&self, scene: &Scene) {
        let inside = scene.floor.inside();
        let left = scene.floor.validity_left();
        let share = left.as_secs_f64() / TTL.as_secs_f64();
        let style = if share > 0.5 { 0 } else { 1 + usize::from(share < 0.2) };
        self.holder.set_style(self.styles[style].clone());
        self.holder.set_position(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        self.holder.set_message(match &inside {
            Some(_) => format!("valid for {:.2} s", left.as_secs_f64()),
            None => String::new(),
        });
        self.holder.set_prefix(inside.unwrap_or_else(|| "no worker".to_owned()));
        self.holder.tick();
    }
}

fn master(scene: &Scene, node: usize) -> String {
    let master = &scene.masters.all()[node];
    let (tone, state) = match (master.state(), scene.masters.can_be_killed()) {
        (State::Up, _) => (Tone::Good, "up"),
        (State::Back, _) => (Tone::Good, "back"),
        (State::Lost, true) => (Tone::Bad, "KILLED"),
        (State::Lost, false) => (Tone::Bad, "CUT OFF"),
    };
    let state = paint(tone, &format!("{state:<8}"));
    let seen = match scene.witness.saw(node) {
        Seen::Key { token, lives_for } => {
            let token = token.get(..6).unwrap_or(&token);
            format!("key {token}  expires in {:.2} s", lives_for.as_secs_f64())
        }
        Seen::Free => "no key".to_owned(),
        Seen::Nothing => String::new(),
    };
    format!("   M{}  {:<22} {state} {seen}", node + 1, master.name)
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars(if is_utf8() { "█░" } else { "#." })
}

fn is_utf8() -> bool {
    let set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(set);
    let locale = locale.and_then(|name| env::var(name).ok()).unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
