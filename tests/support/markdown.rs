//! Links and headings of a Markdown text: as much of the language as the documents use.

/// The links of a document, and the places in it that others may link to.
pub(crate) struct Document {
    /// Inline links in order, then definitions.
    pub(crate) links: Vec<Link>,
    /// The anchors of its headings, as GitHub and rustdoc make them.
    pub(crate) headings: Vec<String>,
    used: Vec<String>,
}

/// `[text](target)`, or the definition `[label]: target`.
pub(crate) struct Link {
    pub(crate) label: Option<String>,
    pub(crate) target: String,
}

impl Document {
    pub(crate) fn new(text: &str) -> Self {
        let prose = without_code(text);
        let definitions: Vec<Link> = prose.lines().filter_map(definition).collect();
        let running: Vec<&str> = prose.lines().filter(|line| definition(line).is_none()).collect();
        let running = running.join("\n");
        let used = references(&running, &definitions);
        let mut links = inline(&running);
        links.extend(definitions);
        Self { links, headings: headings(text), used }
    }

    pub(crate) fn definitions(&self) -> impl Iterator<Item = &str> {
        self.links.iter().filter_map(|link| link.label.as_deref())
    }

    /// Returns the labels that are referred to.
    pub(crate) fn used(&self) -> impl Iterator<Item = &str> {
        self.used.iter().map(String::as_str)
    }
}

/// Removes blocks and spans of code.
fn without_code(text: &str) -> String {
    let mut in_block = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence
    });
    let prose = prose.collect::<Vec<_>>().join("\n");
    prose.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

fn definition(line: &str) -> Option<Link> {
    let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
    if label.contains(['[', ']']) {
        return None;
    }
    let target = target.trim().trim_start_matches('<').trim_end_matches('>');
    Some(Link { label: Some(label.to_owned()), target: target.to_owned() })
}

fn inline(prose: &str) -> Vec<Link> {
    let after = prose.split("](").skip(1);
    let targets = after.filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets.map(|target| Link { label: None, target: target.to_owned() }).collect()
}

/// Finds `[text][label]`, and `[label]` alone if it is defined or looks like a path.
fn references(prose: &str, definitions: &[Link]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = prose;
    while let Some((_, bracket)) = rest.split_once('[') {
        let Some((inner, after)) = bracket.split_once(']') else { break };
        let defined = definitions.iter().any(|known| known.label.as_deref() == Some(inner));
        let label = match after.strip_prefix('[').and_then(|text| text.split_once(']')) {
            Some((label, _)) => Some(label),
            None => {
                (!after.starts_with('(') && (defined || inner.ends_with(".md"))).then_some(inner)
            }
        };
        found.extend(label.map(str::to_owned));
        let skip = if after.starts_with('[') { label.map_or(0, |text| text.len() + 2) } else { 0 };
        rest = after.get(skip..).unwrap_or("");
    }
    found
}

fn headings(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut anchors: Vec<String> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for line in text.lines() {
        in_block ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if in_block || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let anchor = anchor(&without_targets(title.trim()));
        let before = texts.iter().filter(|text| **text == anchor).count();
        anchors.push(if before == 0 { anchor.clone() } else { format!("{anchor}-{before}") });
        texts.push(anchor);
    }
    anchors
}

/// Returns the text of a heading without its link targets.
fn without_targets(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}
