//! All pictures in one, each with a sentence that explains it.

use super::panel::{Caption, WIDTH, height, panel};
use super::{Summary, sweeps};

/// A metric of a scene or trial, and how to read it.
struct Drawn {
    /// For `W5`: all scenes whose name begins with it.
    name: &'static str,
    metric: &'static str,
    caption: Caption,
}

const LESS: &str = "less is better";
const MORE: &str = "more is better";

const fn drawn(
    name: &'static str,
    metric: &'static str,
    hint: &'static str,
    says: &'static str,
) -> Drawn {
    Drawn { name, metric, caption: Caption { hint, says } }
}

const DRAWN: [Drawn; 18] = [
    drawn("W1", "acquire p50 us", LESS, "How long one task waits for a lock that is free."),
    drawn("W1", "cycles/s", MORE, "How often a second one task takes a lock and gives it back."),
    drawn("W2", "cycles/s", MORE, "How many locks a second 64 tasks take and give back, on Redis."),
    drawn("W2", "CPU us/cycle", LESS, "What the client spends on each of those locks."),
    drawn("W2", "masters' CPU us/cycle", LESS, "What five masters together spend on each of them."),
    drawn(
        "W2-valkey",
        "cycles/s",
        MORE,
        "The same rate on Valkey 9, which compares and deletes itself.",
    ),
    drawn("W2-valkey", "CPU us/cycle", LESS, "What the client spends on each lock there."),
    drawn("W2-valkey", "masters' CPU us/cycle", LESS, "What five masters of Valkey 9 spend on it."),
    drawn("W7", "acquire p50 us", LESS, "What a fencing token, and what several keys at once add."),
    drawn(
        "W9",
        "acquire p99.9 us",
        LESS,
        "The worst waits beside 10,000 locks that are kept alive.",
    ),
    drawn(
        "W3",
        "stopped/healthy",
        "1 is best",
        "How much slower an attempt is while one master hangs.",
    ),
    drawn("W4", "killed, won %", MORE, "How many attempts win while one master of five is down."),
    drawn("W6", "failure after ms", LESS, "How soon a client says that there is no quorum."),
    drawn("W8", "bytes/lock", LESS, "Memory of the client for each lock that it holds."),
    drawn("W8", "bytes/waiter", LESS, "Memory of the client for each task that waits."),
    drawn(
        "W5",
        "of ideal %",
        MORE,
        "How close a contended lock comes to no pause between holders.",
    ),
    drawn("W5", "fewest/most", "1 is best", "Whether all tasks get the lock equally often."),
    drawn(
        "W5",
        "commands/section",
        LESS,
        "What each holder of a contended lock costs the masters.",
    ),
];

impl Drawn {
    fn is_of(&self, summary: &Summary) -> bool {
        let named = summary.name == self.name;
        let contended = self.name == "W5" && summary.name.starts_with(self.name);
        (named || contended) && summary.metrics.contains(&self.metric)
    }
}

const COLUMNS: usize = 3;

const STYLE: &str = "text { font: 12px sans-serif; fill: #24292f } \
                     .name { text-anchor: end; font-size: 11px } \
                     .title { font-weight: bold } .hint { fill: #6e7781; font-size: 11px } \
                     .says { font-size: 11px; font-style: italic } \
                     .own { fill: #2f6fb5 } .other { fill: #b4bcc6 } .hangs { fill: #e3b5ae } \
                     .range { stroke: #24292f; stroke-width: 1.5 }";

pub(super) fn drawing(summaries: &[Summary]) -> String {
    let mut sheet = Sheet { body: String::new(), top: 10.0, column: 0, tallest: 0.0 };
    for (summary, says) in &sweeps::all(summaries) {
        let caption = Caption { hint: "1 is as fast as the floor, more is better", says };
        sheet.draw(&[(summary, summary.metrics[0], &caption)]);
    }
    for summary in summaries {
        let of_it = DRAWN.iter().filter(|drawn| drawn.is_of(summary));
        let of_it = of_it.map(|drawn| (summary, drawn.metric, &drawn.caption));
        sheet.draw(&of_it.collect::<Vec<_>>());
    }
    let Sheet { body, top, tallest, .. } = sheet;
    let (width, height) = (COLUMNS as f64 * WIDTH, top + tallest);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n<style>{STYLE}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Filled row by row.
struct Sheet {
    body: String,
    top: f64,
    column: usize,
    /// Tallest picture in this row.
    tallest: f64,
}

impl Sheet {
    /// Draws those that belong together, in one row if they fit.
    fn draw(&mut self, together: &[(&Summary, &str, &Caption)]) {
        for (place, (summary, metric, caption)) in together.iter().enumerate() {
            let whole_does_not_fit = place == 0 && self.column + together.len() > COLUMNS;
            if self.column == COLUMNS || whole_does_not_fit {
                (self.top, self.column, self.tallest) = (self.top + self.tallest, 0, 0.0);
            }
            let (x, top) = (self.column as f64 * WIDTH, self.top);
            self.body += &format!("<g transform=\"translate({x} {top})\">\n");
            self.body += &panel(summary, metric, caption);
            self.body += "</g>\n";
            (self.column, self.tallest) =
                (self.column + 1, self.tallest.max(height(summary, caption)));
        }
    }
}
