//! The paper's results for V1 to V20, on two processors with eight cores and 2.6 GHz: means of ten runs.

/// The rows of Tables 4, 5 and 6 for one class.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// To the first failure, Table 4.
    pub pcr: Effort,
    /// To the first failure, Table 4.
    pub maptest: Effort,
    /// The share of MAPTest's runs with the intended pattern, Table 4.
    pub maptest_intended: f64,
    /// Failing traces in ten seconds, Table 5.
    pub pcr_failing: f64,
    /// Failing traces in ten seconds, Table 5.
    pub maptest_failing: f64,
    /// To the first failure, Table 6. The time is not always that of Table 4.
    pub pcr_solving: Solving,
    /// To the first failure, Table 6.
    pub mcr_solving: Solving,
}

/// The cost of the first failure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub schedules: f64,
    pub milliseconds: f64,
}

/// The cost of the first failure for a strategy that solves constraints.
#[derive(Clone, Copy, Debug)]
pub struct Solving {
    pub schedules: f64,
    pub constraints: f64,
    pub milliseconds: f64,
}

/// The rows of V1 to V20. The columns are: MAPTest's intended patterns; schedules and milliseconds of PCR and of MAPTest
/// (Table 4); failing traces of PCR and of MAPTest (Table 5); schedules, constraints and milliseconds of PCR and of MCR
/// (Table 6).
#[rustfmt::skip]
const COLUMNS: [[f64; 13]; 20] = [
    [0.68,  5.0,  482.5,  15.2,  1180.8,  4.0,  2.3,  5.0, 15.2,  482.5,  3.0,   5.0,  758.0],
    [1.00,  6.4,  684.0, 411.6,  7769.2,  5.0,  0.5,  6.4, 29.9,  684.0,  3.0,   8.0,  126.0],
    [0.00,  5.0, 2685.9,  35.1,  6230.2,  3.0,  1.4,  5.0, 16.1, 1543.8, 11.6,  70.5, 2321.5],
    [0.00,  9.5, 3607.8,  10.0,  3114.3, 13.0, 20.1,  9.5, 20.0, 3607.8,  4.3,  14.5,  854.1],
    [0.00,  2.0,  325.7,   4.8,   418.0,  6.6,  4.4,  2.0,  5.2,  325.7,  5.0,  12.9,  705.2],
    [0.00,  2.8, 5953.3,   1.0,   411.9,  2.6, 11.5,  2.8, 36.9, 5953.3,  6.8,  24.8, 3863.7],
    [0.00,  2.0, 1174.0,  31.4,  3202.1, 11.6,  5.8,  2.0, 50.5, 1174.0, 21.3, 192.1, 3967.3],
    [0.00,  5.0, 3744.6,   9.0,  3763.7,  4.2,  1.4,  5.0, 24.0, 3744.6,  4.7,  39.6, 2078.8],
    [0.00,  1.0,  168.5,   6.3,   645.5, 34.4,  2.1,  1.0,  1.0,  168.5,  1.0,   1.1,  528.8],
    [0.00,  2.0,  241.2,  14.0,  2083.1,  4.0,  1.3,  2.0,  3.0,  241.2,  3.0,  14.0,  398.7],
    [0.00,  3.0, 1421.7,  44.9,  4944.5,  5.0,  0.4,  3.0,  9.1, 1421.7,  4.0,   5.0,  559.6],
    [0.00, 11.0, 1060.4, 149.0,  6997.6,  3.0,  0.5, 11.0, 41.9, 1060.4,  7.0,  12.0,  520.3],
    [0.26,  6.8, 2583.7,  22.0,  3624.5,  1.6,  0.0,  6.8, 26.0, 2583.7,  5.8,  23.0,  269.8],
    [0.00,  2.0,  267.8,   1.0,   348.7,  3.0,  2.0,  2.0,  2.0,  267.8,  2.0,   2.0,  682.3],
    [0.50,  3.0,  776.1,  24.6,  2355.5,  7.0,  2.9,  3.0,  8.2,  776.1,  3.0,  17.9,  196.0],
    [0.00,  4.9,  344.7,  17.0,  1038.7,  2.0,  1.7,  4.9, 14.3,  344.7,  3.1,   5.1,  239.7],
    [0.00,  2.0, 1235.2,  86.2, 12328.7, 20.7,  0.0,  2.0,  9.0, 1235.2,  8.2, 176.0, 2634.5],
    [0.72,  3.0,  418.5,  21.7,  1458.2, 11.0,  3.3,  3.0,  8.0,  418.5,  2.8,  19.4,  523.0],
    [0.00,  2.0,  211.1,  20.4,  1056.0,  4.8,  2.0,  2.0,  5.5,  211.1,  3.3,   6.4,  257.1],
    [0.00,  3.0, 5981.5, 670.3, 67461.8,  1.0,  0.1,  3.0,  8.0, 5981.5,  3.0,  11.0, 5018.8],
];

/// The published results of V1 to V20.
pub static PUBLISHED: [Published; 20] = rows();

const fn rows() -> [Published; 20] {
    let mut rows = [row(COLUMNS[0]); 20];
    let mut number = 0;
    while number < rows.len() {
        rows[number] = row(COLUMNS[number]);
        number += 1;
    }
    rows
}

const fn row(columns: [f64; 13]) -> Published {
    let [
        intended,
        p4,
        p4_time,
        m4,
        m4_time,
        p5,
        m5,
        p6,
        p6_constraints,
        p6_time,
        c6,
        c6_constraints,
        c6_time,
    ] = columns;
    Published {
        pcr: Effort { schedules: p4, milliseconds: p4_time },
        maptest: Effort { schedules: m4, milliseconds: m4_time },
        maptest_intended: intended,
        pcr_failing: p5,
        maptest_failing: m5,
        pcr_solving: Solving { schedules: p6, constraints: p6_constraints, milliseconds: p6_time },
        mcr_solving: Solving { schedules: c6, constraints: c6_constraints, milliseconds: c6_time },
    }
}
