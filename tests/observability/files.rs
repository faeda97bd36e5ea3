//! The dashboard and the rules mention only what exists, and use each metric as its type requires.

use crate::page;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const DASHBOARD: &str = include_str!("../../docs/grafana-dashboard.json");
const ALERTS: &str = include_str!("../../docs/alerts.yml");

/// Labels that Prometheus itself adds.
const OTHERS: [&str; 3] = ["instance", "job", "le"];

/// One metric's use in an expression.
#[derive(Debug)]
struct Mention<'a> {
    metric: &'a str,
    part: &'static str,
    /// Each label with the value it is compared with.
    labels: Vec<(&'a str, &'a str)>,
    /// The text before the metric; the next field has the text after it.
    before: &'a str,
    behind: &'a str,
}

fn mentions(expression: &str) -> Vec<Mention<'_>> {
    let starts = expression.match_indices("quorumlock_").map(|(at, _)| at);
    starts.map(|at| mention(&expression[..at], &expression[at..])).collect()
}

fn mention<'a>(before: &'a str, rest: &'a str) -> Mention<'a> {
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let parts = ["_bucket", "_sum", "_count"];
    let part = parts.into_iter().find(|part| name.ends_with(part)).unwrap_or("");
    let (inner, behind) = match rest.strip_prefix('{') {
        Some(rest) => rest.split_once('}').expect("the end of labels"),
        None => ("", rest),
    };
    let label = |matcher: &'a str| {
        let at = matcher.find(['=', '!']).expect("a matcher");
        let value = matcher[at..].trim_start_matches(['=', '!', '~']).trim_matches('"');
        (matcher[..at].trim(), value)
    };
    let labels = inner.split(',').filter(|matcher| !matcher.trim().is_empty()).map(label).collect();
    let metric = name.strip_suffix(part).unwrap_or(name);
    Mention { metric, part, labels, before, behind }
}

fn metrics() -> BTreeMap<String, page::Metric> {
    let mut all = page::metrics();
    all.extend(page::of_the_command());
    all
}

/// Returns the problems of an expression; empty if it is right.
fn wrong(expression: &str) -> Vec<String> {
    let page = metrics();
    let mut wrong = Vec::new();
    for mention in mentions(expression) {
        let Some(metric) = page.get(mention.metric) else {
            wrong.push(format!("there is no {}", mention.metric));
            continue;
        };
        for (label, value) in &mention.labels {
            let known = metric.labels.get(*label);
            if known.is_none() && !OTHERS.contains(label) {
                wrong.push(format!("{} has no label {label}", mention.metric));
            }
            let values = known.filter(|values| !values.is_empty());
            let unknown = |value: &&str| values.is_some_and(|values| !values.contains(*value));
            let unknown: Vec<_> = value.split('|').filter(unknown).collect();
            if !unknown.is_empty() {
                wrong.push(format!("{} is never {label}={unknown:?}", mention.metric));
            }
        }
        let over_time = mention.behind.starts_with('[');
        let within =
            |functions: &[&str]| functions.iter().any(|name| mention.before.ends_with(name));
        let right = match (metric.kind.as_str(), mention.part) {
            ("counter", "") => over_time && within(&["rate(", "increase("]),
            ("histogram", "_bucket") => {
                let quantile = mention.before.contains("histogram_quantile(");
                let by_bucket = mention.before.contains("by (le");
                over_time && within(&["rate("]) && quantile && by_bucket
            }
            ("histogram", "_sum" | "_count") => over_time && within(&["rate(", "increase("]),
            ("gauge", "") => over_time == within(&["deriv("]),
            _ => false,
        };
        if !right {
            wrong.push(format!("not how a {} is read: {}", metric.kind, mention.metric));
        }
    }
    let grouped = expression.split("by (").skip(1).filter_map(|rest| rest.split(')').next());
    for label in grouped.flat_map(|labels| labels.split(',').map(str::trim)) {
        let of_some = mentions(expression).iter().any(|mention| {
            page.get(mention.metric).is_some_and(|metric| metric.labels.contains_key(label))
        });
        if !of_some && !OTHERS.contains(&label) {
            wrong.push(format!("grouped by {label}, which none of them has"));
        }
    }
    wrong
}

