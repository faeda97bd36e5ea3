//! The page around the picture: the verdict first, the counts, and the lists below.

use super::model::{Timeline, Verdict};
use super::overlaps::{Overlap, overlaps};
use super::svg::{Header, picture, verdict};
use super::text::{count, escaped, instant, length};
use super::{overlaps as overlapping, style};
use std::time::Duration;

/// Longest list; it says how many more entries there are.
const LONGEST_LIST: usize = 300;

pub(super) fn page(timeline: &Timeline) -> String {
    let overlaps = overlaps(timeline);
    let (class, word, text) = verdict(&timeline.verdict);
    let (title, text) = (escaped(&timeline.title), escaped(text));
    let sign = if class == "good" { "✓" } else { "✗" };
    let lists = [
        list(timeline, "violations", &violations(timeline, &overlaps), true),
        list(timeline, "faults", &faults(timeline), false),
    ];
    let footer: Vec<String> = timeline.footer.iter().map(|line| escaped(line)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{word}: {title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <style>{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <div id=\"verdict\" class=\"{class}\"><strong>{sign} {word}</strong> \
         <span>{text}</span></div>\n<p class=\"facts\">{facts}</p>\n{picture}{lists}\
         <div class=\"footer\"><pre>{footer}</pre></div>\n</body>\n</html>\n",
        style = style::PAGE,
        facts = facts(timeline, &overlaps),
        picture = picture(timeline, Header::Left),
        lists = lists.concat(),
        footer = footer.join("\n"),
    )
}

/// Shows the run in numbers, above all an overlap that the verdict does not know of.
fn facts(timeline: &Timeline, overlaps: &[Overlap]) -> String {
    let holds = timeline.clients.iter().map(|client| client.holds.len()).sum();
    let facts = [
        length(timeline.span.length()),
        count(timeline.masters.len(), "master"),
        count(timeline.clients.len(), "client"),
        count(holds, "hold"),
        count(overlapping::by_resource(timeline).len(), "resource"),
        count(timeline.faults.len(), "fault"),
        count(timeline.violations.len(), "violation"),
    ];
    let seen = format!("two holders at a time: {}", count(overlaps.len(), "overlap"));
    let unknown = !overlaps.is_empty() && matches!(timeline.verdict, Verdict::Good(_));
    let seen = if overlaps.is_empty() {
        seen
    } else if unknown {
        format!("<b>{seen}, against the verdict</b>")
    } else {
        format!("<b>{seen}</b>")
    };
    format!("{} · {seen}", facts.join(" · "))
}

fn violations(timeline: &Timeline, overlaps: &[Overlap]) -> Vec<(Duration, String)> {
    let found = timeline.violations.iter();
    let found = found.map(|violation| (violation.span.from, violation.label.clone()));
    let seen = overlaps.iter().map(|both| {
        let (Overlap { resource, span, clients: (first, other) }, from) = (both, both.span.from);
        let long = length(span.length());
        (from, format!("seen: {resource} had two holders for {long}, {first} and {other}"))
    });
    let mut all: Vec<_> = found.chain(seen).collect();
    all.sort();
    all
}

fn faults(timeline: &Timeline) -> Vec<(Duration, String)> {
    let mut all: Vec<_> = timeline
        .faults
        .iter()
        .map(|fault| match &fault.on {
            Some(on) => (fault.at, format!("{}: {on}", fault.label)),
            None => (fault.at, fault.label.clone()),
        })
        .collect();
    all.sort();
    all
}

fn list(timeline: &Timeline, name: &str, entries: &[(Duration, String)], open: bool) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let row = |(at, text): &(Duration, String)| {
        let at = instant(*at, timeline.span.length());
        format!("<tr><td>{at}</td><td>{}</td></tr>\n", escaped(text))
    };
    let rows: String = entries.iter().take(LONGEST_LIST).map(row).collect();
    let left = entries.len().saturating_sub(LONGEST_LIST);
    let more = if left > 0 { format!("<p>and {left} more</p>\n") } else { String::new() };
    let (open, number) = (if open { " open" } else { "" }, entries.len());
    format!(
        "<details{open}><summary>{name}: {number}</summary>\n<table>\n{rows}</table>\n{more}\
         </details>\n"
    )
}
