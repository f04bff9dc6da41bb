//! Litmus tests with known verdicts.
//!
//! The verdicts and the numbers of consistent executions were computed by brute force from the axioms,
//! by a program independent of this crate.

/// A program, an outcome, and the verdict on it.
#[derive(Copy, Clone, Debug)]
pub struct Test {
    /// The name of the test.
    pub name: &'static str,
    /// The program, see [`Code`](super::Code).
    pub code: &'static str,
    /// The outcome, see [`Outcome::matches`](super::Outcome::matches).
    pub outcome: &'static str,
    /// Whether RC11 allows the outcome.
    pub verdict: Verdict,
    /// The number of consistent executions of the program.
    pub graphs: usize,
}

/// Whether the memory model allows an outcome.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Some execution has the outcome.
    Allowed,
    /// No execution has the outcome.
    Forbidden,
}

const A: Verdict = Verdict::Allowed;
const F: Verdict = Verdict::Forbidden;

const fn test(
    name: &'static str,
    code: &'static str,
    outcome: &'static str,
    verdict: Verdict,
    graphs: usize,
) -> Test {
    Test { name, code, outcome, verdict, graphs }
}

/// Tests for mistakes that the tests of the literature do not detect.
pub const MORE: &[Test] = &[
    test("MP three values", "Wx1;Wx2;Wy1 | Ry;Rx", "1 0", A, 6),
    test("MP three values, release/acquire", "Wx1;Wy1r;Wx2 | Rya;Rx", "1 0", F, 5),
];

