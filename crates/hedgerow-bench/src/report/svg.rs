//! Charts as inline SVG.

use std::fmt::Write;

use super::html::escape;
use crate::figures::range;

pub(super) const WIDTH: f64 = 860.0;
pub(super) const HEIGHT: f64 = 260.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 40.0;
const COLORS: [&str; 12] = [
    "#2a6f97", "#bc4b51", "#5b8e7d", "#8a5a9e", "#d08c3c", "#444444", "#4fb0c6", "#c77dba", "#8aa83a",
    "#7a5230", "#d9a5a5", "#5566cc",
];
/// Names of the legend in a row, where there are more than fit beside the unit.
const LEGEND_ROW: usize = 6;

/// A curve.
pub(crate) struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Series {
    /// A curve through points with ascending x; those that are not numbers are left out.
    pub(crate) fn new(name: &str, points: Vec<(f64, f64)>) -> Series {
        let points = points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        Series { name: name.to_owned(), points }
    }
}

/// A moment that a chart marks with a line: where it is on the x axis, and what happened.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) at: f64,
    pub(crate) what: String,
}

/// Curves over one axis; y begins at 0.
pub(crate) struct Chart {
    pub(crate) title: String,
    x_label: String,
    y_label: String,
    series: Vec<Series>,
    /// The x axis reaches at least this far.
    x_end: f64,
    marks: Vec<Mark>,
}

/// Of a curve with more points none is drawn by itself: the line shows them.
const MOST_DOTS: usize = 150;

impl Chart {
    /// A chart.
    pub(crate) fn new(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Chart {
        let (title, x_label, y_label) = (title.to_owned(), x_label.to_owned(), y_label.to_owned());
        Chart { title, x_label, y_label, series, x_end: 0.0, marks: Vec::new() }
    }

    /// The chart with an x axis that reaches to `x_end`, and with marks: charts of one story get the same.
    pub(crate) fn over(mut self, x_end: f64, marks: &[Mark]) -> Chart {
        self.x_end = x_end;
        self.marks = marks.iter().filter(|mark| mark.at.is_finite()).cloned().collect();
        self
    }

    /// The chart as an `svg` element.
    pub(crate) fn to_svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let marks = self.marks.iter().map(|mark| mark.at);
        let xs: Vec<f64> = all().map(|p| p.0).chain(marks).chain([self.x_end]).collect();
        let ys: Vec<f64> = all().map(|p| p.1).collect();
        let x_max = ceiling(range(&xs).1);
        let y_max = ceiling(range(&ys).1);
        let x = |v: f64| LEFT + v / x_max * (WIDTH - LEFT - RIGHT);
        let y = |v: f64| HEIGHT - BOTTOM - v / y_max * (HEIGHT - TOP - BOTTOM);
        let mut svg = open(&self.title, self.series.len());
        for i in 0..=4 {
            let share = f64::from(i) / 4.0;
            rule(&mut svg, y(y_max * share), &number(y_max * share));
            let at = x(x_max * share);
            let _ = write!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">",
                HEIGHT - BOTTOM + 16.0
            );
            let _ = write!(svg, "{}</text>", number(x_max * share));
        }
        for (i, mark) in self.marks.iter().enumerate() {
            mark_at(&mut svg, x(mark.at), &mark.what, i % 2 == 0);
        }
        for (i, series) in self.series.iter().enumerate() {
            let color = color(i);
            let points: Vec<(f64, f64)> = series.points.iter().map(|&(px, py)| (x(px), y(py))).collect();
            curve(&mut svg, &points, color);
            legend(&mut svg, i, self.series.len(), &series.name);
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        let _ = write!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">", HEIGHT - 6.0);
        let _ = write!(
            svg,
            "{}</text><text x=\"4\" y=\"14\">{}</text>",
            escape(&self.x_label),
            escape(&self.y_label)
        );
        svg + "</svg>\n"
    }
}

/// Groups of bars: per label one bar of each kind.
pub(crate) struct Bars {
    pub(crate) title: String,
    unit: String,
    kinds: Vec<String>,
    /// Label, and a value per kind (not a number where there is none).
    groups: Vec<(String, Vec<f64>)>,
}

impl Bars {
    /// A chart of bars.
    pub(crate) fn new(title: &str, unit: &str, kinds: Vec<String>, groups: Vec<(String, Vec<f64>)>) -> Bars {
        Bars { title: title.to_owned(), unit: unit.to_owned(), kinds, groups }
    }

