//! The page of a report: its content, and how a browser shows it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use raddle_results::{Accesses, Coverage, PatternSearch, Report, VariableCoverage, Verdict};

use serde_json::Value;

use crate::build::{Build, failed, panic, report};
use crate::picture::{Picture, Place};
use crate::{causes, programs, real, site};

/// Returns the source lines of the programs of the goldens.
pub(crate) fn source(file: &str, line: u32) -> Option<String> {
    let text = match file {
        "crates/report/tests/goldens/programs.rs" => include_str!("programs.rs"),
        _other => return None,
    };
    text.lines().nth(line as usize - 1).map(str::to_owned)
}

fn page(report: &Report) -> String {
    raddle_report::html(&raddle_report::document(report), &source)
}

fn lost_update() -> Report {
    real::replayed(programs::lost_update, &[0, 0, 1, 1, 1, 0, 0, 0])
}

#[track_caller]
fn assert_contains(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "`{part}` is not in\n{page}");
    }
}

#[test]
fn a_failure() {
    let page = page(&lost_update());
    assert_contains(
        &page,
        &[
            "<title>real — raddle</title>",
            "FAILED",
            "assertion `left == right` failed: an update got lost: left: 0, right: 1",
            "main panicked at crates/report/tests/goldens/programs.rs:18:5",
            "RADDLE_REPLAY=r1-XbDf1gAAAgQDAAPFBDrG cargo test real",
            "<th data-lane=\"0\">main</th><th data-lane=\"1\">thread 1</th>",
            "id=\"step-6\" data-step=\"6\" data-thread=\"0\" data-object=\"2\"",
            "title=\"overwrites 4\">atomic 1.store 0</span>",
            "<code>counter.store(seen + 1, Ordering::SeqCst);</code>",
            "<option value=\"2\">atomic 1</option>",
            "prefers-color-scheme: dark",
        ],
    );
    assert_eq!(page.matches("data-step=").count(), 8);
    assert_eq!(page.matches("class=\"stop\"").count(), 1);
}

#[test]
fn a_deadlock_has_a_drawing() {
    let page = page(&real::replayed(programs::opposite_locks, &[0, 1, 0]));
    assert_contains(
        &page,
        &["<svg class=\"cycle\"", "waits for · programs.rs:32", "held by · programs.rs:26"],
    );
    assert_eq!(page.matches("<g class=\"thread\">").count(), 2);
    assert_eq!(page.matches("<g class=\"object\">").count(), 2);
    assert_eq!(page.matches("<g class=\"edge\">").count(), 4);
}

/// Under weak memory the page explains, as the text does, why a load could read a stale value.
#[test]
fn a_stale_read_is_explained() {
    use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
    let report = raddle::Config::new().name("stale").memory(raddle::Memory::Rc11).run(|| {
        let (data, ready) = (AtomicU32::new(0), AtomicBool::new(false));
        raddle::thread::scope(|scope| {
            scope.spawn(|| {
                data.store(1, Relaxed);
                ready.store(true, Relaxed);
            });
            assert!(!ready.load(Relaxed) || data.load(Relaxed) == 1);
        });
    });
    assert_contains(
        &page(&report),
        &[
            "but step 3 does not release and step 5 does not acquire.",
            "Memory model RC11: load buffering was not explored.",
            "<dt>memory</dt><dd>RC11</dd>",
            "title=\"reads the initial value, stale: 2 is newer\"",
        ],
    );
}

#[test]
fn a_clean_result() {
    let page = page(&report(Verdict::Sampled));
    assert_contains(&page, &["ok, sampled", "10,000", "3,911", "sampled: 10,000 executions"]);
    assert!(!page.contains("<table class=\"steps\">"));
}

#[test]
fn failures_by_cause() {
    let page = page(&causes::several());
    assert_contains(
        &page,
        &[
            "312 of 10,000 executions fail: 3.1 %",
            "by strategy: pos-star 11 of 5,000 · pct:2 301 of 5,000",
            "60 × a &quot;queue&quot; is empty at src/lib.rs:20:9",
            "RADDLE_REPLAY=r1-SECOND",
        ],
    );
}

