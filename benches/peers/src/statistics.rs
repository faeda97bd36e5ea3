//! Statistics of the figures of several rounds.

pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    } else {
        sorted[middle]
    }
}

pub(crate) fn lowest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::INFINITY, f64::min)
}

pub(crate) fn highest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Formats three digits, or all digits before the decimal point.
pub(crate) fn short(figure: f64) -> String {
    // Bounds are those after rounding, so that a figure that is read back is formatted alike.
    let places = if figure.abs() < 9.995 { 2 } else { usize::from(figure.abs() < 99.95) };
    format!("{figure:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn a_figure_has_three_digits_also_after_rounding() {
        for (figure, text) in
            [(9.994, "9.99"), (9.996, "10.0"), (99.94, "99.9"), (99.96, "100"), (1234.4, "1234")]
        {
            assert_eq!(short(figure), text);
        }
    }
}
