//! Channels: they behave as in `std`, and their bugs are found.

use std::sync::Mutex as StdMutex;
use std::time::Duration;

use raddle::sync::Arc;
use raddle::sync::mpsc::{
    Receiver, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel,
};
use raddle::{Config, Finding, thread};

use super::support::same_as_std::{deadlock, exhaust, failure, message, same_as_std};

#[test]
fn messages_are_received_in_order() {
    let seen = same_as_std(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        sender.send(1).unwrap();
        other.send(2).unwrap();
        let mut seen = vec![format!("{:?} {:?}", receiver.recv(), receiver.try_recv())];
        seen.push(format!("{:?}", receiver.try_recv()));
        seen.push(format!("{:?}", receiver.recv_timeout(Duration::from_millis(1))));
        sender.send(3).unwrap();
        drop((sender, other));
        seen.push(format!("{:?} {:?}", receiver.recv(), receiver.recv()));
        seen.push(format!("{:?}", receiver.try_recv()));
        seen.push(format!("{:?}", receiver.recv_timeout(Duration::from_millis(1))));
        seen
    });
    assert_eq!(seen[0], "Ok(1) Ok(2)");
    assert_eq!(seen[1], format!("{:?}", Err::<i32, _>(TryRecvError::Empty)));
    assert_eq!(seen[2], format!("{:?}", Err::<i32, _>(RecvTimeoutError::Timeout)));
    assert_eq!(seen[5], format!("{:?}", Err::<i32, _>(RecvTimeoutError::Disconnected)));
}

#[test]
fn sending_without_a_receiver_returns_the_message() {
    same_as_std(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        drop(receiver);
        let (bounded, receiver) = sync_channel(1);
        bounded.try_send(1).unwrap();
        let full = matches!(bounded.try_send(2), Err(TrySendError::Full(2)));
        drop(receiver);
        let gone = matches!(bounded.try_send(3), Err(TrySendError::Disconnected(3)));
        (sender.send(2) == Err(SendError(2)), full, gone, bounded.send(4) == Err(SendError(4)))
    });
}

#[test]
fn iterators() {
    same_as_std(|| {
        let (sender, receiver) = channel();
        let producer = thread::spawn(move || (0..4).for_each(|n| sender.send(n).unwrap()));
        let first: Vec<i32> = receiver.iter().take(2).collect();
        producer.join().unwrap();
        let second: Vec<i32> = receiver.try_iter().take(1).collect();
        let mut third = Vec::new();
        for n in &receiver {
            third.push(n);
        }
        (first, second, third, receiver.into_iter().next())
    });
}

#[test]
fn a_send_waits_while_the_channel_is_full() {
    for bound in [0, 1, 2] {
        static BOUND: StdMutex<usize> = StdMutex::new(0);
        *BOUND.lock().unwrap() = bound;
        let sum = same_as_std(|| {
            let (sender, receiver) = sync_channel(*BOUND.lock().unwrap());
            let producers: Vec<_> = (1..=2)
                .map(|producer| {
                    let sender = sender.clone();
                    thread::spawn(move || (0..3).for_each(|n| sender.send(producer + n).unwrap()))
                })
                .collect();
            drop(sender);
            let sum: i32 = receiver.iter().sum();
            for producer in producers {
                producer.join().unwrap();
            }
            sum
        });
        assert_eq!(sum, 6 + 9);
    }
}

#[test]
fn messages_are_dropped_with_the_receiver() {
    same_as_std(|| {
        let value = Arc::new(());
        let (sender, receiver) = channel();
        sender.send(value.clone()).unwrap();
        let before = Arc::strong_count(&value);
        drop(receiver);
        let after = Arc::strong_count(&value);
        drop(sender.send(value.clone()));
        (before, after, Arc::strong_count(&value))
    });
}

/// The sender waits until its message is received, or takes it back if the receiver is dropped.
#[test]
fn a_rendezvous_send_delivers_or_returns_the_message() {
    let outcomes: &'static StdMutex<Vec<bool>> = Box::leak(Box::default());
    let report = Config::new().strategy("dfs").run(|| {
        let (sender, receiver) = sync_channel(0);
        let taker = thread::spawn(move || receiver.try_recv().ok());
        let sent = sender.send(String::from("word"));
        let taken = taker.join().unwrap();
        match &sent {
            Ok(()) => assert_eq!(taken.as_deref(), Some("word")),
            Err(SendError(word)) => assert_eq!((word.as_str(), taken), ("word", None)),
        }
        outcomes.lock().unwrap().push(sent.is_ok());
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let outcomes = outcomes.lock().unwrap();
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
}

#[test]
fn the_order_of_dropped_senders_matters() {
    let executions = exhaust(|| {
        let (sender, receiver) = channel::<u32>();
        let other = thread::spawn({
            let sender = sender.clone();
            move || drop(sender)
        });
        drop(sender);
        assert!(receiver.recv().is_err());
        other.join().unwrap();
    });
    // Main drops first and the other thread closes: 2 orders. Or main closes: 4 places for the exit of the other thread.
    assert_eq!(executions, 6);
}

#[test]
fn a_timed_receive_may_succeed_or_time_out() {
    let seen: &'static StdMutex<Vec<bool>> = Box::leak(Box::default());
    let report = Config::new().strategy("dfs").run(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || {
            sender.send(()).unwrap();
            sender
        });
        let result = receiver.recv_timeout(Duration::from_secs(9));
        other.join().unwrap();
        seen.lock().unwrap().push(result.is_ok());
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&true) && seen.contains(&false));
}

