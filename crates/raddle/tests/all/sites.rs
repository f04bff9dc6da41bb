//! Every step of a report has a site in the program, not in raddle or the standard library.

use std::cell::RefCell;
use std::time::Duration;

use raddle::sync::atomic::{AtomicU8, Ordering::SeqCst, fence};
use raddle::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use raddle::{Config, hint, thread};

raddle::thread_local! {
    static KEPT: RefCell<Option<mpsc::Sender<u8>>> = const { RefCell::new(None) };
}

fn everything() {
    static LAZY: LazyLock<u8> = LazyLock::new(|| 1);
    let moment = Duration::from_millis(1);
    let lock = RwLock::new(*LAZY);
    let seen = *lock.read().unwrap();
    *lock.write().unwrap() += seen;
    drop((lock.try_read(), lock.try_write()));
    Barrier::new(1).wait();
    Once::new().call_once(|| {});
    Once::new().is_completed();
    let cell = OnceLock::new();
    assert!(cell.get().is_none() && *cell.get_or_init(|| 1) == 1 && cell.set(2).is_err());
    let pair = (Mutex::new(0), Condvar::new());
    drop(pair.1.wait_timeout_while(pair.0.lock().unwrap(), moment, |_| true));
    drop(pair.1.wait_while(pair.0.lock().unwrap(), |_| false));
    pair.1.notify_one();
    pair.1.notify_all();
    let number = AtomicU8::new(1);
    assert_eq!(number.fetch_update(SeqCst, SeqCst, |old| Some(old + 1)), Ok(1));
    assert_eq!(number.update(SeqCst, SeqCst, |old| old + 1), 2);
    fence(SeqCst);
    let (sender, receiver) = mpsc::channel();
    let sums = thread::spawn(move || receiver.iter().map(u32::from).sum::<u32>());
    for sender in [sender.clone(), sender.clone()] {
        sender.send(1).unwrap();
    }
    KEPT.with(|kept| *kept.borrow_mut() = Some(sender));
    KEPT.take();
    assert_eq!(sums.join().unwrap(), 2);
    let (sender, receiver) = mpsc::sync_channel(0);
    assert!(sender.try_send(1).is_err() && receiver.try_iter().next().is_none());
    assert!(receiver.recv_timeout(moment).is_err());
    let shared = Arc::new(sender);
    thread::scope(|s| {
        s.spawn(|| shared.send(1));
        let named = thread::Builder::new().name("named".into()).spawn_scoped(s, || {});
        assert!(receiver.into_iter().take(1).count() == 1 && named.unwrap().join().is_ok());
    });
    thread::current().unpark();
    thread::park();
    thread::park_timeout(moment);
    thread::sleep(moment);
    thread::yield_now();
    hint::spin_loop();
    panic!("the end");
}

#[test]
fn every_step_has_a_site_in_the_program() {
    let report = Config::new().runs(3).run(everything);
    let failure = report.failure().expect("it always fails");
    let text = raddle::text(&report);
    assert!(text.contains("the end"), "{text}");
    let events = failure.trace.events.iter();
    let places: Vec<_> = events.map(|event| event.site.to_string()).collect();
    let named = places.iter().filter(|place| place.contains("tests/all/sites.rs")).count();
    // The exits of threads have no site.
    assert_eq!((named, failure.trace.threads.len()), (places.len() - 3, 4), "{text}");
}
