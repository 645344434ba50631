//! Line plots: lines as SVG, labels that keep their size at any width, and the values of the lines as a table behind each plot. The script
//! of the page reads a row of this table to whoever points at a place of the plot.

use maud::{Markup, html};

use paymaster_settings::output::{Table, Text, html as page};

/// The width and the height of the drawing in its own units. The browser stretches it to the room that there is.
const SIZE: f64 = 1_000.0;

/// A place on the x axis with the value of each line there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    /// Where it begins and ends; the same for a point.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Whether the run ended in its first half: then it is the mean of a few requests, and only the table has it.
    pub(super) is_cut: bool,
    /// What the table calls it.
    pub(super) name: String,
    /// In the order of the lines; none where nothing was measured.
    pub(super) values: Vec<Option<f64>>,
}

/// The scale of the y axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// With the least distance of two marks: 1 for whole numbers.
    Linear(f64),
    Logarithmic,
}

pub(super) struct Plot {
    pub(super) title: &'static str,
    /// A sentence below the title.
    pub(super) note: Option<&'static str>,
    /// The title of the first column of the table.
    pub(super) place: &'static str,
    /// The names of the lines.
    pub(super) lines: Vec<&'static str>,
    pub(super) samples: Vec<Sample>,
    /// Whether a line stays at its value from the beginning of a sample to its end, instead of a point in the middle.
    pub(super) is_stepped: bool,
    pub(super) scale: Scale,
    /// Formats a value, with its unit.
    pub(super) shown: fn(f64) -> String,
    /// Marks of the x axis: value and label, with its unit. The axis spans them and every point.
    pub(super) x: Vec<(f64, String)>,
}

impl Plot {
    /// The plot as an HTML figure; empty if no line has two points.
    pub(super) fn figure(&self) -> Markup {
        let lines: Vec<_> = (0..self.lines.len()).map(|line| self.points(line)).collect();
        let points = || lines.iter().flatten().copied();
        let (x_low, x_high) = ends(points().map(|(x, _)| x).chain(self.x.iter().map(|(x, _)| *x)));
        let drawable = |y: &f64| self.scale != Scale::Logarithmic || *y > 0.0;
        let (y_low, y_high) = ends(points().map(|(_, y)| y).filter(drawable));
        if lines.iter().all(|line| line.len() < 2) || x_high <= x_low || !y_high.is_finite() {
            return html! {};
        }
        let marks = self.marks(y_low, y_high);
        let (bottom, top) = ends(marks.iter().copied());
        let right = |x: f64| (x - x_low) / (x_high - x_low);
        let down = |y: f64| match self.scale {
            Scale::Linear(_) => 1.0 - (y - bottom) / (top - bottom),
            Scale::Logarithmic => 1.0 - (y.max(bottom) / bottom).log10() / (top / bottom).log10(),
        };
        let drawn = |line: &[(f64, f64)]| {
            let points = line.iter().map(|(x, y)| format!("{:.1},{:.1}", right(*x) * SIZE, down(*y) * SIZE));
            points.collect::<Vec<_>>().join(" ")
        };
        html! {
            figure.plot {
                figcaption {
                    span.title { (self.title) }
                    @for (number, name) in self.lines.iter().enumerate() { span.key data-line=(number) { (name) } }
                }
                @if let Some(note) = self.note { p.meta { (note) } }
                p.values role="status" {}
                div.axes {
                    svg.y aria-hidden="true" {
                        @for mark in &marks { text x="100%" y=(format!("{:.2}%", down(*mark) * 100.0)) { (rounded((self.shown)(*mark))) } }
                    }
                    svg.drawing viewBox=(format!("0 0 {SIZE} {SIZE}")) preserveAspectRatio="none" role="img" aria-label=(self.title) {
                        @for y in marks.iter().map(|mark| format!("{:.1}", down(*mark) * SIZE)) {
                            line.grid x1="0" x2=(SIZE) y1=(y) y2=(y) {}
                        }
                        @for (number, line) in lines.iter().enumerate() { polyline data-line=(number) points=(drawn(line)) {} }
                        line.cursor y1="0" y2=(SIZE) {}
                    }
                    svg.x aria-hidden="true" {
                        @for (x, label) in self.x.iter().filter(|(_, label)| !label.is_empty()) {
                            text x=(format!("{:.2}%", right(*x) * 100.0)) y="1.3em" { (label) }
                        }
                    }
                }
                (self.table(|sample| right(f64::midpoint(sample.from, sample.to)) * SIZE))
            }
        }
    }