fn dashboard() -> Value {
    serde_json::from_str(DASHBOARD).expect("JSON")
}

/// Returns every expression of the dashboard's panels.
fn shown(dashboard: &Value) -> Vec<&str> {
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    targets.map(|target| target["expr"].as_str().expect("an expression")).collect()
}

/// Returns every expression of the rules, each of which is on one line.
fn rules() -> Vec<&'static str> {
    ALERTS.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect()
}

fn names(expressions: &[&str]) -> BTreeSet<String> {
    let mentioned = expressions.iter().flat_map(|expression| mentions(expression));
    mentioned.map(|mention| mention.metric.to_owned()).collect()
}

#[test]
fn the_dashboard_shows_every_metric_and_each_as_its_type_asks() {
    let dashboard = dashboard();
    let shown = shown(&dashboard);
    for expression in &shown {
        assert_eq!(wrong(expression), Vec::<String>::new(), "{expression}");
    }
    let all: BTreeSet<String> = metrics().into_keys().collect();
    assert_eq!(names(&shown), all);
}

#[test]
fn the_dashboard_can_be_imported_and_asks_for_its_data_source() {
    let dashboard = dashboard();
    let variables = dashboard["templating"]["list"].as_array().expect("variables");
    let asks = |value: &&Value| value["type"] == "datasource" && value["query"] == "prometheus";
    let source = variables.iter().find(asks).expect("a variable for the data source");
    let source = format!("${{{}}}", source["name"].as_str().expect("its name"));
    let mut ids = BTreeSet::new();
    let mut places = BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        assert!(ids.insert(panel["id"].as_u64().expect("an id")), "twice: {panel}");
        assert!(panel["title"].is_string() && panel["type"].is_string(), "{panel}");
        let place = &panel["gridPos"];
        let at = (place["y"].as_u64().unwrap(), place["x"].as_u64().unwrap());
        assert!(places.insert(at) && at.1 + place["w"].as_u64().unwrap() <= 24, "{panel}");
        assert_eq!(panel["datasource"]["uid"], *source, "{panel}");
        for target in panel["targets"].as_array().expect("targets") {
            assert_eq!(target["datasource"]["uid"], *source, "{target}");
        }
    }
    assert!(dashboard["title"].is_string() && dashboard["schemaVersion"].is_u64());
    assert!(dashboard.get("id").is_none_or(Value::is_null), "an id of some Grafana");
}

#[test]
fn the_rules_are_about_what_there_is() {
    let rules = rules();
    assert_eq!(rules.len(), ALERTS.matches("- alert: ").count());
    for expression in &rules {
        assert_eq!(wrong(expression), Vec::<String>::new(), "{expression}");
    }
    let needed = [
        "quorumlock_quorum",
        "quorumlock_lost_locks_total",
        "quorumlock_node_standing",
        "quorumlock_owed_rollbacks",
    ];
    let named = names(&rules);
    assert!(needed.iter().all(|name| named.contains(*name)), "{named:?}");
}

#[test]
fn what_is_wrong_in_an_expression_is_found() {
    for expression in [
        "rate(quorumlock_acquire_total[5m])",
        "quorumlock_acquires_total",
        "rate(quorumlock_acquires_total{reason=\"lapsed\"}[5m])",
        "rate(quorumlock_acquires_total{outcome=\"won\"}[5m])",
        "rate(quorumlock_acquires_total{outcome=~\"acquired|won\"}[5m])",
        "sum by (node) (rate(quorumlock_acquires_total[5m]))",
        "rate(quorumlock_quorum[5m])",
        "quorumlock_hold_duration_seconds",
        "rate(quorumlock_hold_duration_seconds_bucket[5m])",
        "histogram_quantile(0.5, sum by (job) (rate(quorumlock_hold_duration_seconds_bucket[5m])))",
        "quorumlock_quorum{state=\"two\"} > 0",
    ] {
        assert!(!wrong(expression).is_empty(), "{expression}");
    }
}