/// The section includes the work of a search for patterns.
fn covered(mut report: Report) -> Report {
    let variable = |site, reads, writes, covered, total| VariableCoverage {
        site,
        reads,
        writes,
        covered,
        total,
    };
    report.strategy = "pcr".into();
    report.coverage = Some(Box::new(Coverage {
        by: Accesses::ByEvent,
        covered: 1_240,
        total: 5_012.0,
        variables: vec![
            variable(site::one(), 3, 2, 1_200, 4_800.0),
            variable(site::two(), 1, 1, 2, 2.0),
        ],
    }));
    report.patterns = Some(Box::new(PatternSearch {
        generated: 3_000,
        filtered: [1, 2, 3, 4, 5, 6],
        solved: 40,
        unsat: 8,
        by_core: 2,
        is_done: true,
        ..PatternSearch::default()
    }));
    report
}

#[test]
fn coverage_has_a_section() {
    let clean = page(&covered(report(Verdict::Sampled)));
    let failing = page(&covered(lost_update()));
    for page in [&clean, &failing] {
        assert_contains(
            page,
            &[
                "<h2>Coverage</h2>",
                "<p>memory-access patterns: 1,240 covered of at most 5,012 (accesses by event), 2 shared variables</p>",
                "<tr><td><code>crates/report/tests/goldens/site.rs:5</code></td><td>3</td><td>2</td><td>1,200</td><td>4,800</td>\
                 <td><meter value=\"0.250\"></meter></td></tr>",
                "<code>crates/report/tests/goldens/site.rs:9</code>",
                "<meter value=\"1.000\">",
                "<p>solver: 3,000 patterns composed, 21 filtered out, 40 solved, 10 impossible<br>nothing is left to try",
            ],
        );
        assert_eq!(page.matches("1,240 covered").count(), 1, "told once");
    }
    assert!(!page(&lost_update()).contains("<h2>Coverage"), "coverage was not requested");
}

#[test]
fn a_browser_shows_coverage() {
    for (name, report) in
        [("covered", report(Verdict::Sampled)), ("covered-failing", lost_update())]
    {
        let page = page(&covered(report));
        let places = "{section: box('.coverage'), numbers: box('.numbers'), \
            full: box('.coverage tr:nth-child(3) meter'), part: box('.coverage tr:nth-child(2) meter')}";
        let Some((picture, places)) = photographed(name, &page, "", places) else { return };
        let place = |name: &str| Place::read(&places[name]);
        let (section, numbers) = (place("section"), place("numbers"));
        assert!(section.top > numbers.bottom && section.bottom < 1600.0, "{section:?} {numbers:?}");
        assert!(picture.ink(section) > 1_000);
        for meter in [place("full"), place("part")] {
            assert!(meter.right - meter.left > 100.0 && picture.ink(meter) > 0, "{meter:?}");
        }
        assert!(!place("full").overlaps(&place("part")));
    }
}

/// The page fetches nothing.
#[test]
fn a_page_is_self_contained() {
    let page = page(&lost_update());
    for part in ["http:", "https:", " src=", "<link", "@import"] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(part), "{part}");
    }
}

/// Texts of the program cannot become markup or scripts of the page.
#[test]
fn texts_are_escaped() {
    let message =
        "</script><script>alert(1)</script><img src=x onerror=alert(1)> & \"quotes\" \u{0}";
    let mut report = failed(panic(0, message), Build::with_threads(1).finish());
    report.name = "<b>bold</b>".into();
    let page = page(&report);
    assert!(!page.contains("<script>alert") && !page.contains("<img") && !page.contains("<b>bold"));
    assert_eq!(page.matches("</script>").count(), 3, "the report, the sources, the script");
    assert_contains(&page, &["&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quotes&quot;"]);
}

/// Returns the browser of this machine, or `None` if it has none.
fn browser() -> Option<&'static str> {
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|browser| {
        let version = Command::new(browser).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    });
    if browser.is_none() {
        // Written directly, because the test harness captures prints.
        let notice = "NOT TESTED: no Chromium here, so no page was looked at in a browser\n";
        std::io::stderr().write_all(notice.as_bytes()).unwrap();
    }
    browser
}

