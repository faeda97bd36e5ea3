//! Reads a picture back, as far as the tests need it.

/// A rectangle of the picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) class: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Number of holds that it represents.
    pub(crate) holds: usize,
    pub(crate) title: String,
}

impl Rect {
    pub(crate) fn end(&self) -> f64 {
        self.x + self.width
    }
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

/// Returns the rectangles that have this class among theirs, from the top down.
pub(crate) fn rects(picture: &str, class: &str) -> Vec<Rect> {
    let number = |element: &str, name: &str| -> f64 {
        attribute(element, name).map_or(0.0, |text| text.parse().expect("a number"))
    };
    let elements = picture.split("<rect").skip(1).filter_map(|rest| {
        let (element, after) = rest.split_once('>')?;
        let classes = attribute(element, "class")?;
        classes.split(' ').any(|name| name == class).then(|| Rect {
            class: classes.to_owned(),
            x: number(element, "x"),
            y: number(element, "y"),
            width: number(element, "width"),
            height: number(element, "height"),
            holds: attribute(element, "data-n").map_or(1, |text| text.parse().expect("a number")),
            title: after
                .strip_prefix("<title>")
                .and_then(|rest| rest.split_once("</title>"))
                .map(|(title, _)| title.to_owned())
                .unwrap_or_default(),
        })
    });
    elements.collect()
}

/// Returns the height at which the picture has this text.
pub(crate) fn height_of(picture: &str, text: &str) -> Option<f64> {
    let before = picture.split(&format!(">{text}<")).next()?;
    let element = before.rsplit('<').next()?;
    attribute(element, "y")?.parse().ok()
}

/// Returns the bars of the clients: those below their heading.
pub(crate) fn bars_of_clients(picture: &str) -> Vec<Rect> {
    let from = height_of(picture, "clients").expect("the heading");
    rects(picture, "hold").into_iter().filter(|bar| bar.y > from).collect()
}

pub(crate) fn bars_of_resources(picture: &str) -> Vec<Rect> {
    let until = height_of(picture, "clients").expect("the heading");
    rects(picture, "hold").into_iter().filter(|bar| bar.y < until).collect()
}
