//! Drawings of threads that wait for one another: a ring of threads and of what they wait for.

use std::f64::consts::TAU;
use std::fmt::Write;

use raddle_results::document::{Hop, Trace, Wait};

use super::markup::escape;
use crate::phrase::file_name;
use crate::words::deadlock::{find, waits_to_join};
use crate::words::names::{object_name, thread_name};

/// Half the height of a box.
const HEIGHT: f64 = 15.0;
/// The width of a letter in a box.
const LETTER: f64 = 7.9;

/// Returns a drawing of every cycle.
pub(super) fn drawings(waits: &[Wait], cycles: &[Vec<Hop>], trace: &Trace) -> String {
    let nodes = cycles.iter().map(|cycle| nodes(cycle, waits, trace));
    nodes.enumerate().map(|(number, nodes)| drawing(number, &nodes)).collect()
}

/// A box on the ring, and the label of the arrow to the next.
struct Node {
    label: String,
    class: &'static str,
    arrow: String,
}

fn drawing(number: usize, nodes: &[Node]) -> String {
    let widest = nodes.iter().map(|node| half_width(&node.label)).fold(0.0, f64::max);
    let (across, down) = (170.0 + 2.0 * widest, 24.0 + 20.0 * nodes.len() as f64);
    let (width, height) = (2.0 * (across + widest) + 20.0, 2.0 * (down + HEIGHT) + 20.0);
    let center = (width / 2.0, height / 2.0);
    let place = |position: f64| {
        // From the left, clockwise.
        let angle = TAU * (0.5 + position / nodes.len() as f64);
        (center.0 + across * angle.cos(), center.1 + down * angle.sin())
    };
    let mut text = format!(
        "<svg class=\"cycle\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"threads that wait for one \
         another\"><defs><marker id=\"cycle-{number}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
         markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
         <path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n"
    );
    for (position, node) in nodes.iter().enumerate() {
        let next = &nodes[(position + 1) % nodes.len()];
        let (from, to) = (place(position as f64), place(position as f64 + 1.0));
        let (start, end) = (leave(from, to, &node.label), leave(to, from, &next.label));
        let middle = ((start.0 + end.0) / 2.0, (start.1 + end.1) / 2.0);
        let _ = writeln!(
            text,
            "<g class=\"edge\"><path d=\"M{:.1},{:.1} L{:.1},{:.1}\" marker-end=\"url(#cycle-{number})\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            start.0,
            start.1,
            end.0,
            end.1,
            middle.0,
            middle.1,
            escape(&node.arrow)
        );
    }
    for (position, node) in nodes.iter().enumerate() {
        let ((x, y), half) = (place(position as f64), half_width(&node.label));
        let _ = writeln!(
            text,
            "<g class=\"{}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\"/>\
             <text x=\"{x:.1}\" y=\"{y:.1}\">{}</text></g>",
            node.class,
            x - half,
            y - HEIGHT,
            2.0 * half,
            2.0 * HEIGHT,
            escape(&node.label)
        );
    }
    text + "</svg>\n"
}

/// Returns the threads, and what each waits for unless that is a thread.
fn nodes(cycle: &[Hop], waits: &[Wait], trace: &Trace) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (wait, holder) in cycle.iter().filter_map(|hop| find(waits, hop)) {
        let thread = thread_name(trace, wait.thread);
        if waits_to_join(wait, trace) {
            let arrow = "waits for the end of".into();
            nodes.push(Node { label: thread, class: "thread", arrow });
        } else {
            let arrow = format!("waits for · {}", file_name(&wait.site.to_string()));
            nodes.push(Node { label: thread, class: "thread", arrow });
            let label = object_name(trace, wait.object).to_owned();
            let arrow = format!("held by · {}", file_name(&holder.taken.to_string()));
            nodes.push(Node { label, class: "object", arrow });
        }
    }
    nodes
}

fn half_width(label: &str) -> f64 {
    label.chars().count() as f64 * LETTER / 2.0 + 12.0
}

/// Returns where the line from the middle of a box to another point leaves the box.
fn leave(from: (f64, f64), to: (f64, f64), label: &str) -> (f64, f64) {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let (half, high) = (half_width(label) + 3.0, HEIGHT + 3.0);
    let part = (half / x.abs().max(1e-9)).min(high / y.abs().max(1e-9)).min(0.5);
    (from.0 + part * x, from.1 + part * y)
}