/// Opens a page in a browser, runs `script` after the page's scripts, and returns the browser's output.
fn look(
    browser: &str,
    name: &str,
    page: &str,
    fragment: &str,
    script: &str,
    how: &[String],
) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{name}.html"));
    let noticed =
        "<script>window.onerror = (message) => { document.title = `ERROR ${message}`; };</script>";
    let page = page
        .replacen("<head>", &format!("<head>{noticed}"), 1)
        .replace("</body>", &format!("<script>{script}</script></body>"));
    fs::write(&file, page).unwrap();
    let printed = folder.join(format!("{name}.dom"));
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1600"])
        .args(["--force-device-scale-factor=1", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", folder.join(format!("{name}-profile")).display()))
        .arg("--virtual-time-budget=2000")
        .args(how)
        .arg(format!("file://{}{fragment}", file.display()))
        .stdout(fs::File::create(&printed).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > patience {
            child.kill().unwrap();
            panic!("{browser} does not come to an end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    fs::read_to_string(&printed).unwrap()
}

/// Returns the document of a page after its scripts and then `script` have run. Returns `None` if there is no browser.
fn in_browser(name: &str, page: &str, fragment: &str, script: &str) -> Option<String> {
    let browser = browser()?;
    let shown = look(browser, name, page, fragment, script, &["--dump-dom".to_owned()]);
    assert!(shown.contains("</html>"), "{browser} shows nothing: {shown}");
    assert!(!shown.contains("<title>ERROR"), "{shown}");
    Some(shown)
}

/// Returns a screenshot of a page, and the rectangles that `places` evaluates to, an expression in the page.
pub(crate) fn photographed(
    name: &str,
    page: &str,
    fragment: &str,
    places: &str,
) -> Option<(Picture, Value)> {
    let browser = browser()?;
    let write = format!(
        "const box = (selector) => {{ const r = document.querySelector(selector).getBoundingClientRect(); \
         return [r.left, r.top, r.right, r.bottom]; }};\
         setTimeout(() => {{ scrollTo(0, 0); const data = document.createElement('script'); data.id = 'places'; \
         data.type = 'application/json'; data.textContent = JSON.stringify({places}); \
         document.body.append(data); }}, 1000);"
    );
    let shown = look(browser, name, page, fragment, &write, &["--dump-dom".to_owned()]);
    let (_, places) = shown.split_once("id=\"places\"").expect("places were written down");
    let (_, places) = places.split_once('>').expect("an element");
    let (places, _) = places.split_once("</script>").expect("its end");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
    let _ = fs::remove_file(&file);
    look(browser, name, page, fragment, &write, &[format!("--screenshot={}", file.display())]);
    let picture = Picture::read(&fs::read(&file).expect("a picture was taken"));
    Some((picture, serde_json::from_str(places).expect("places are JSON")))
}

/// Returns a script that presses keys.
fn keys(keys: &[&str]) -> String {
    keys.iter()
        .map(|key| {
            format!("document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}));")
        })
        .collect()
}

/// Returns the selected step.
fn chosen(page: &str) -> &str {
    let row = page.split("<tr ").find(|row| row.contains("class=\"chosen\"")).unwrap_or("nothing");
    row.split('"').nth(1).unwrap_or(row)
}

#[test]
fn a_browser_shows_arrows_and_the_chosen_step() {
    let page = page(&lost_update());
    let Some(shown) = in_browser("chosen", &page, "#step-6", "") else { return };
    assert_eq!(chosen(&shown), "step-6");
    assert_contains(
        &shown,
        &[
            "<h2>Step 6 of 8</h2>",
            "<dt>overwrites</dt><dd><a>step 4</a></dd>",
            "<dt>read by</dt><dd><a>step 8</a></dd>",
            "<dt>order</dt><dd>SeqCst</dd>",
            "<span class=\"here\"><b>16</b>    counter.store(seen + 1, Ordering::SeqCst);</span>",
            "class=\"arrow overwrites strong\"",
            "class=\"arrow after\"",
        ],
    );
}

#[test]
fn a_browser_steps_and_filters() {
    let page = page(&lost_update());
    let Some(shown) = in_browser("stepped", &page, "#step-6", &keys(&["k", "ArrowUp", "j", "k"]))
    else {
        return;
    };
    assert_eq!(chosen(&shown), "step-4");
    // The object of step 6 is used by the steps 2, 3, 4, 6 and 8.
    let Some(shown) = in_browser("filtered", &page, "#step-6", &keys(&["o", "k", "k"])) else {
        return;
    };
    assert_eq!(chosen(&shown), "step-3");
    assert_eq!(shown.matches("class=\"hidden\"").count() + shown.matches("stop hidden").count(), 4);
    let Some(shown) = in_browser("everything", &page, "#step-6", &keys(&["o", "Escape", "Home"]))
    else {
        return;
    };
    assert_eq!(chosen(&shown), "step-1");
    assert!(!shown.contains("class=\"hidden\""));
}

#[test]
fn a_browser_shows_other_pages_without_errors() {
    for (name, report) in [
        ("deadlock", real::replayed(programs::opposite_locks, &[0, 1, 0])),
        ("early", real::replayed(programs::lost_wakeup, &[0, 1, 1, 0, 0, 0, 1, 1, 1])),
        ("clean", report(Verdict::Exhausted)),
        ("empty", failed(panic(0, "at once"), Build::with_threads(0).finish())),
    ] {
        in_browser(name, &page(&report), "", "");
    }
}

/// Checks what is visible: the coloured verdict, both lanes side by side, the selected step, and the arrow between the
/// steps that the text names.
#[test]
fn a_picture_shows_the_failure() {
    let places = "{badge: box('.badge'), headline: box('.headline'), \
        lanes: [...document.querySelectorAll('.steps th')].filter((lane) => \
          ['main', 'thread 1'].includes(lane.textContent)).map((lane) => { \
          const r = lane.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; }), \
        chosen: box('#step-6'), other: box('#step-5'), written: box('#step-4'), \
        arrow: (() => { const path = document.querySelector('.arrow.overwrites.strong'); \
          const length = path.getTotalLength(), matrix = path.getScreenCTM(); \
          return [0.25, 0.5, 0.75, 1].map((part) => { \
            const point = path.getPointAtLength(part * length).matrixTransform(matrix); \
            return [point.x, point.y]; }); })()}";
    let page = page(&lost_update());
    let Some((picture, places)) = photographed("photographed", &page, "#step-6", places) else {
        return;
    };
    assert_eq!((picture.width, picture.height), (1400, 1600));
    let place = |name: &str| Place::read(&places[name]);

    let [red, green, blue] = picture.paper(place("badge"));
    assert!(red > green && red > blue, "the verdict is bad: {:?}", [red, green, blue]);
    assert!(picture.ink(place("badge")) > 50 && picture.ink(place("headline")) > 500);

    let lanes: Vec<Place> = places["lanes"].as_array().unwrap().iter().map(Place::read).collect();
    assert_eq!(lanes.len(), 2);
    assert!(!lanes[0].overlaps(&lanes[1]) && lanes[0].top == lanes[1].top, "{lanes:?}");
    for lane in &lanes {
        assert!(picture.ink(*lane) > 20, "a lane has its name");
    }

    let (chosen, other) = (picture.paper(place("chosen")), picture.paper(place("other")));
    assert_ne!(chosen, other, "the chosen step is marked");
    assert!(picture.ink(place("chosen")) > 200 && picture.ink(place("other")) > 200);

    let points = places["arrow"].as_array().unwrap();
    let (end, written) = (&points[points.len() - 1], place("written"));
    let end = (end[0].as_f64().unwrap(), end[1].as_f64().unwrap());
    let reaches = |place: Place| place.top - 2.0 <= end.1 && end.1 <= place.bottom + 2.0;
    assert!(reaches(written) || reaches(place("chosen")), "{end:?} {written:?}");
    for point in points {
        let (x, y) = (point[0].as_f64().unwrap(), point[1].as_f64().unwrap());
        let paper =
            picture.paper(Place { left: x - 40.0, top: y - 6.0, right: x + 40.0, bottom: y + 6.0 });
        assert!(picture.is_drawn(x, y, paper), "the arrow is drawn at {x}, {y}");
    }
}

#[test]
fn a_picture_of_a_clean_result() {
    let page = page(&report(Verdict::Exhausted));
    let places = "{badge: box('.badge'), text: box('.headline'), body: box('body')}";
    let Some((picture, places)) = photographed("photographed-clean", &page, "", places) else {
        return;
    };
    let [red, green, blue] = picture.paper(Place::read(&places["badge"]));
    assert!(green > red && green > blue, "the verdict is good: {:?}", [red, green, blue]);
    assert!(picture.ink(Place::read(&places["text"])) > 500);
    // Nothing is drawn below the content.
    let body = Place::read(&places["body"]);
    assert!(body.bottom < 880.0, "{body:?}");
    let below = Place { left: 0.0, top: body.bottom + 5.0, right: 1400.0, bottom: 895.0 };
    assert_eq!(picture.ink(below), 0);
}