/// The tests of the literature.
pub const TESTS: &[Test] = &[
    test("SB relaxed", "Wx1;Ry | Wy1;Rx", "0 0", A, 4),
    test("SB release/acquire", "Wx1r;Rya | Wy1r;Rxa", "0 0", A, 4),
    test("SB all sc", "Wx1s;Rys | Wy1s;Rxs", "0 0", F, 3),
    test("SB three sc, acquire load", "Wx1s;Rys | Wy1s;Rxa", "0 0", A, 4),
    test("SB three sc, release store", "Wx1s;Rys | Wy1r;Rxs", "0 0", A, 4),
    test("SB sc fences", "Wx1;Fs;Ry | Wy1;Fs;Rx", "0 0", F, 3),
    test("SB sc fence, acq_rel fence", "Wx1;Fs;Ry | Wy1;Fq;Rx", "0 0", A, 4),
    test("SB sc accesses, sc fence", "Wx1s;Rys | Wy1;Fs;Rx", "0 0", F, 3),
    test("SB sc fence and load, sc accesses", "Wx1;Fs;Rys | Wy1s;Rxs", "0 0", F, 3),
    test("SB loads by adding 0", "Wx1;Uy+0q | Wy1;Ux+0q", "0 0", A, 4),
    test("SB stores by swap", "Xx1q;Rya | Xy1q;Rxa", "_ 0 _ 0", A, 4),
    test("SB stores by sc swap", "Xx1s;Ry | Xy1s;Rx", "_ 0 _ 0", A, 4),
    test("SB shared dummy update", "Wx1;Uz+0q;Ry | Wy1;Uz+0q;Rx", "_ 0 _ 0", F, 4),
    test("SB stores by sc add", "Ux+1s;Rys | Uy+1s;Rxs", "_ 0 _ 0", F, 3),
    test("SB failed sc exchange", "Wx1s;Cy5>6ss | Wy1s;Cx5>6ss", "0 0", F, 3),
    test("SB failed exchange, relaxed", "Wx1s;Cy5>6sl | Wy1s;Cx5>6sl", "0 0", A, 4),
    test("SB own store first", "Wx1;Rx;Ry | Wy1;Ry;Rx", "1 0 1 0", A, 4),
    test("MP relaxed", "Wx1;Wy1 | Ry;Rx", "1 0", A, 4),
    test("MP release/acquire", "Wx1;Wy1r | Rya;Rx", "1 0", F, 3),
    test("MP only release", "Wx1;Wy1r | Ry;Rx", "1 0", A, 4),
    test("MP only acquire", "Wx1;Wy1 | Rya;Rx", "1 0", A, 4),
    test("MP fences", "Wx1;Fr;Wy1 | Ry;Fa;Rx", "1 0", F, 3),
    test("MP release, acquire fence", "Wx1;Wy1r | Ry;Fa;Rx", "1 0", F, 3),
    test("MP release fence, acquire", "Wx1;Fr;Wy1 | Rya;Rx", "1 0", F, 3),
    test("MP fences swapped", "Wx1;Fa;Wy1 | Ry;Fr;Rx", "1 0", A, 4),
    test("MP sc fences", "Wx1;Fs;Wy1 | Ry;Fs;Rx", "1 0", F, 3),
    test("MP failed exchange, relaxed", "Wx1;Wy1r | Cy5>6ql;Rx", "1 0", A, 4),
    test("MP failed exchange, acquire", "Wx1;Wy1r | Cy5>6qa;Rx", "1 0", F, 3),
    test("MP exchange, acquire", "Wx1;Wy1r | Cy1>2al;Rx", "1 0", F, 3),
    test("MP exchange, relaxed", "Wx1;Wy1r | Cy1>2ll;Rx", "1 0", A, 4),
    test("RS store of the same thread", "Wx1;Wy1r;Wy2 | Rya;Rx", "2 0", A, 5),
    test("RS update of another", "Wx1;Wy1r | Uy+1 | Rya;Rx", "1 2 0", F, 9),
    test("RS store of another", "Wx1;Wy1r | Ry;?1;Wy2 | Rya;Rx", "1 2 0", A, 8),
    test("RS store, then update", "Wx1;Wy1r;Wy2 | Uy+1 | Rya;Rx", "2 3 0", A, 20),
    test("RS two updates", "Wx1;Wy1r | Uy+1 | Uy+1 | Rya;Rx", "_ _ 3 0", F, 36),
    test("RS headed by a fence", "Wx1;Fr;Wy1 | Uy+1 | Rya;Rx", "1 2 0", F, 9),
    test("LB relaxed", "Rx;Wy1 | Ry;Wx1", "1 1", F, 3),
    test("LB acquire/release", "Rxa;Wy1r | Rya;Wx1r", "1 1", F, 3),
    test("LB data", "Rx;Wy@ | Ry;Wx@", "1 _", F, 3),
    test("2+2W relaxed", "Wx1;Wy2 | Wy1;Wx2", "x=1 y=1", A, 4),
    test("2+2W release", "Wx1r;Wy2r | Wy1r;Wx2r", "x=1 y=1", A, 4),
    test("2+2W all sc", "Wx1s;Wy2s | Wy1s;Wx2s", "x=1 y=1", F, 3),
    test("2+2W three sc, release", "Wx1s;Wy2s | Wy1r;Wx2s", "x=1 y=1", A, 4),
    test("2+2W sc fences", "Wx1;Fs;Wy2 | Wy1;Fs;Wx2", "x=1 y=1", F, 3),
    test("R relaxed", "Wx1;Wy1 | Wy2;Rx", "0 y=2", A, 4),
    test("R release/acquire", "Wx1r;Wy1r | Wy2r;Rxa", "0 y=2", A, 4),
    test("R all sc", "Wx1s;Wy1s | Wy2s;Rxs", "0 y=2", F, 3),
    test("R sc fences", "Wx1;Fs;Wy1 | Wy2;Fs;Rx", "0 y=2", F, 3),
    test("S relaxed", "Wx2;Wy1 | Ry;Wx1", "1 x=2", A, 4),
    test("S release/acquire", "Wx2;Wy1r | Rya;Wx1", "1 x=2", F, 3),
    test("S fences", "Wx2;Fr;Wy1 | Ry;Fa;Wx1", "1 x=2", F, 3),
    test("CoRR", "Wx1 | Wx2 | Rx;Rx | Rx;Rx", "1 2 2 1", F, 72),
    test("CoRR0", "Wx1 | Rx;Rx", "1 0", F, 3),
    test("CoWR", "Wx1;Rx | Wx2", "2 x=1", F, 3),
    test("CoRW1", "Rx;Wx1", "1", F, 1),
    test("CoRW2", "Rx;Wx1 | Wx2", "2 x=2", F, 3),
    test("CoWW", "Wx1;Wx2", "x=1", F, 1),
    test("IRIW relaxed", "Wx1 | Rx;Ry | Ry;Rx | Wy1", "1 0 1 0", A, 16),
    test("IRIW release/acquire", "Wx1r | Rxa;Rya | Rya;Rxa | Wy1r", "1 0 1 0", A, 16),
    test("IRIW all sc", "Wx1s | Rxs;Rys | Rys;Rxs | Wy1s", "1 0 1 0", F, 15),
    test("IRIW acquire, then sc loads", "Wx1s | Rxa;Rys | Rya;Rxs | Wy1s", "1 0 1 0", A, 16),
    test("IRIW sc fences", "Wx1 | Rx;Fs;Ry | Ry;Fs;Rx | Wy1", "1 0 1 0", F, 15),
    test("WRC relaxed", "Wx1 | Rx;Wy1 | Ry;Rx", "1 1 0", A, 8),
    test("WRC release/acquire", "Wx1 | Rx;Wy1r | Rya;Rx", "1 1 0", F, 7),
    test("ISA2 relaxed", "Wx1;Wy1 | Ry;Wz1 | Rz;Rx", "1 1 0", A, 8),
    test("ISA2 release/acquire", "Wx1;Wy1r | Rya;Wz1r | Rza;Rx", "1 1 0", F, 7),
    test("RWC relaxed", "Wx1 | Rx;Ry | Wy1;Rx", "1 0 0", A, 8),
    test("RWC release/acquire", "Wx1r | Rxa;Rya | Wy1r;Rxa", "1 0 0", A, 8),
    test("RWC all sc", "Wx1s | Rxs;Rys | Wy1s;Rxs", "1 0 0", F, 7),
    test("RWC sc fences", "Wx1 | Rx;Fs;Ry | Wy1;Fs;Rx", "1 0 0", F, 7),
    test("RWC release/acquire x, sc y", "Wx1r | Rxa;Rys | Wy1s;Rxs", "1 0 0", A, 8),
    test("W+RWC", "Wx1;Wy1r | Rya;Rz | Wz1;Rx", "1 0 0", A, 8),
    test("W+RWC sc fences", "Wx1;Wy1r | Rya;Fs;Rz | Wz1;Fs;Rx", "1 0 0", F, 7),
    test("W+RWC sc accesses", "Wx1s;Wy1r | Rya;Rzs | Wz1s;Rxs", "1 0 0", F, 7),
    test("Z6.3 relaxed", "Wx1;Wy1 | Wy2;Wz1 | Rz;Rx", "1 0 y=2", A, 8),
    test("Z6.3 release/acquire", "Wx1r;Wy1r | Wy2r;Wz1r | Rza;Rxa", "1 0 y=2", A, 8),
    test("Z6.3 sc fences", "Wx1;Fs;Wy1 | Wy2;Fs;Wz1 | Rz;Fs;Rx", "1 0 y=2", F, 7),
    test("Z6.U", "Wx1s;Wy1r | Uy+1s;Ry | Wy3s;Rxs", "1 3 0", A, 24),
    test("RMW two adds", "Ux+1 | Ux+1", "0 0", F, 2),
    test("RMW two exchanges", "Cx0>1 | Cx0>2", "0 0", F, 2),
    test("RMW stale", "Wx1;Wy1 | Ry;Ux+0", "1 0", A, 4),
    test("dead read between fences", "Wy1;Fs;Rx;Fa;Rz | Wz1;Wx1s;Rys", "_ 0 0", F, 4),
    test("dead read deleted", "Wy1;Fs;Fa;Rz | Wz1;Wx1s;Rys", "0 0", A, 4),
    test("sc store over release", "Wx1r | Rx;Wx2s;Rys | Wy1s;Rxs", "1 0 1", F, 13),
    test("sc fences, relaxed chain", "Wz1;Fs;Wx1 | Rx;Wy1 | Ry;Fs;Rz", "1 1 0", A, 8),
    test("acquire fence trap", "Wd1;Wx1r | Rx;?1;Wf1r | Rfa;Fa;Rd", "1 1 0", A, 6),
];
