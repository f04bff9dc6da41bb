//! Screenshots of pages, and checks of their pixels.

use serde_json::Value;

/// A screenshot: red, green and blue of every pixel, row by row.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    points: Vec<[u8; 3]>,
}

/// A rectangle of a page, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Place {
    /// Parses a rectangle of the form `[left, top, right, bottom]`.
    pub(crate) fn read(value: &Value) -> Place {
        let number = |index: usize| value[index].as_f64().expect("a number");
        Place { left: number(0), top: number(1), right: number(2), bottom: number(3) }
    }

    pub(crate) fn overlaps(&self, other: &Place) -> bool {
        let beside = self.right <= other.left || other.right <= self.left;
        let below = self.bottom <= other.top || other.bottom <= self.top;
        !beside && !below
    }
}

impl Picture {
    /// Decodes a PNG as browsers write it: eight bits per channel, not interlaced.
    pub(crate) fn read(png: &[u8]) -> Picture {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "a PNG");
        let (mut rest, mut packed) = (&png[8..], Vec::new());
        let (mut width, mut height, mut channels) = (0, 0, 0);
        while rest.len() >= 12 {
            let size = number(&rest[..4]);
            let (kind, data) = (&rest[4..8], &rest[8..8 + size]);
            match kind {
                b"IHDR" => {
                    (width, height) = (number(&data[..4]), number(&data[4..8]));
                    channels = match data[8..13] {
                        [8, 2, 0, 0, 0] => 3,
                        [8, 6, 0, 0, 0] => 4,
                        ref other => panic!("a PNG of another kind: {other:?}"),
                    };
                }
                b"IDAT" => packed.extend_from_slice(data),
                _ => {}
            }
            rest = &rest[12 + size..];
        }
        let bytes = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("it unpacks");
        let lines = unfiltered(&bytes, width * channels, channels);
        let points = lines.chunks(channels).map(|point| [point[0], point[1], point[2]]).collect();
        Picture { width, height, points }
    }

    /// Returns the colour of a pixel.
    pub(crate) fn at(&self, x: f64, y: f64) -> [u8; 3] {
        let (x, y) = (x.round() as usize, y.round() as usize);
        assert!(x < self.width && y < self.height, "{x}, {y} is not on the picture");
        self.points[y * self.width + x]
    }

    /// Returns the number of pixels of a rectangle that differ from its most frequent colour.
    pub(crate) fn ink(&self, place: Place) -> usize {
        let paper = self.paper(place);
        self.colours(place).into_iter().filter(|colour| differ(*colour, paper)).count()
    }

    /// Returns the most frequent colour of a rectangle.
    pub(crate) fn paper(&self, place: Place) -> [u8; 3] {
        let mut counts = std::collections::BTreeMap::<[u8; 3], usize>::new();
        for colour in self.colours(place) {
            *counts.entry(colour).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|count| count.1);
        most.expect("a place that is not empty").0
    }

    /// Returns whether a pixel near this one has another colour than `paper`.
    pub(crate) fn is_drawn(&self, x: f64, y: f64, paper: [u8; 3]) -> bool {
        let around = Place { left: x - 1.0, top: y - 1.0, right: x + 2.0, bottom: y + 2.0 };
        self.colours(around).into_iter().any(|colour| differ(colour, paper))
    }

    fn colours(&self, place: Place) -> Vec<[u8; 3]> {
        let across = place.left.ceil() as usize..place.right.floor() as usize;
        let down = place.top.ceil() as usize..place.bottom.floor() as usize;
        down.flat_map(|y| across.clone().map(move |x| (x, y)))
            .map(|(x, y)| self.at(x as f64, y as f64))
            .collect()
    }
}

/// Returns whether two colours are visibly different.
pub(crate) fn differ(one: [u8; 3], other: [u8; 3]) -> bool {
    one.iter().zip(other).any(|(one, other)| one.abs_diff(other) > 24)
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Reverses the PNG filters of lines of `size` bytes.
fn unfiltered(bytes: &[u8], size: usize, channels: usize) -> Vec<u8> {
    let mut lines: Vec<u8> = Vec::with_capacity(bytes.len());
    for line in bytes.chunks(size + 1) {
        let begin = lines.len();
        for (index, byte) in line[1..].iter().enumerate() {
            let left = if index < channels { 0 } else { lines[begin + index - channels] };
            let up = if begin == 0 { 0 } else { lines[begin + index - size] };
            let corner = if begin == 0 || index < channels {
                0
            } else {
                lines[begin + index - size - channels]
            };
            let guess = match line[0] {
                0 => 0,
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => nearest(left, up, corner),
                other => panic!("no such filter: {other}"),
            };
            lines.push(byte.wrapping_add(guess));
        }
    }
    lines
}

/// The Paeth predictor of PNG: returns the argument nearest to the sum of the first two minus the third.
fn nearest(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let distance = |value: u8| (guess - i16::from(value)).abs();
    // Ties go to the first.
    [left, up, corner].into_iter().min_by_key(|&value| distance(value)).unwrap_or(left)
}

#[test]
fn lines_survive_a_round_trip() {
    // Each line has another filter. Three channels, two pixels.
    let bytes = [
        [0, 10, 20, 30, 40, 50, 60],
        [1, 10, 20, 30, 30, 30, 30],
        [2, 0, 0, 0, 0, 0, 1],
        [3, 5, 10, 15, 15, 15, 15],
        [4, 0, 0, 0, 30, 30, 30],
    ];
    let lines = unfiltered(&bytes.concat(), 6, 3);
    let expected = [
        [10, 20, 30, 40, 50, 60],
        [10, 20, 30, 40, 50, 60],
        [10, 20, 30, 40, 50, 61],
        [10, 20, 30, 40, 50, 60],
        [10, 20, 30, 70, 80, 90],
    ];
    assert_eq!(lines, expected.concat());
}
