//! Futures, wakers and notifications.

use std::pin::Pin;
use std::task::{Context, Poll};

use loom::future::{AtomicWaker, block_on};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Notify};
use loom::thread;

use crate::support::{assert_fails, failure};

/// A flag that a future waits for.
struct Flag {
    is_set: AtomicBool,
    waker: AtomicWaker,
}

/// When the future registers its waker.
#[derive(Copy, Clone)]
enum Registers {
    BeforeLooking,
    AfterLooking,
}

struct UntilSet {
    flag: Arc<Flag>,
    registers: Registers,
}

impl Future for UntilSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Registers::BeforeLooking = self.registers {
            self.flag.waker.register_by_ref(context.waker());
        }
        if self.flag.is_set.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if let Registers::AfterLooking = self.registers {
            self.flag.waker.register_by_ref(context.waker());
        }
        Poll::Pending
    }
}

fn wait_for_flag(registers: Registers) {
    let flag = Arc::new(Flag { is_set: AtomicBool::new(false), waker: AtomicWaker::new() });
    let setter = {
        let flag = flag.clone();
        thread::spawn(move || {
            flag.is_set.store(true, Ordering::Release);
            flag.waker.wake();
        })
    };
    block_on(UntilSet { flag, registers });
    setter.join().unwrap();
}

#[test]
fn a_lost_wakeup_is_a_deadlock_that_names_the_future() {
    loom::model(|| wait_for_flag(Registers::BeforeLooking));
    let report = failure(|| wait_for_flag(Registers::AfterLooking)).expect("a lost wake-up");
    assert!(report.contains("deadlock"), "{report}");
    assert!(report.contains("waits for a notification of future UntilSet"), "{report}");
}

#[test]
fn a_future_is_polled_spuriously_in_some_executions() {
    assert_fails("polled without a wake-up", || {
        let is_woken = Arc::new(AtomicBool::new(false));
        let mut other = None;
        block_on(std::future::poll_fn(|context| {
            if other.is_some() {
                assert!(is_woken.load(Ordering::Acquire), "polled without a wake-up");
                return Poll::Ready(());
            }
            let (waker, is_woken) = (context.waker().clone(), is_woken.clone());
            other = Some(thread::spawn(move || {
                is_woken.store(true, Ordering::Release);
                waker.wake();
            }));
            Poll::Pending
        }));
        other.unwrap().join().unwrap();
    });
}

#[test]
fn a_kept_waker_is_a_leak() {
    assert_fails("never freed", || {
        let flag = Flag { is_set: AtomicBool::new(false), waker: AtomicWaker::new() };
        block_on(std::future::poll_fn(|context| {
            std::mem::forget(context.waker().clone());
            flag.is_set.load(Ordering::Relaxed);
            Poll::Ready(())
        }));
    });
}

#[test]
fn notifications_are_not_lost_and_wake_once() {
    loom::model(|| {
        let notify = Arc::new(Notify::new());
        let is_done = Arc::new(AtomicBool::new(false));
        let other = {
            let (notify, is_done) = (notify.clone(), is_done.clone());
            thread::spawn(move || {
                is_done.store(true, Ordering::Relaxed);
                notify.notify();
            })
        };
        // The first wait may be spurious.
        notify.wait();
        if !is_done.load(Ordering::Relaxed) {
            notify.wait();
            assert!(is_done.load(Ordering::Relaxed));
        }
        other.join().unwrap();
    });
    assert_fails("assertion", || {
        let notify = Arc::new(Notify::new());
        let is_done = Arc::new(AtomicBool::new(false));
        let other = {
            let (notify, is_done) = (notify.clone(), is_done.clone());
            thread::spawn(move || {
                is_done.store(true, Ordering::Relaxed);
                notify.notify();
            })
        };
        notify.wait();
        assert!(is_done.load(Ordering::Relaxed));
        other.join().unwrap();
    });
}
