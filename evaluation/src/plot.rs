//! Plots as SVG: lines through points, with a logarithmic scale upwards, and across if asked for.

use std::fmt::Write;

/// A plot.
pub(crate) struct Plot {
    /// The name of its file, without the ending.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) across: &'static str,
    pub(crate) spacing: Spacing,
    pub(crate) up: &'static str,
    pub(crate) series: Vec<Series>,
}

/// Where values are across.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// From zero, evenly.
    Even,
    /// By powers of ten; values are above zero.
    Powers,
}

/// A line through points.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    /// Across and up; what is not above zero is not drawn.
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// What is left free for labels: left, right, above, below.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 170.0;
const ABOVE: f64 = 40.0;
const BELOW: f64 = 50.0;

const COLOURS: [&str; 6] = ["#1b6ca8", "#d1495b", "#3d8361", "#e09f3e", "#6a4c93", "#444444"];

impl Plot {
    /// Nothing can be drawn.
    pub(crate) fn is_empty(&self) -> bool {
        self.points().next().is_none()
    }

    /// The plot as a document.
    pub(crate) fn to_svg(&self) -> String {
        let scale = Scale::of(self.spacing, self.points());
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut svg, (LEFT, ABOVE - 16.0), "start", &self.title);
        text(&mut svg, (scale.middle(), HEIGHT - 10.0), "middle", self.across);
        text(&mut svg, (8.0, ABOVE - 16.0), "start", self.up);
        scale.axes(&mut svg);
        for (index, series) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let row = ABOVE + 14.0 + 18.0 * index as f64;
            let label = WIDTH - RIGHT + 14.0;
            circle(&mut svg, (label, row - 4.0), colour);
            text(&mut svg, (label + 10.0, row), "start", series.name);
            let places: Vec<_> = series.drawn().map(|point| scale.place(point)).collect();
            let path: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>",
                path.join(" ")
            );
            for place in places {
                circle(&mut svg, place, colour);
            }
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.series.iter().flat_map(Series::drawn)
    }
}

impl Series {
    fn drawn(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.points.iter().copied().filter(|(_, up)| *up > 0.0)
    }
}

/// Where values are on the page: by powers of ten up.
struct Scale {
    spacing: Spacing,
    /// What is at the left and at the right: values, or exponents of ten.
    left: f64,
    right: f64,
    /// Exponents of ten.
    low: f64,
    high: f64,
}

impl Scale {
    fn of(spacing: Spacing, points: impl Iterator<Item = (f64, f64)> + Clone) -> Scale {
        let (left, right) = match spacing {
            Spacing::Even => (0.0, points.clone().fold(1.0, |most, (across, _)| across.max(most))),
            Spacing::Powers => powers(points.clone().map(|(across, _)| across)),
        };
        let (low, high) = powers(points.map(|(_, up)| up));
        Scale { spacing, left, right, low, high }
    }

    fn middle(&self) -> f64 {
        (LEFT + WIDTH - RIGHT) / 2.0
    }

    fn place(&self, (across, up): (f64, f64)) -> (f64, f64) {
        let position = match self.spacing {
            Spacing::Even => across,
            Spacing::Powers => across.log10(),
        };
        let share = (position - self.left) / (self.right - self.left);
        let x = LEFT + share * (WIDTH - LEFT - RIGHT);
        let height = (up.log10() - self.low) / (self.high - self.low);
        (x, HEIGHT - BELOW - height * (HEIGHT - ABOVE - BELOW))
    }

    fn axes(&self, svg: &mut String) {
        let (bottom, right) = (HEIGHT - BELOW, WIDTH - RIGHT);
        let _ = writeln!(
            svg,
            "<polyline points=\"{LEFT},{ABOVE} {LEFT},{bottom} {right},{bottom}\" fill=\"none\" stroke=\"black\"/>"
        );
        for exponent in self.low as i32..=self.high as i32 {
            let (_, y) = self.place((1.0, 10f64.powi(exponent)));
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>"
            );
            text(svg, (LEFT - 6.0, y + 4.0), "end", &format!("1e{exponent}"));
        }
        let mut label = |value: f64, words: &str| {
            let (x, _) = self.place((value, 1.0));
            text(svg, (x, bottom + 16.0), "middle", words);
        };
        match self.spacing {
            Spacing::Even => {
                for quarter in 0..=4 {
                    let value = self.right * f64::from(quarter) / 4.0;
                    label(value, &crate::text::grouped(value));
                }
            }
            Spacing::Powers => {
                for exponent in self.left as i32..=self.right as i32 {
                    label(10f64.powi(exponent), &format!("1e{exponent}"));
                }
            }
        }
    }
}

/// The exponents of ten between which all values are; different ones in any case.
fn powers(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        low = low.min(value.log10().floor());
        high = high.max(value.log10().ceil());
    }
    if low > high {
        (low, high) = (0.0, 1.0);
    }
    (low, high.max(low + 1.0))
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ =
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

fn circle(svg: &mut String, (x, y): (f64, f64), colour: &str) {
    let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(spacing: Spacing, points: Vec<(f64, f64)>) -> Plot {
        let series = vec![Series { name: "a < b", points }];
        let name = "made-up".to_owned();
        let title = "Made up".to_owned();
        Plot { name, title, across: "states", spacing, up: "seconds", series }
    }

    #[test]
    fn points_are_where_the_scales_say() {
        let scale = Scale::of(Spacing::Even, [(100.0, 0.01), (200.0, 10.0)].into_iter());
        assert_eq!(scale.place((0.0, 0.01)), (LEFT, HEIGHT - BELOW));
        assert_eq!(scale.place((200.0, 10.0)), (WIDTH - RIGHT, ABOVE));
        let (x, y) = scale.place((100.0, 1.0));
        assert_eq!(x, scale.middle());
        assert!((y - (ABOVE + (HEIGHT - ABOVE - BELOW) / 3.0)).abs() < 1e-9, "{y}");
    }

    #[test]
    fn powers_of_ten_are_evenly_spaced_across() {
        let scale = Scale::of(Spacing::Powers, [(0.1, 1.0), (10.0, 10.0)].into_iter());
        assert_eq!(scale.place((0.1, 1.0)), (LEFT, HEIGHT - BELOW));
        assert_eq!(scale.place((1.0, 1.0)).0, scale.middle());
        assert_eq!(scale.place((10.0, 10.0)), (WIDTH - RIGHT, ABOVE));
    }

    #[test]
    fn a_document_comes_of_any_points() {
        for spacing in [Spacing::Even, Spacing::Powers] {
            assert!(plot(spacing, vec![]).is_empty());
            assert!(plot(spacing, vec![(1.0, 0.0)]).is_empty());
            for points in [vec![], vec![(5.0, 1.0)], vec![(1.0, 1e-6), (1e6, 1e4)]] {
                let svg = plot(spacing, points).to_svg();
                assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
                assert!(svg.contains("a &lt; b") && !svg.contains("NaN") && !svg.contains("inf"));
            }
        }
    }
}
