//! What all pictures have in common: a sheet with its colours, and text.

/// All colours are explicit: many programs that draw an image know neither variables nor the dark
/// scheme. Those get the light one.
const STYLE: &str = "
text { font: 12px system-ui, 'Segoe UI', sans-serif; fill: #1f2328 }
.heading { font-size: 16px; font-weight: 600 }
.title { font-size: 13px; font-weight: 600 }
.name { text-anchor: end }
.hint { font-size: 11px; fill: #59636e }
.paper { fill: #ffffff; stroke: #d1d9e0 }
.own { fill: #0969da }
.other { fill: #aeb7c1 }
.floor { fill: #ffffff; stroke: #818b98; stroke-dasharray: 3 2 }
.hangs { fill: #e0786f }
.gap { fill: none; stroke: #ffffff; stroke-width: 4 }
.range { stroke: #1f2328; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .hint { fill: #9198a1 }
  .paper { fill: #0d1117; stroke: #3d444d }
  .own { fill: #4493f8 }
  .other { fill: #59626d }
  .floor { fill: #0d1117; stroke: #9198a1 }
  .hangs { fill: #b4463f }
  .gap { stroke: #0d1117 }
  .range { stroke: #f0f6fc }
}
";

/// Returns the whole file. `about` is for readers that cannot see it.
pub(super) fn sheet(title: &str, about: &str, (width, height): (f64, f64), body: &str) -> String {
    let (title, about) = (escape(title), escape(about));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"title about\">\n\
         <title id=\"title\">{title}</title>\n<desc id=\"about\">{about}</desc>\n\
         <style>{STYLE}</style>\n\
         <rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n\
         {body}</svg>\n",
        width - 1.0,
        height - 1.0,
    )
}

/// Draws text that starts or ends here, as its class has it.
pub(super) fn text(class: &str, (x, y): (f64, f64), text: &str) -> String {
    let text = escape(text);
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>\n")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Wraps the text into lines of at most this many letters, where words allow it.
pub(super) fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                *line += &format!(" {word}");
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 3), ["unbreakable"]);
        assert!(wrapped("", 3).is_empty());
    }

    #[test]
    fn every_colour_of_the_dark_scheme_replaces_one_of_the_light_scheme() {
        let (light, dark) = STYLE.split_once("@media (prefers-color-scheme: dark)").expect("two");
        let colours = |style: &str| -> Vec<String> {
            let rules = style.lines().filter(|rule| rule.contains('#'));
            rules.filter_map(|rule| rule.split_whitespace().next()).map(str::to_owned).collect()
        };
        assert_eq!(colours(light), colours(dark));
        assert!(!STYLE.contains("var("));
    }
}
