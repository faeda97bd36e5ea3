//! A browser opens the picture: it finds no fault with it, and all of it is visible.

use super::chromium::{Opened, Scheme, open, screenshot};
use super::scenes::{broken, crowded, eventful};
use super::timeline::Timeline;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Measures the page, and leaves the result in the document.
const MEASURE: &str = r"
const said = [];
const say = (name, value) => said.push(name + '=' + String(value).replace(/\s+/g, ' '));
const svg = document.querySelector('svg.tl');
const view = svg.viewBox.baseVal;
const seen = [...svg.querySelectorAll('rect, text, use')].filter(one => !one.closest('defs'));
say('elements', seen.length);
for (const one of seen) {
  const box = one.getBBox();
  const inside = box.x >= -0.01 && box.y >= -0.01
    && box.x + box.width <= view.width + 0.01 && box.y + box.height <= view.height + 0.01;
  if (!inside) say('outside', one.outerHTML + JSON.stringify([box.x, box.y, box.width, box.height]));
}
const bars = [...svg.querySelectorAll('.hold')];
say('bars', bars.length);
say('holds', bars.reduce((sum, bar) => sum + Number(bar.dataset.n || 1), 0));
say('invisible', bars.filter(bar => {
  const box = bar.getBoundingClientRect();
  return !(box.width > 0 && box.height > 0) || getComputedStyle(bar).fill === 'none';
}).length);
const shown = one => {
  const box = one.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && box.top >= 0 && box.bottom <= window.innerHeight
    && document.elementFromPoint(box.left + 3, box.top + box.height / 2).closest('#verdict') !== null;
};
const verdict = document.getElementById('verdict');
say('verdict', verdict.innerText);
say('verdict is shown', shown(verdict));
say('verdict is first', verdict.getBoundingClientRect().bottom <= svg.getBoundingClientRect().top);
const light = colour => {
  const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
};
const paper = light(getComputedStyle(svg.querySelector('.paper')).fill);
say('paper', paper > 0.5 ? 'light' : 'dark');
say('page', light(getComputedStyle(document.body).backgroundColor) > 0.5 ? 'light' : 'dark');
const texts = [...svg.querySelectorAll('text:not(.in-bar)')];
const faint = texts.filter(one => Math.abs(light(getComputedStyle(one).fill) - paper) < 0.3);
say('faint', faint.length);
const names = [...svg.querySelectorAll('text.name')].map(one => one.getBBox());
say('names on the axis', names.filter(box => box.x + box.width > 150).length);
const report = document.createElement('pre');
report.id = 'report';
report.textContent = said.join('\n');
document.body.append(report);
";

type Report = BTreeMap<String, Vec<String>>;

fn measured(opened: &Opened) -> Report {
    let report = opened.dom.split("<pre id=\"report\">").nth(1).expect("the script has run");
    let report = report.split("</pre>").next().expect("its end");
    let mut values = Report::new();
    for line in report.lines() {
        let (name, value) = line.split_once('=').expect("a name and a value");
        values.entry(name.to_owned()).or_default().push(value.to_owned());
    }
    values
}

/// With it, anything that a page would fetch is an error on the console.
const ALONE: &str = "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                     style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">";

/// Returns the problems of the page, in words; empty if there are none.
fn faults_of(page: &str, light: Scheme) -> Option<(Vec<String>, Report)> {
    let opened = open(&page.replacen("<head>", ALONE, 1), MEASURE, light)?;
    let report = measured(&opened);
    let mut faults: Vec<String> =
        opened.console.iter().map(|line| format!("console: {line}")).collect();
    let scheme = match light {
        Scheme::Light => "light",
        Scheme::Dark => "dark",
    };
    let expected = [
        ("invisible", "0"),
        ("verdict is shown", "true"),
        ("verdict is first", "true"),
        ("paper", scheme),
        ("page", scheme),
        ("faint", "0"),
        ("names on the axis", "0"),
    ];
    for (name, value) in expected {
        let values = &report[name];
        if *values != [value] {
            faults.push(format!("{name}: {values:?}"));
        }
    }
    let outside = report.get("outside").into_iter().flatten();
    faults.extend(outside.map(|element| format!("outside: {element}")));
    Some((faults, report))
}