    /// The chart as an `svg` element.
    pub(crate) fn to_svg(&self) -> String {
        let values: Vec<f64> =
            self.groups.iter().flat_map(|(_, v)| v).copied().filter(|v| v.is_finite()).collect();
        let max = ceiling(range(&values).1);
        let y = |v: f64| HEIGHT - BOTTOM - v / max * (HEIGHT - TOP - BOTTOM);
        let mut svg = open(&self.title, self.kinds.len());
        for i in 0..=4 {
            let value = max * f64::from(i) / 4.0;
            rule(&mut svg, y(value), &number(value));
        }
        let group_width = (WIDTH - LEFT - RIGHT) / self.groups.len().max(1) as f64;
        let bar_width = (group_width * 0.8 / self.kinds.len().max(1) as f64).min(60.0);
        for (g, (label, values)) in self.groups.iter().enumerate() {
            let from = LEFT + group_width * g as f64;
            for (k, &value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                let (x, top) = (from + group_width * 0.1 + bar_width * k as f64, y(value));
                let (width, height) = (bar_width - 2.0, HEIGHT - BOTTOM - top);
                let color = color(k);
                let _ = write!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\">\
                     <title>{}</title></rect>",
                    number(value)
                );
            }
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                from + group_width / 2.0,
                HEIGHT - BOTTOM + 16.0,
                escape(label)
            );
        }
        for (k, kind) in self.kinds.iter().enumerate() {
            legend(&mut svg, k, self.kinds.len(), kind);
        }
        let _ = write!(svg, "<text x=\"4\" y=\"14\">{}</text>", escape(&self.unit));
        svg + "</svg>\n"
    }
}

/// The color of the `i`-th curve or kind.
pub(super) fn color(i: usize) -> &'static str {
    COLORS[i % COLORS.len()]
}

/// Begins a chart with so many names in its legend.
pub(super) fn open(title: &str, names: usize) -> String {
    let above = above(names);
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg viewBox=\"0 {} {WIDTH} {}\" font-size=\"11\" fill=\"#444\" role=\"img\" aria-label=\"{}\">",
        0.0 - above,
        HEIGHT + above,
        escape(title)
    );
    svg
}

/// The height of the rows of the legend that do not fit beside the unit.
fn above(names: usize) -> f64 {
    if names <= 4 { 0.0 } else { 14.0 * names.div_ceil(LEGEND_ROW) as f64 }
}

/// A line through points, and the points: a curve of one point is a dot.
fn curve(svg: &mut String, points: &[(f64, f64)], color: &str) {
    let texts: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = write!(
        svg,
        "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" points=\"{}\"/>",
        texts.join(" ")
    );
    for (x, y) in points.iter().filter(|_| points.len() <= MOST_DOTS) {
        let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\" fill=\"{color}\"/>");
    }
}

/// A dashed line from top to bottom, with its name to the left or right of it: two that are close keep apart.
fn mark_at(svg: &mut String, x: f64, what: &str, left: bool) {
    let (from, to) = (TOP, HEIGHT - BOTTOM);
    let _ = write!(
        svg,
        "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from}\" y2=\"{to}\" stroke=\"#888\" stroke-dasharray=\"4 3\"/>"
    );
    let (at, anchor) = if left { (x - 4.0, "end") } else { (x + 4.0, "start") };
    let y = TOP + 10.0;
    let _ = write!(svg, "<text x=\"{at:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(what));
}

fn rule(svg: &mut String, y: f64, label: &str) {
    let end = WIDTH - RIGHT;
    let _ = write!(svg, "<line x1=\"{LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>");
    let _ = write!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 6.0, y + 4.0);
}

/// The `i`-th of so many names: few beside the unit, many in rows above it.
pub(super) fn legend(svg: &mut String, i: usize, names: usize, name: &str) {
    let (x, y) = match names {
        0..=4 => (LEFT + 120.0 + 170.0 * i as f64, 5.0),
        _ => (4.0 + 142.0 * (i % LEGEND_ROW) as f64, 5.0 - above(names) + 14.0 * (i / LEGEND_ROW) as f64),
    };
    let _ = write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{}\"/>", color(i));
    let _ = write!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", x + 14.0, y + 9.0, escape(name));
}

/// The next round number at or above `v`; 1 where there is none.
fn ceiling(v: f64) -> f64 {
    if !v.is_finite() || v <= 0.0 {
        return 1.0;
    }
    let unit = 10f64.powf(v.log10().floor());
    let step = [1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 5.0, 6.0, 8.0, 10.0];
    step.into_iter().map(|s| s * unit).find(|&s| s >= v * (1.0 - 1e-9)).unwrap_or(10.0 * unit)
}

/// A number of about three digits.
pub(super) fn number(v: f64) -> String {
    match v.abs() {
        a if a >= 1e6 => {
            format!("{:.4}", v / 1e6).trim_end_matches('0').trim_end_matches('.').to_owned() + " M"
        }
        a if a >= 1e4 => {
            format!("{:.2}", v / 1e3).trim_end_matches('0').trim_end_matches('.').to_owned() + " k"
        }
        a if a >= 100.0 || a == 0.0 => format!("{v:.0}"),
        a if a >= 1e-3 => format!("{v:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => format!("{v:.1e}"),
    }
}
