//! `quorumlock doctor`: checks whether the masters are fit, and suggests what to do.

use crate::args::MastersArgs;
use crate::exit::Exit;
use crate::failure::{Failure, in_words_of_the_command};
use crate::output::{Output, micros};
use crate::settings;
use quorumlock::Preflight;
use quorumlock::preflight::{Finding, NodePreflight};
use quorumlock::report::Span;
use serde_json::{Value, json};
use std::fmt::Write;

const HEADS: [&str; 8] =
    ["MASTER", "VERDICT", "SERVER", "ROLE", "KEEPS", "UP", "ROUND TRIP", "CLOCK"];

/// Prints the preflight as a table.
pub(crate) async fn doctor(masters: MastersArgs, output: Output) -> Result<Exit, Failure> {
    let config = settings::settings(masters)?;
    let preflight = settings::builder(config).preflight().await?;
    let exit = if preflight.is_ok() { Exit::Success } else { Exit::Failed };
    output.result(&to_json(&preflight), &to_text(&preflight), exit)
}

fn to_text(preflight: &Preflight) -> String {
    let rows: Vec<[String; 8]> = preflight.into_iter().map(row).collect();
    let heads = HEADS.map(str::to_owned);
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|column| {
            let cells = std::iter::once(&heads).chain(&rows).filter_map(|row| row.get(column));
            cells.map(String::len).max().unwrap_or_default()
        })
        .collect();
    let line = |cells: &[String; 8]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = line(&heads);
    for (cells, node) in rows.iter().zip(preflight) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n{}", line(cells));
        node.findings.iter().for_each(|finding| tell(&mut text, finding));
    }
    for finding in preflight.findings() {
        let _ = write!(text, "\nbetween masters");
        tell(&mut text, finding);
    }
    let fit = preflight.nodes().iter().filter(|node| node.is_ok()).count();
    let verdict = if preflight.is_ok() { "ok" } else { "not ok" };
    let _ = write!(text, "\n\n{verdict}: {fit} of {} masters are fit", preflight.nodes().len());
    text
}

fn row(node: &NodePreflight) -> [String; 8] {
    let or_dash = |told: Option<String>| told.unwrap_or_else(|| "-".to_owned());
    [
        node.node.to_string(),
        if node.is_ok() { "fit" } else { "unfit" }.to_owned(),
        or_dash(server(node)),
        or_dash(node.role.map(|role| role.to_string())),
        or_dash(node.persistence.as_ref().map(ToString::to_string)),
        or_dash(node.uptime.map(|up| Span(up).to_string())),
        or_dash(node.round_trip.map(|it| Span(it).to_string())),
        or_dash(node.clock.map(|clock| clock.to_string())),
    ]
}

fn server(node: &NodePreflight) -> Option<String> {
    let parts: Vec<&str> =
        [&node.server, &node.version].into_iter().flatten().map(|it| &**it).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn tell(text: &mut String, finding: &Finding) {
    let Finding { severity, kind, .. } = finding;
    let remedy = in_words_of_the_command(&finding.remedy);
    let _ = write!(text, "\n  {severity}: {kind}\n    {remedy}");
}

fn to_json(preflight: &Preflight) -> Value {
    let nodes = preflight.into_iter().map(|node| {
        json!({
            "node": &*node.node,
            "fit": node.is_ok(),
            "server": node.server.as_deref(),
            "version": node.version.as_deref(),
            "role": node.role.map(|role| role.to_string()),
            "persistence": node.persistence.as_ref().map(ToString::to_string),
            "uptime_s": node.uptime.map(|up| up.as_secs()),
            "round_trip_us": node.round_trip.map(micros),
            "clock_offset_us": node.clock.map(|clock| clock.as_micros()),
            "findings": findings(&node.findings),
        })
    });
    json!({
        "ok": preflight.is_ok(),
        "nodes": nodes.collect::<Vec<_>>(),
        "findings": findings(preflight.findings()),
    })
}

fn findings(found: &[Finding]) -> Value {
    let told = found.iter().map(|finding| {
        json!({
            "severity": finding.severity.to_string(),
            "finding": finding.kind.to_string(),
            "remedy": in_words_of_the_command(&finding.remedy),
        })
    });
    told.collect()
}
