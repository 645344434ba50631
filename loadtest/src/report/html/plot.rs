//! Line plots: lines as SVG and labels as HTML, so that the report needs no script and no network access, and the labels keep their size
//! at any width.

use std::fmt::Write as _;

/// The width and the height of the drawing in its own units. The browser stretches it to the room that there is.
const SIZE: f64 = 1_000.0;

/// A line of a plot: its name, its class in the style sheet and its points `(x, y)`.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) class: &'a str,
    pub(super) points: Vec<(f64, f64)>,
}

/// The scale of the y axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// With the least distance of two marks: 1 for whole numbers.
    Linear(f64),
    Logarithmic,
}

#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) title: &'a str,
    /// A sentence below the title.
    pub(super) note: Option<&'a str>,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) scale: Scale,
    /// Formats a label of the y axis, with its unit.
    pub(super) shown: fn(f64) -> String,
    /// Marks of the x axis: value and label, with its unit. The axis spans them and every point.
    pub(super) x: Vec<(f64, String)>,
}

impl Plot<'_> {
    /// The plot as an HTML figure; empty if no line has two points.
    pub(super) fn figure(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| line.points.iter().copied());
        let (x_low, x_high) = ends(points().map(|(x, _)| x).chain(self.x.iter().map(|(x, _)| *x)));
        let drawable = |y: &f64| self.scale != Scale::Logarithmic || *y > 0.0;
        let (y_low, y_high) = ends(points().map(|(_, y)| y).filter(drawable));
        let has_a_line = self.lines.iter().any(|line| line.points.len() > 1);
        if !has_a_line || x_high <= x_low || !y_high.is_finite() {
            return String::new();
        }
        let marks = self.marks(y_low, y_high);
        let (bottom, top) = ends(marks.iter().copied());
        let right = |x: f64| (x - x_low) / (x_high - x_low);
        let down = |y: f64| match self.scale {
            Scale::Linear(_) => 1.0 - (y - bottom) / (top - bottom),
            Scale::Logarithmic => 1.0 - (y.max(bottom) / bottom).log10() / (top / bottom).log10(),
        };
        let mut figure = format!("<figure><figcaption>{}<span class=\"legend\">", self.title);
        for line in &self.lines {
            let _ = write!(figure, "<span class=\"key {}\">{}</span>", line.class, line.name);
        }
        figure.push_str("</span></figcaption>");
        if let Some(note) = self.note {
            let _ = write!(figure, "<p class=\"soft\">{note}</p>");
        }
        figure.push_str("<div class=\"plot\"><div class=\"y\">");
        for mark in &marks {
            let (top, label) = (down(*mark) * 100.0, (self.shown)(*mark));
            let _ = write!(figure, "<span style=\"top:{top:.2}%\">{label}</span>");
        }
        let _ = write!(
            figure,
            "</div><svg viewBox=\"0 0 {SIZE} {SIZE}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
            self.title
        );
        for mark in &marks {
            let y = down(*mark) * SIZE;
            let _ =
                write!(figure, "<line class=\"grid\" x1=\"0\" x2=\"{SIZE}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        }
        for line in &self.lines {
            let points = line.points.iter();
            let points = points.map(|(x, y)| format!("{:.1},{:.1}", right(*x) * SIZE, down(*y) * SIZE));
            let _ = write!(
                figure,
                "<polyline class=\"{}\" points=\"{}\"/>",
                line.class,
                points.collect::<Vec<_>>().join(" ")
            );
        }
        figure.push_str("</svg><div class=\"x\">");
        for (x, label) in self.x.iter().filter(|(_, label)| !label.is_empty()) {
            let _ = write!(figure, "<span style=\"left:{:.2}%\">{label}</span>", right(*x) * 100.0);
        }
        figure.push_str("</div></div></figure>\n");
        figure
    }

    /// The marks of the y axis, from its bottom to its top.
    fn marks(&self, low: f64, high: f64) -> Vec<f64> {
        match self.scale {
            Scale::Linear(least) => {
                let step = step(high.max(1e-9)).max(least);
                let steps = (high / step - 1e-9).ceil().max(1.0);
                (0..=10).map(f64::from).take_while(|n| *n <= steps).map(|n| n * step).collect()
            }
            Scale::Logarithmic => logarithmic_marks(low, high),
        }
    }
}