/// The receiver waits until all senders are dropped, and owns one itself.
#[test]
fn a_receiver_that_keeps_a_sender_deadlocks() {
    let waits = deadlock(|| {
        let (sender, receiver) = channel();
        let worker = thread::spawn({
            let sender = sender.clone();
            move || sender.send(1).unwrap()
        });
        assert_eq!(receiver.iter().sum::<i32>(), 1);
        drop(sender);
        worker.join().unwrap();
    });
    assert_eq!(waits, [(0, false)]);
}

/// Each thread waits to send before it receives.
#[test]
fn a_cycle_of_full_channels_is_a_deadlock() {
    let waits = deadlock(|| {
        let ((to_other, from_main), (to_main, from_other)) = (sync_channel(1), sync_channel(1));
        let other = thread::spawn(move || {
            for n in 0..2 {
                to_main.send(n).unwrap();
            }
            from_main.iter().sum::<i32>()
        });
        for n in 0..2 {
            to_other.send(n).unwrap();
        }
        drop(to_other);
        assert_eq!(from_other.iter().sum::<i32>(), 1);
        other.join().unwrap();
    });
    assert_eq!(waits, [(0, false), (1, false)]);
}

#[test]
fn a_rendezvous_without_a_receive_is_a_deadlock() {
    let waits = deadlock(|| {
        let (sender, receiver) = sync_channel(0);
        thread::yield_now();
        sender.send(1).unwrap();
        drop(receiver);
    });
    assert_eq!(waits, [(0, false)]);
}

#[test]
fn messages_of_two_senders_are_received_in_any_order() {
    let finding = failure(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn({
            let sender = sender.clone();
            move || sender.send(1).unwrap()
        });
        sender.send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(1), "taken for granted");
        other.join().unwrap();
    });
    assert!(matches!(finding, Finding::Panic(_)), "{finding:?}");
}

#[test]
fn a_channel_created_outside_carries_messages() {
    let (sender, receiver) = channel();
    let report = Config::new()
        .strategy("random")
        .runs(3)
        .explore_trivial(true)
        .run(move || sender.send(1).unwrap());
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    // The first three executions are run twice.
    assert_eq!(receiver.try_iter().count(), 6);
}

#[test]
fn waiting_for_a_channel_created_outside_is_refused() {
    let (sender, receiver) = sync_channel::<u32>(0);
    let receiver = StdMutex::new(receiver);
    let report = Config::new().runs(1).run(move || {
        let text = message(|| sender.send(1));
        assert!(text.contains("Create the channel inside"), "{text}");
        let text = message(|| receiver.lock().unwrap().recv());
        assert!(text.contains("Create the channel inside"), "{text}");
        receiver.clear_poison();
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
}

#[test]
fn a_channel_does_not_outlive_its_execution() {
    static KEPT: StdMutex<Vec<Receiver<Arc<()>>>> = StdMutex::new(Vec::new());
    static VALUE: StdMutex<Option<Arc<()>>> = StdMutex::new(None);
    let value = Arc::new(());
    *VALUE.lock().unwrap() = Some(value.clone());
    let report = Config::new().strategy("random").runs(2).explore_trivial(true).run(|| {
        let (sender, receiver) = channel();
        let value = VALUE.lock().unwrap().clone().unwrap();
        sender.send(value).unwrap();
        KEPT.lock().unwrap().push(receiver);
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    assert_eq!(Arc::strong_count(&value), 2 + 4);
    let kept = std::mem::take(&mut *KEPT.lock().unwrap());
    let text = message(|| kept[0].try_recv());
    assert!(text.contains("outside the execution that created it"), "{text}");
    drop(kept);
    assert_eq!(Arc::strong_count(&value), 2);
}

/// A run ends while there are messages, senders and receivers.
#[test]
fn channels_are_dropped_after_a_failure() {
    let report = Config::new().run(|| {
        let (sender, receiver) = sync_channel(0);
        let workers: Vec<_> = (0..2)
            .map(|n| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(vec![n]))
            })
            .collect();
        let first = receiver.recv().unwrap();
        assert!(first == [0], "the second message was first");
        drop(receiver);
        for worker in workers {
            let _ = worker.join();
        }
    });
    let finding = &report.failure().expect("either may be first").finding;
    assert!(matches!(finding, Finding::Panic(_)), "{finding:?}");
}
