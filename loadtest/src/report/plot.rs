//! Line plots as SVG, so that the report needs no script and no network access.

use std::fmt::Write as _;

// The size and margins of a plot, in SVG user units.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;

/// A line of a plot: its name, its class in the style sheet and its points `(x, y)`.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) class: &'a str,
    pub(super) points: Vec<(f64, f64)>,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Logarithmic,
}

/// A plot.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) title: &'a str,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) y: Scale,
    /// Marks of the x axis: value and label.
    pub(super) ticks: Vec<(f64, String)>,
    /// Formats the labels of the y axis.
    pub(super) shown: fn(f64) -> String,
}

impl Plot<'_> {
    /// The plot as an HTML figure; empty for fewer than two points.
    pub(super) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| line.points.iter().copied());
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let (x_low, x_high) = ends(&mut points().map(|(x, _)| x).chain(self.ticks.iter().map(|(x, _)| *x)));
        let (mut y_low, mut y_high) = ends(
            &mut points()
                .map(|(_, y)| y)
                .filter(|y| self.y == Scale::Linear || *y > 0.0),
        );
        if points().count() < 2 || x_high <= x_low || !y_high.is_finite() {
            return String::new();
        }
        let marks = match self.y {
            Scale::Linear => {
                let step = step(y_high.max(1e-9));
                y_low = 0.0;
                y_high = (y_high / step).ceil().max(1.0) * step;
                linear_marks(y_high, step)
            }
            Scale::Logarithmic => {
                y_low = 10_f64.powf(y_low.log10().floor());
                y_high = 10_f64.powf(y_high.log10().ceil()).max(y_low * 10.0);
                logarithmic_marks(y_low, y_high)
            }
        };
        let x_at = |x: f64| LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
        let y_at = |y: f64| {
            let share = match self.y {
                Scale::Linear => (y - y_low) / (y_high - y_low),
                Scale::Logarithmic => {
                    (y.max(y_low).log10() - y_low.log10()) / (y_high.log10() - y_low.log10())
                }
            };
            HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
        };
        let mut svg = format!("<figure><figcaption>{}<span class=\"legend\">", self.title);
        for line in &self.lines {
            let _ = write!(svg, "<span class=\"key {}\">{}</span>", line.class, line.name);
        }
        let _ = write!(
            svg,
            "</span></figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            self.title
        );
        for mark in marks {
            let y = y_at(mark);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                (self.shown)(mark)
            );
        }
        for (x, label) in &self.ticks {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                x_at(*x),
                HEIGHT - 9.0
            );
        }
        for line in &self.lines {
            let path: Vec<String> = line
                .points
                .iter()
                .map(|(x, y)| format!("{:.1},{:.1}", x_at(*x), y_at(*y)))
                .collect();
            let _ = write!(
                svg,
                "<polyline class=\"{}\" points=\"{}\"/>",
                line.class,
                path.join(" ")
            );
        }
        svg.push_str("</svg></figure>\n");
        svg
    }
}

/// A round step that divides a range into four to eight parts.
pub(super) fn step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let multiple = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|multiple| rough <= multiple * power);
    multiple.unwrap_or(10.0) * power
}

fn linear_marks(high: f64, step: f64) -> Vec<f64> {
    (0..=10)
        .map(|n| f64::from(n) * step)
        .take_while(|mark| *mark <= high * 1.000_1)
        .collect()
}

fn logarithmic_marks(low: f64, high: f64) -> Vec<f64> {
    (0..=14)
        .map(|n| low * 10_f64.powi(n))
        .take_while(|mark| *mark <= high * 1.000_1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>, y: Scale) -> String {
        Plot {
            title: "t",
            lines: vec![Line {
                name: "n",
                class: "c",
                points,
            }],
            y,
            ticks: vec![(0.0, "0".to_owned())],
            shown: |value| format!("{value}"),
        }
        .svg()
    }

    #[test]
    fn every_point_is_inside_the_plot() {
        for y in [Scale::Linear, Scale::Logarithmic] {
            let svg = plot(vec![(0.0, 0.0), (5.0, 1e-6), (10.0, 123.0)], y);
            let points = svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
            for point in points.split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!(
                    (0.0..=WIDTH).contains(&x) && (0.0..=HEIGHT).contains(&y),
                    "{point}"
                );
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn a_plot_without_a_line_is_empty() {
        assert_eq!(plot(vec![], Scale::Linear), "");
        assert_eq!(plot(vec![(1.0, 1.0)], Scale::Logarithmic), "");
        assert_eq!(plot(vec![(1.0, 0.0), (2.0, 0.0)], Scale::Logarithmic), "");
    }

    #[test]
    fn steps_are_round() {
        for (range, expected) in [(10.0, 2.0), (7.0, 2.0), (0.3, 0.1), (130_000.0, 50_000.0)] {
            assert!(
                (step(range) / expected - 1.0).abs() < 1e-9,
                "{range}: {}",
                step(range)
            );
        }
    }
}
