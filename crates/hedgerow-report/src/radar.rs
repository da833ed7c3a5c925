//! Radar charts as inline SVG.

use std::f64::consts::TAU;
use std::fmt::Write;

use super::html::escape;
use super::svg::{HEIGHT, WIDTH, color, legend, open};

/// The length of an axis.
const RADIUS: f64 = 100.0;

/// A chart of closed curves, one per kind. Each axis goes from 0 in the middle to 1.
pub struct Radar {
    title: String,
    axes: Vec<String>,
    /// The name of each kind, and its share from 0 to 1 on each axis; NaN if it has none.
    kinds: Vec<(String, Vec<f64>)>,
    colors: Vec<usize>,
}

impl Radar {
    /// Returns a chart.
    pub fn new(title: &str, axes: Vec<String>, kinds: Vec<(String, Vec<f64>)>) -> Radar {
        let colors = (0..kinds.len()).collect();
        Radar { title: title.to_owned(), axes, kinds, colors }
    }

    /// Returns the chart with these color numbers for its kinds.
    pub fn colored(self, colors: Vec<usize>) -> Radar {
        Radar { colors, ..self }
    }

    /// Returns the chart as an `svg` element.
    pub fn to_svg(&self) -> String {
        let mut svg = open(&self.title, self.kinds.len(), 0.0);
        for (i, axis) in self.axes.iter().enumerate() {
            let ((x, y), (far_x, far_y)) = (self.place(i, 1.0), self.place(i, 1.12));
            let (middle_x, middle_y) = self.place(i, 0.0);
            let _ = write!(
                svg,
                "<line x1=\"{middle_x:.1}\" y1=\"{middle_y:.1}\" x2=\"{x:.1}\" y2=\"{y:.1}\" stroke=\"var(--line)\"/>"
            );
            let anchor = if far_x < middle_x - 1.0 {
                "end"
            } else if far_x > middle_x + 1.0 {
                "start"
            } else {
                "middle"
            };
            let _ = write!(
                svg,
                "<text x=\"{far_x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                far_y + 4.0,
                escape(axis)
            );
        }
        for (i, (name, shares)) in self.kinds.iter().enumerate() {
            let points: Vec<String> = shares
                .iter()
                .enumerate()
                .filter(|(_, share)| share.is_finite())
                .map(|(axis, &share)| self.place(axis, share.clamp(0.0, 1.0)))
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let _ = write!(
                svg,
                "<polygon fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" points=\"{}\"/>",
                color(&self.colors, i),
                points.join(" ")
            );
            legend(&mut svg, (i, self.kinds.len()), name, color(&self.colors, i));
        }
        svg + "</svg>\n"
    }

    /// Returns the position of a share on an axis.
    fn place(&self, axis: usize, share: f64) -> (f64, f64) {
        let angle = TAU * axis as f64 / self.axes.len().max(1) as f64;
        let (sin, cos) = angle.sin_cos();
        (WIDTH / 2.0 + RADIUS * share * sin, HEIGHT / 2.0 + 6.0 - RADIUS * share * cos)
    }
}