    /// The points of a line.
    fn points(&self, line: usize) -> Vec<(f64, f64)> {
        let drawn = self.samples.iter().filter(|sample| !sample.is_cut);
        let measured = drawn.filter_map(|sample| Some((sample, sample.values[line]?)));
        let places = |Sample { from, to, .. }: &Sample| {
            if self.is_stepped { vec![*from, *to] } else { vec![f64::midpoint(*from, *to)] }
        };
        measured.flat_map(|(sample, y)| places(sample).into_iter().map(move |x| (x, y))).collect()
    }

    /// The values as a table. Each row has its place in the drawing.
    fn table(&self, place: impl Fn(&Sample) -> f64) -> Markup {
        let shown = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), self.shown);
        let columns = [self.place].into_iter().chain(self.lines.iter().copied()).map(str::to_owned).collect();
        let row = |sample: &Sample| {
            let values = sample.values.iter().map(shown).map(Text::from);
            [Text::from(&sample.name)].into_iter().chain(values).collect()
        };
        let rows = self.samples.iter().map(row).collect();
        let places = self.samples.iter().map(|sample| format!("{:.1}", place(sample))).collect();
        let title = format!("{}: values", self.title);
        html! {
            details.more {
                summary { "The values as a table" }
                (page::table(&Table { title, columns, rows, places, has_numbers: true }))
            }
        }
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

/// The label of a mark: marks are round numbers, so their decimals are zeros.
fn rounded(label: String) -> String {
    let (number, unit) = label.split_at(label.find([' ', '/']).unwrap_or(label.len()));
    if number.contains('.') {
        format!("{}{unit}", number.trim_end_matches('0').trim_end_matches('.'))
    } else {
        label
    }
}

/// The least and the greatest value; infinite without any.
pub(super) fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
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
        let samples = points.into_iter().map(|(x, y)| Sample {
            from: x,
            to: x,
            is_cut: false,
            name: format!("at {x}"),
            values: vec![Some(y), None],
        });
        Plot {
            title: "t",
            note: None,
            place: "x",
            lines: vec!["n", "never measured"],
            samples: samples.collect(),
            is_stepped: false,
            scale,
            shown: |value| format!("{value} units"),
            x: vec![(0.0, "0 s".to_owned()), (10.0, String::new())],
        }
        .figure()
        .into_string()
    }

    fn labels(figure: &str) -> Vec<&str> {
        let labels = figure.split("<text x=\"100%\"").skip(1);
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

    /// Text in a drawing that is stretched shrinks with it, so that nobody can read it on a phone.
    #[test]
    fn labels_are_no_part_of_the_drawing() {
        let figure = plot(vec![(0.0, 1.0), (10.0, 4.0)], Scale::Linear(1.0));
        let drawing = figure.split("<svg class=\"drawing\"").nth(1).unwrap().split("</svg>").next().unwrap();
        assert!(!drawing.contains("<text"), "{drawing}");
        assert_eq!(labels(&figure), ["0 units", "1 units", "2 units", "3 units", "4 units"]);
        assert!(figure.contains("<text x=\"0.00%\" y=\"1.3em\">0 s</text>"), "{figure}");
        assert_eq!(figure.matches("y=\"1.3em\"").count(), 1);
    }

    /// The policy of the page forbids attributes with styles.
    #[test]
    fn values_are_a_table_and_nothing_has_a_style_of_its_own() {
        let figure = plot(vec![(0.0, 1.25), (10.0, 4.0)], Scale::Linear(0.0));
        let row = "<tr data-at=\"0.0\"><th scope=\"row\">at 0</th><td>1.25 units</td><td>-</td></tr>";
        assert!(figure.contains(row) && figure.contains("data-at=\"1000.0\""), "{figure}");
        assert!(!figure.contains("style="), "{figure}");
    }

    #[test]
    fn marks_have_no_zeros_behind_the_point() {
        for (label, expected) in
            [("4.00 ms", "4 ms"), ("10.0/s", "10/s"), ("100 us", "100 us"), ("0.5 s", "0.5 s")]
        {
            assert_eq!(rounded(label.to_owned()), expected);
        }
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
