//! scratch
use raddle::sync::{
    Arc, Condvar, Mutex,
    atomic::{AtomicU64, Ordering::SeqCst},
};
use raddle::thread;
fn a() {
    let x = Arc::new(AtomicU64::new(0));
    let hs: Vec<_> = (0..2)
        .map(|_| {
            let x = x.clone();
            thread::spawn(move || {
                for _ in 0..5 {
                    x.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
}
fn b() {
    let x = Arc::new(Mutex::new(0u64));
    let hs: Vec<_> = (0..3)
        .map(|_| {
            let x = x.clone();
            thread::spawn(move || {
                for _ in 0..100 {
                    *x.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
}
fn c() {
    let x = Arc::new(AtomicU64::new(0));
    let hs: Vec<_> = (0..8)
        .map(|_| {
            let x = x.clone();
            thread::spawn(move || {
                for _ in 0..1000 {
                    x.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
}
fn c2() {
    let x = Arc::new(AtomicU64::new(0));
    let hs: Vec<_> = (0..8)
        .map(|_| {
            let x = x.clone();
            thread::spawn(move || {
                for _ in 0..40 {
                    x.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
}
fn c3() {
    let x = Arc::new(AtomicU64::new(0));
    for _ in 0..10000 {
        x.fetch_add(1, SeqCst);
    }
}
fn c4() {
    let x = Arc::new(AtomicU64::new(0));
    for _ in 0..300 {
        x.fetch_add(1, SeqCst);
    }
}
fn f() {
    let x = Arc::new(AtomicU64::new(0));
    let hs: Vec<_> = (0..100)
        .map(|_| {
            let x = x.clone();
            thread::spawn(move || {
                x.fetch_add(1, SeqCst);
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
}
fn g() {}
fn d() {
    struct Q {
        q: Mutex<std::collections::VecDeque<u64>>,
        ne: Condvar,
        nf: Condvar,
    }
    let s = Arc::new(Q {
        q: Mutex::new(std::collections::VecDeque::with_capacity(4)),
        ne: Condvar::new(),
        nf: Condvar::new(),
    });
    let mut hs = Vec::new();
    for p in 0..2u64 {
        let s = s.clone();
        hs.push(thread::spawn(move || {
            for i in 0..20 {
                let mut g = s.q.lock().unwrap();
                while g.len() == 4 {
                    g = s.nf.wait(g).unwrap();
                }
                g.push_back(p * 20 + i);
                drop(g);
                s.ne.notify_one();
            }
        }));
    }
    for _ in 0..2 {
        let s = s.clone();
        hs.push(thread::spawn(move || {
            for _ in 0..20 {
                let mut g = s.q.lock().unwrap();
                while g.is_empty() {
                    g = s.ne.wait(g).unwrap();
                }
                let _ = g.pop_front();
                drop(g);
                s.nf.notify_one();
            }
        }));
    }
    for h in hs {
        h.join().unwrap();
    }
}
fn main() {
    let only = std::env::args().nth(1);
    let strat = std::env::args().nth(2);
    let count: Option<u64> = std::env::args().nth(3).and_then(|n| n.parse().ok());
    for (name, f, n) in [
        ("a", a as fn(), 500_000u64),
        ("b", b, 20_000),
        ("c", c, 2_000),
        ("d", d, 20_000),
        ("f", f, 20_000),
        ("g", g, 10_000_000),
        ("c2", c2, 40_000),
        ("c3", c3, 2000),
        ("c4", c4, 50000),
    ] {
        let n = count.unwrap_or(n);
        if only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        for s in ["random", "pct:3"] {
            if strat.as_ref().is_some_and(|o| o != s) {
                continue;
            }
            let t = std::time::Instant::now();
            let r = raddle::Config::new()
                .strategy(s)
                .runs(n)
                .unlimited_time()
                .explore_trivial(true)
                .run(f);
            let e = t.elapsed();
            assert!(r.failure().is_none(), "{:?}", r.failure().map(|f| &f.finding));
            println!(
                "{name} {s:6} {:>10.1} ns/exec {:>6.2} ns/step {} steps {} classes",
                e.as_nanos() as f64 / n as f64,
                e.as_nanos() as f64 / r.steps as f64,
                r.steps / n,
                r.classes
            );
        }
    }
}