fn holds(timeline: &Timeline) -> usize {
    timeline.clients.iter().map(|client| client.holds.len()).sum()
}

#[test]
fn a_browser_shows_all_of_it_and_finds_no_fault() {
    let runs = [(eventful(), "✓ Kept"), (broken(), "✗ Broken"), (crowded(10_000), "✓ Kept")];
    for (run, word) in runs {
        let Some((faults, report)) = faults_of(&run.to_html(), Scheme::Light) else { return };
        assert!(faults.is_empty(), "{}: {faults:#?}", run.title);
        assert!(report["verdict"][0].starts_with(word), "{report:?}");
        // Once with its resource, once with its client.
        assert_eq!(report["holds"], [(2 * holds(&run)).to_string()]);
        let bars = run.to_html().matches("<rect class=\"hold ").count();
        assert_eq!(report["bars"], [bars.to_string()]);
    }
}

#[test]
fn a_dark_page_is_for_readers_that_prefer_it() {
    if let Some((faults, _)) = faults_of(&broken().to_html(), Scheme::Dark) {
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

#[test]
fn a_fault_of_the_page_is_found() {
    let page = broken().to_html();
    let spoiled = [
        ("console: ", page.replace("</h1>", "</h1><script>throw new Error('planted')</script>")),
        ("outside: ", page.replacen("class=\"name\" x=\"140\"", "class=\"name\" x=\"14\"", 1)),
        (
            "names on the axis: ",
            page.replacen("class=\"name\" x=\"140\"", "class=\"name\" x=\"190\"", 1),
        ),
        (
            "invisible: ",
            page.replacen("<rect class=\"hold r1\"", "<rect class=\"hold\" display=\"none\"", 1),
        ),
        (
            "verdict is shown: ",
            page.replace("#verdict {", "#verdict { opacity: 0; position: absolute; top: -90px;"),
        ),
        (
            "verdict is first: ",
            page.replace("#verdict {", "#verdict { position: absolute; top: 300px;"),
        ),
        ("faint: ", page.replace("#5b6877", "#f0f0f0")),
        ("console: ", page.replace("</h1>", "</h1><img src=\"page.html\">")),
    ];
    for (fault, page) in spoiled {
        let Some((faults, _)) = faults_of(&page, Scheme::Light) else { return };
        assert!(faults.iter().any(|found| found.starts_with(fault)), "{fault} {faults:#?}");
    }
}

/// Returns the folder in which the pictures are left for inspection.
fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("timeline");
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn pictures_of_it_are_left_to_look_at() {
    let blank = folder().join("blank.html");
    fs::write(&blank, "<!DOCTYPE html>").expect("a page");
    let pages = [
        ("eventful", eventful().to_html(), "html", Scheme::Light),
        ("broken", broken().to_html(), "html", Scheme::Dark),
        ("image", broken().to_svg(), "svg", Scheme::Light),
    ];
    let size = |file: &PathBuf, light| {
        let png = file.with_extension("png");
        screenshot(file, (1_300, 900), light, &png)?;
        let png = fs::read(png).expect("the picture");
        assert_eq!(png[1..4], *b"PNG");
        // Width and height are at the beginning, in four bytes each.
        assert_eq!(png[16..24], [0, 0, 5, 20, 0, 0, 3, 132]);
        Some(png.len())
    };
    let Some(nothing) = size(&blank, Scheme::Light) else { return };
    for (name, text, ending, light) in pages {
        let file = folder().join(format!("{name}.{ending}"));
        fs::write(&file, text).expect("a page");
        let Some(bytes) = size(&file, light) else { return };
        assert!(bytes > 5 * nothing, "{name} is nearly empty: {bytes} bytes, {nothing} for none");
    }
}