/// The least and the greatest value; infinite without any.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// A round step that divides a range into at most five parts.
pub(super) fn step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let multiple =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|multiple| rough <= multiple * power * (1.0 + 1e-9));
    multiple.unwrap_or(10.0) * power
}

/// Powers of ten around a range; over two decades or fewer, 1, 2 and 5 times each, from the last one below the range to the first above.
fn logarithmic_marks(low: f64, high: f64) -> Vec<f64> {
    let first = low.log10().floor();
    let decades = high.log10().ceil() - first;
    let multiples: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let all: Vec<f64> = (0..=14)
        .flat_map(|n| multiples.iter().map(move |multiple| multiple * 10_f64.powf(first + f64::from(n))))
        .collect();
    let from = all.iter().rposition(|mark| *mark <= low * (1.0 + 1e-9)).unwrap_or(0);
    let above = all.iter().position(|mark| *mark >= high * (1.0 - 1e-9));
    let to = above.unwrap_or(all.len() - 1).max(from + 1).min(all.len() - 1);
    all[from..=to].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>, scale: Scale) -> String {
        Plot {
            title: "t",
            note: None,
            lines: vec![Line { name: "n", class: "c", points }],
            scale,
            shown: |value| format!("{value} units"),
            x: vec![(0.0, "0 s".to_owned()), (10.0, String::new())],
        }
        .figure()
    }

    fn labels(figure: &str) -> Vec<&str> {
        let labels = figure.split("<span style=\"top:").skip(1);
        labels.map(|rest| rest.split(['>', '<']).nth(1).unwrap()).collect()
    }

    #[test]
    fn every_point_is_inside_the_plot() {
        for scale in [Scale::Linear(0.0), Scale::Logarithmic] {
            let figure = plot(vec![(0.0, 0.0), (5.0, 1e-6), (10.0, 123.0)], scale);
            let points = figure.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
            for point in points.split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((0.0..=SIZE).contains(&x) && (0.0..=SIZE).contains(&y), "{point}");
            }
            assert!(!figure.contains("NaN") && !figure.contains("inf"), "{figure}");
        }
    }

    /// Text in a drawing shrinks with it, so that nobody can read it on a phone.
    #[test]
    fn labels_are_no_part_of_the_drawing() {
        let figure = plot(vec![(0.0, 1.0), (10.0, 4.0)], Scale::Linear(1.0));
        assert!(!figure.contains("<text"), "{figure}");
        assert_eq!(labels(&figure), ["0 units", "1 units", "2 units", "3 units", "4 units"]);
        assert!(figure.contains("<span style=\"left:0.00%\">0 s</span>"), "{figure}");
        assert_eq!(figure.matches("left:").count(), 1);
    }

    #[test]
    fn whole_numbers_have_whole_marks() {
        let figure = plot(vec![(0.0, 1.0), (10.0, 1.0)], Scale::Linear(1.0));
        assert_eq!(labels(&figure), ["0 units", "1 units"]);
    }

    #[test]
    fn a_plot_without_a_line_is_empty() {
        assert_eq!(plot(vec![], Scale::Linear(0.0)), "");
        assert_eq!(plot(vec![(1.0, 1.0)], Scale::Logarithmic), "");
        assert_eq!(plot(vec![(1.0, 0.0), (2.0, 0.0)], Scale::Logarithmic), "");
    }

    #[test]
    fn steps_are_round() {
        for (range, expected) in [(10.0, 2.0), (7.0, 2.0), (0.3, 0.1), (130_000.0, 50_000.0)] {
            assert!((step(range) / expected - 1.0).abs() < 1e-9, "{range}: {}", step(range));
        }
    }

    #[test]
    fn a_logarithmic_axis_has_at_least_two_marks_around_the_range() {
        for (low, high, expected) in [
            (0.003, 0.004, "0.002 0.005"),
            (0.0012, 0.03, "0.001 0.002 0.005 0.01 0.02 0.05"),
            (0.0002, 0.9, "0.0001 0.001 0.01 0.1 1"),
            (1.0, 1.0, "1 2"),
        ] {
            let marks = logarithmic_marks(low, high);
            let shown: Vec<String> = marks.iter().map(|mark| format!("{mark:.4}")).collect();
            let shown: Vec<&str> =
                shown.iter().map(|mark| mark.trim_end_matches('0').trim_end_matches('.')).collect();
            assert_eq!(shown.join(" "), expected);
        }
    }
}
