//! Reports on every kind of finding, on hand-made traces.

use expect_test::expect;
use raddle_core::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, Effect, End, MutexOp, ObjectId,
    ObjectKind, OnceOp, Order, ParkOp, PauseOp, PlainAccess, Question, Rmw, RwLockOp, Scalar, Site,
    ThreadId, ThreadOp,
};
use raddle_results::{Finding, Freed, Verdict};

use crate::build::{Build, check, failed, panic};
use crate::site;

fn load() -> Action {
    Action::Atomic(AtomicOp::Load { order: Order::SeqCst })
}

fn store(value: u64) -> Action {
    Action::Atomic(AtomicOp::Store { order: Order::SeqCst, value })
}

#[test]
fn values_are_shown_as_the_program_sees_them() {
    let mut build = Build::with_threads(0);
    let mut on = |scalar, action, effect| {
        let object = build.object(ObjectKind::Atomic(scalar));
        build.step(0, object, action, effect, site::three());
    };
    let update = |scalar, function, operand| {
        Action::Atomic(AtomicOp::Update { order: Order::SeqCst, scalar, function, operand })
    };
    let exchange = |weak, expected, new| {
        let (success, failure) = (Order::AcqRel, Order::Relaxed);
        Action::Atomic(AtomicOp::CompareExchange { success, failure, weak, expected, new })
    };
    on(Scalar::Bool, store(1), Effect::None);
    on(Scalar::Bool, load(), Effect::Value(0));
    on(Scalar::I8, load(), Effect::Value(0x80));
    on(Scalar::U8, load(), Effect::Value(0x80));
    on(Scalar::I64, update(Scalar::I64, Rmw::Add, u64::MAX), Effect::Value(0));
    on(Scalar::I16, update(Scalar::I16, Rmw::Max, 0xfffe), Effect::Value(0xffff));
    on(Scalar::Pointer, store(0x7f00_1234), Effect::None);
    on(Scalar::U64, load(), Effect::Value(u64::MAX));
    on(Scalar::I32, exchange(false, 0, 0xffff_ffff), Effect::Exchanged(0));
    on(Scalar::U16, exchange(true, 1, 2), Effect::Kept(3));
    check(
        &failed(panic(0, "boom"), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — boom
              found by random after 1,204 executions (0.4 s) · 10 steps · replayed once: it fails in the same way

                   main
                1  atomic 1.store true                                               crates/report/tests/goldens/site.rs:13
                2  atomic 2.load → false                                             crates/report/tests/goldens/site.rs:13   reads the initial value
                3  atomic 3.load → -128                                              crates/report/tests/goldens/site.rs:13   reads the initial value
                4  atomic 4.load → 128                                               crates/report/tests/goldens/site.rs:13   reads the initial value
                5  atomic 5.fetch_add -1 → 0                                         crates/report/tests/goldens/site.rs:13   reads the initial value
                6  atomic 6.fetch_max -2 → -1                                        crates/report/tests/goldens/site.rs:13   reads the initial value
                7  atomic 7.store 0x7f001234                                         crates/report/tests/goldens/site.rs:13
                8  atomic 8.load → 18446744073709551615                              crates/report/tests/goldens/site.rs:13   reads the initial value
                9  atomic 9.compare_exchange 0, -1 (AcqRel, Relaxed) → Ok(0)         crates/report/tests/goldens/site.rs:13   reads the initial value
               10  atomic 10.compare_exchange_weak 1, 2 (AcqRel, Relaxed) → Err(3)   crates/report/tests/goldens/site.rs:13   reads the initial value
                ✗  panics                                                            src/lib.rs:20

              atomic 1   bool, first used at crates/report/tests/goldens/site.rs:9
              atomic 2   bool, first used at crates/report/tests/goldens/site.rs:9
              atomic 3   i8, first used at crates/report/tests/goldens/site.rs:9
              atomic 4   u8, first used at crates/report/tests/goldens/site.rs:9
              atomic 5   i64, first used at crates/report/tests/goldens/site.rs:9
              atomic 6   i16, first used at crates/report/tests/goldens/site.rs:9
              atomic 7   pointer, first used at crates/report/tests/goldens/site.rs:9
              atomic 8   u64, first used at crates/report/tests/goldens/site.rs:9
              atomic 9   i32, first used at crates/report/tests/goldens/site.rs:9
              atomic 10  u16, first used at crates/report/tests/goldens/site.rs:9

              main panicked at src/lib.rs:20:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn every_operation_has_its_words() {
    let mut build = Build::with_threads(1);
    let thread = ObjectId(1);
    let mutex = build.object(ObjectKind::Mutex);
    let lock = build.object(ObjectKind::RwLock);
    let condvar = build.object(ObjectKind::Condvar);
    let barrier = build.object(ObjectKind::Barrier);
    let once = build.object(ObjectKind::Once);
    let parker = build.object(ObjectKind::Parker(ThreadId(1)));
    let channel = build.object(ObjectKind::Channel);
    let cell = build.object(ObjectKind::Cell);
    let none = ObjectId::NONE;
    for (object, action, effect) in [
        (thread, Action::Thread(ThreadOp::IsFinished), Effect::No),
        (mutex, Action::Mutex(MutexOp::Lock), Effect::None),
        (mutex, Action::Mutex(MutexOp::TryLock), Effect::No),
        (mutex, Action::Mutex(MutexOp::Unlock), Effect::None),
        (lock, Action::RwLock(RwLockOp::Read), Effect::None),
        (lock, Action::RwLock(RwLockOp::TryWrite), Effect::No),
        (lock, Action::RwLock(RwLockOp::UnlockRead), Effect::None),
        (lock, Action::RwLock(RwLockOp::TryWrite), Effect::Yes),
        (lock, Action::RwLock(RwLockOp::UnlockWrite), Effect::None),
        (condvar, Action::Condvar(CondvarOp::NotifyOne), Effect::No),
        (condvar, Action::Condvar(CondvarOp::Enqueue), Effect::None),
        (condvar, Action::Condvar(CondvarOp::Consume { timed: true }), Effect::No),
        (condvar, Action::Condvar(CondvarOp::NotifyAll), Effect::Yes),
        (barrier, Action::Barrier(BarrierOp::Arrive), Effect::LastTicket(0)),
        (barrier, Action::Barrier(BarrierOp::Leave { generation: 0 }), Effect::None),
        (once, Action::Once(OnceOp::Begin), Effect::Yes),
        (once, Action::Once(OnceOp::Reset), Effect::None),
        (once, Action::Once(OnceOp::Complete), Effect::None),
        (parker, Action::Park(ParkOp::Unpark), Effect::Yes),
        (parker, Action::Park(ParkOp::Unpark), Effect::No),
        (parker, Action::Park(ParkOp::Park { timed: true }), Effect::No),
        (channel, Action::Channel(ChannelOp::Send), Effect::Ticket(0)),
        (channel, Action::Channel(ChannelOp::TrySend), Effect::No),
        (channel, Action::Channel(ChannelOp::Receive { timed: false }), Effect::Yes),
        (channel, Action::Channel(ChannelOp::TryReceive), Effect::No),
        (channel, Action::Channel(ChannelOp::AwaitTaken { ticket: 0 }), Effect::Yes),
        (channel, Action::Channel(ChannelOp::CloseReceiver), Effect::None),
        (channel, Action::Channel(ChannelOp::Send), Effect::Closed),
        (cell, Action::Cell(CellOp::Read), Effect::None),
        (cell, Action::Cell(CellOp::Write), Effect::None),
        (none, Action::Fence(Order::Release), Effect::None),
        (none, Action::Pause(PauseOp::Yield), Effect::None),
        (none, Action::Pause(PauseOp::Sleep { nanos: 5_000_000 }), Effect::None),
        (none, Action::Choose { bound: 3, question: Question::Number }, Effect::Value(2)),
    ] {
        build.step(0, object, action, effect, Site::UNKNOWN);
    }
    check(
        &failed(panic(0, "boom"), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — boom
              found by random after 1,204 executions (0.4 s) · 35 steps · replayed once: it fails in the same way

                   main
                1  spawn thread 1                           crates/report/tests/goldens/site.rs:5
                2  thread 1.is_finished → false
                3  mutex 1.lock
                4  mutex 1.try_lock → busy
                5  mutex 1.unlock                                                                   acquired in 3
                6  rwlock 1.read
                7  rwlock 1.try_write → busy
                8  rwlock 1.unlock (read)                                                           acquired in 6
                9  rwlock 1.try_write → taken
               10  rwlock 1.unlock (write)                                                          acquired in 9
               11  condvar 1.notify_one → wakes no thread
               12  condvar 1.wait begins
               13  condvar 1.wait_timeout → timed out
               14  condvar 1.notify_all
               15  barrier 1.wait begins → all arrived
               16  barrier 1.wait
               17  once 1.call → first
               18  once 1 failed
               19  once 1 is complete
               20  unpark thread 1
               21  unpark thread 1 → already unparked
               22  park_timeout → timed out
               23  channel 1.send
               24  channel 1.try_send → not taken
               25  channel 1.recv → a message
               26  channel 1.try_recv → nothing
               27  channel 1.send waits
               28  channel 1: receiver gone
               29  channel 1.send → receiver gone
               30  cell 1.get
               31  cell 1.set
               32  fence Release
               33  yield_now
               34  sleep 5ms
               35  choose below 3 → 2
                ✗  panics                                   src/lib.rs:20

              mutex 1    first used at crates/report/tests/goldens/site.rs:9
              rwlock 1   first used at crates/report/tests/goldens/site.rs:9
              condvar 1  first used at crates/report/tests/goldens/site.rs:9
              barrier 1  first used at crates/report/tests/goldens/site.rs:9
              once 1     first used at crates/report/tests/goldens/site.rs:9
              channel 1  first used at crates/report/tests/goldens/site.rs:9
              cell 1     first used at crates/report/tests/goldens/site.rs:9

              main panicked at src/lib.rs:20:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn a_long_run_is_folded() {
    let mut build = Build::with_threads(2);
    let object = build.object(ObjectKind::Atomic(Scalar::U32));
    for turn in 0..500 {
        build.step(1 + turn % 2, object, store(u64::from(turn)), Effect::None, site::three());
    }
    build.ends(1);
    check(
        &failed(panic(2, "too many"), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — too many
              found by random after 1,204 executions (0.4 s) · 503 steps · replayed once: it fails in the same way

                   thread 1             thread 2
                   … 2 steps of main, 232 of thread 1, 232 of thread 2 …
              467  atomic 1.store 464   │                    crates/report/tests/goldens/site.rs:13   overwrites 466
              468  │                    atomic 1.store 465   crates/report/tests/goldens/site.rs:13   overwrites 467
              469  atomic 1.store 466   │                    crates/report/tests/goldens/site.rs:13   overwrites 468
              470  │                    atomic 1.store 467   crates/report/tests/goldens/site.rs:13   overwrites 469
              471  atomic 1.store 468   │                    crates/report/tests/goldens/site.rs:13   overwrites 470
              472  │                    atomic 1.store 469   crates/report/tests/goldens/site.rs:13   overwrites 471
              473  atomic 1.store 470   │                    crates/report/tests/goldens/site.rs:13   overwrites 472
              474  │                    atomic 1.store 471   crates/report/tests/goldens/site.rs:13   overwrites 473
              475  atomic 1.store 472   │                    crates/report/tests/goldens/site.rs:13   overwrites 474
              476  │                    atomic 1.store 473   crates/report/tests/goldens/site.rs:13   overwrites 475
              477  atomic 1.store 474   │                    crates/report/tests/goldens/site.rs:13   overwrites 476
              478  │                    atomic 1.store 475   crates/report/tests/goldens/site.rs:13   overwrites 477
              479  atomic 1.store 476   │                    crates/report/tests/goldens/site.rs:13   overwrites 478
              480  │                    atomic 1.store 477   crates/report/tests/goldens/site.rs:13   overwrites 479
              481  atomic 1.store 478   │                    crates/report/tests/goldens/site.rs:13   overwrites 480
              482  │                    atomic 1.store 479   crates/report/tests/goldens/site.rs:13   overwrites 481
              483  atomic 1.store 480   │                    crates/report/tests/goldens/site.rs:13   overwrites 482
              484  │                    atomic 1.store 481   crates/report/tests/goldens/site.rs:13   overwrites 483
              485  atomic 1.store 482   │                    crates/report/tests/goldens/site.rs:13   overwrites 484
              486  │                    atomic 1.store 483   crates/report/tests/goldens/site.rs:13   overwrites 485
              487  atomic 1.store 484   │                    crates/report/tests/goldens/site.rs:13   overwrites 486
              488  │                    atomic 1.store 485   crates/report/tests/goldens/site.rs:13   overwrites 487
              489  atomic 1.store 486   │                    crates/report/tests/goldens/site.rs:13   overwrites 488
              490  │                    atomic 1.store 487   crates/report/tests/goldens/site.rs:13   overwrites 489
              491  atomic 1.store 488   │                    crates/report/tests/goldens/site.rs:13   overwrites 490
              492  │                    atomic 1.store 489   crates/report/tests/goldens/site.rs:13   overwrites 491
              493  atomic 1.store 490   │                    crates/report/tests/goldens/site.rs:13   overwrites 492
              494  │                    atomic 1.store 491   crates/report/tests/goldens/site.rs:13   overwrites 493
              495  atomic 1.store 492   │                    crates/report/tests/goldens/site.rs:13   overwrites 494
              496  │                    atomic 1.store 493   crates/report/tests/goldens/site.rs:13   overwrites 495
              497  atomic 1.store 494   │                    crates/report/tests/goldens/site.rs:13   overwrites 496
              498  │                    atomic 1.store 495   crates/report/tests/goldens/site.rs:13   overwrites 497
              499  atomic 1.store 496   │                    crates/report/tests/goldens/site.rs:13   overwrites 498
              500  │                    atomic 1.store 497   crates/report/tests/goldens/site.rs:13   overwrites 499
              501  atomic 1.store 498   │                    crates/report/tests/goldens/site.rs:13   overwrites 500
              502  │                    atomic 1.store 499   crates/report/tests/goldens/site.rs:13   overwrites 501
              503  ends                 │
                ✗                       panics               src/lib.rs:20

              atomic 1  u32, first used at crates/report/tests/goldens/site.rs:9

              thread 2 panicked at src/lib.rs:20:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn many_threads_have_a_column_with_their_names() {
    let mut build = Build::with_threads(12);
    let object = build.object(ObjectKind::Atomic(Scalar::U32));
    for thread in 1..=12 {
        build.step(thread, object, store(u64::from(thread)), Effect::None, site::three());
    }
    check(
        &failed(panic(12, "crowded"), build.finish()),
        expect![[r#"
        raddle: test `tests::queue` FAILED — crowded
          found by random after 1,204 executions (0.4 s) · 24 steps · replayed once: it fails in the same way

            1  main        spawn thread 1      crates/report/tests/goldens/site.rs:5
            2  main        spawn thread 2      crates/report/tests/goldens/site.rs:5
            3  main        spawn thread 3      crates/report/tests/goldens/site.rs:5
            4  main        spawn thread 4      crates/report/tests/goldens/site.rs:5
            5  main        spawn thread 5      crates/report/tests/goldens/site.rs:5
            6  main        spawn thread 6      crates/report/tests/goldens/site.rs:5
            7  main        spawn thread 7      crates/report/tests/goldens/site.rs:5
            8  main        spawn thread 8      crates/report/tests/goldens/site.rs:5
            9  main        spawn thread 9      crates/report/tests/goldens/site.rs:5
           10  main        spawn thread 10     crates/report/tests/goldens/site.rs:5
           11  main        spawn thread 11     crates/report/tests/goldens/site.rs:5
           12  main        spawn thread 12     crates/report/tests/goldens/site.rs:5
           13  thread 1    atomic 1.store 1    crates/report/tests/goldens/site.rs:13
           14  thread 2    atomic 1.store 2    crates/report/tests/goldens/site.rs:13   overwrites 13
           15  thread 3    atomic 1.store 3    crates/report/tests/goldens/site.rs:13   overwrites 14
           16  thread 4    atomic 1.store 4    crates/report/tests/goldens/site.rs:13   overwrites 15
           17  thread 5    atomic 1.store 5    crates/report/tests/goldens/site.rs:13   overwrites 16
           18  thread 6    atomic 1.store 6    crates/report/tests/goldens/site.rs:13   overwrites 17
           19  thread 7    atomic 1.store 7    crates/report/tests/goldens/site.rs:13   overwrites 18
           20  thread 8    atomic 1.store 8    crates/report/tests/goldens/site.rs:13   overwrites 19
           21  thread 9    atomic 1.store 9    crates/report/tests/goldens/site.rs:13   overwrites 20
           22  thread 10   atomic 1.store 10   crates/report/tests/goldens/site.rs:13   overwrites 21
           23  thread 11   atomic 1.store 11   crates/report/tests/goldens/site.rs:13   overwrites 22
           24  thread 12   atomic 1.store 12   crates/report/tests/goldens/site.rs:13   overwrites 23
            ✗  thread 12   panics              src/lib.rs:20

          atomic 1  u32, first used at crates/report/tests/goldens/site.rs:9

          thread 12 panicked at src/lib.rs:20:9

          replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn a_failure_that_is_not_reproduced() {
    let mut report = failed(panic(0, "now and then"), Build::with_threads(0).finish());
    if let Verdict::Failed(failure) = &mut report.verdict {
        failure.reproduced = false;
    }
    check(
        &report,
        expect![[r#"
            raddle: test `tests::queue` FAILED — now and then
              found by random after 1,204 executions (0.4 s) · 0 steps
              NOT reproduced: the same choices did not give the same failure, or could not be made again.
              The program may be nondeterministic: look for clocks, randomness, addresses, hash maps,
              `std` threads or locks, and state that outlives an execution.

                   main
                ✗  panics   src/lib.rs:20

              main panicked at src/lib.rs:20:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn a_long_message_is_shown_whole_below_the_headline() {
    let message = format!("first line\n{}\nlast line", "long ".repeat(40).trim_end());
    let mut report = failed(panic(0, &message), Build::with_threads(0).finish());
    report.name = "the queue, twice".into();
    check(
        &report,
        expect![[r#"
        raddle: test `the queue, twice` FAILED — first line: long long long long long long long long long long long long long long long long long long long long long long long long long long long long long lo…
          found by random after 1,204 executions (0.4 s) · 0 steps · replayed once: it fails in the same way

          first line
          long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long
          last line

               main
            ✗  panics   src/lib.rs:20

          main panicked at src/lib.rs:20:9

          replay: set RADDLE_REPLAY=r1-TOKEN and run the check again"#]],
    );
}

#[test]
fn an_execution_that_does_not_end() {
    let mut build = Build::with_threads(1);
    let flag = build.object(ObjectKind::Atomic(Scalar::Bool));
    let pause = Action::Pause(PauseOp::Yield);
    for _ in 0..600 {
        build.step(0, flag, load(), Effect::Value(0), site::two());
        build.step(0, ObjectId::NONE, pause, Effect::None, site::three());
        build.step(1, ObjectId::NONE, pause, Effect::None, site::four());
    }
    check(
        &failed(Finding::StepLimit { steps: 1801 }, build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — an execution did not end within 1,801 steps
              found by random after 1,204 executions (0.4 s) · 1,801 steps · replayed once: it fails in the same way

                     main                    thread 1
                     … 1,177 steps of main, 587 of thread 1 …
              1,765  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,766  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,767  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,768  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,769  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,770  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,771  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,772  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,773  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,774  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,775  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,776  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,777  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,778  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,779  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,780  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,781  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,782  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,783  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,784  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,785  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,786  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,787  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,788  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,789  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,790  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,791  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,792  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,793  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,794  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,795  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,796  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,797  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,798  │                       yield_now   crates/report/tests/goldens/site.rs:17
              1,799  atomic 1.load → false   │           crates/report/tests/goldens/site.rs:9    reads the initial value
              1,800  yield_now               │           crates/report/tests/goldens/site.rs:13
              1,801  │                       yield_now   crates/report/tests/goldens/site.rs:17

              atomic 1  bool, first used at crates/report/tests/goldens/site.rs:9

              the last 1,000 steps:
                  334 × thread 1: yield_now at crates/report/tests/goldens/site.rs:17
                  333 × main: atomic 1.load at crates/report/tests/goldens/site.rs:9
                  333 × main: yield_now at crates/report/tests/goldens/site.rs:13

              Does a loop wait for another thread without blocking? If the executions are just long, raise
              the limit with `Config::max_steps`; to discard such executions, use `Config::on_step_limit`.

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn a_program_that_is_not_deterministic() {
    let finding = Finding::Nondeterminism {
        at: 4,
        first: "main did this at src/lib.rs:1".into(),
        second: "main did that at src/lib.rs:2".into(),
    };
    check(
        &failed(finding, Build::with_threads(1).finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — the program is not deterministic
              found by random after 1,204 executions (0.4 s) · 1 step

              After the same choices, step 5 was not the same in two executions:
                first:  main did this at src/lib.rs:1
                then:   main did that at src/lib.rs:2

              Something outside raddle's control decides: look for clocks, randomness, addresses, hash maps,
              `std` threads or locks, and state that outlives an execution. Until then no result would mean
              anything, and no failure could be replayed."#]],
    );
}

#[test]
fn a_failure_beyond_the_bound() {
    let mut report = failed(Finding::StepLimit { steps: 1000 }, Build::with_threads(1).finish());
    if let Verdict::Failed(failure) = &mut report.verdict {
        failure.beyond_bound = true;
    }
    check(
        &report,
        expect![[r#"
        raddle: test `tests::queue` FAILED — an execution did not end within 1,000 steps
          found by random after 1,204 executions (0.4 s) · 1 step · found beyond the bound while ending a run · replayed once: it fails in the same way

               main
            1  spawn thread 1   crates/report/tests/goldens/site.rs:5

          the last 1 step:
                1 × main: spawn thread 1 at crates/report/tests/goldens/site.rs:5

          Does a loop wait for another thread without blocking? If the executions are just long, raise
          the limit with `Config::max_steps`; to discard such executions, use `Config::on_step_limit`.

          replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

fn freed(thread: u32, after: usize, stack: &str) -> Freed {
    let end = End { object: ObjectId(2), thread: ThreadId(thread), after };
    Freed { end, stack: Some(stack.into()) }
}

#[test]
fn use_after_free() {
    let access = PlainAccess {
        thread: ThreadId(1),
        after: 1,
        object: ObjectId(1),
        writes: false,
        site: site::four(),
    };
    let stack =
        "   1: queue::read\n             at ./src/queue.rs:9:5\n   2: std::rt::start".to_owned();
    let mut free = freed(0, 1, "   1: core::ptr::drop_in_place<queue::Node>\n   2: queue::pop");
    free.end.object = ObjectId(1);
    let finding = Finding::UseAfterFree { freed: free, access, is_late: true, stack: Some(stack) };
    check(
        &failed(finding, Build::with_threads(1).finish()),
        expect![[r#"
        raddle: test `tests::queue` FAILED — use after free: thread 1 uses thread 1, which main frees
          found by random after 1,204 executions (0.4 s) · 1 step · replayed once: it fails in the same way

               main             thread 1
            1  spawn thread 1   │                crates/report/tests/goldens/site.rs:5
            ✗  │                reads thread 1   crates/report/tests/goldens/site.rs:17

          thread 1 uses thread 1 at crates/report/tests/goldens/site.rs:17
          main frees it after step 1, in `queue::pop`
          The use came after the free.
          stack of the use:
            queue::read at src/queue.rs:9:5
          stack of the free:
            queue::pop

          replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn freed_twice() {
    let mut both = [freed(0, 1, "   1: queue::pop"), freed(1, 1, "no frames")];
    both.iter_mut().for_each(|freed| freed.end.object = ObjectId(1));
    let [first, second] = both;
    let finding = Finding::FreedTwice { first, second };
    check(
        &failed(finding, Build::with_threads(1).finish()),
        expect![[r#"
        raddle: test `tests::queue` FAILED — freed twice: thread 1, by main and by thread 1
          found by random after 1,204 executions (0.4 s) · 1 step · replayed once: it fails in the same way

               main
            1  spawn thread 1   crates/report/tests/goldens/site.rs:5

          main frees thread 1 after step 1, in `queue::pop`
          thread 1 frees it again after step 1
          stack of the first free:
            queue::pop

          replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn read_twice() {
    let finding = Finding::ReadTwice {
        thread: ThreadId(0),
        object: ObjectId(1),
        first: site::one(),
        second: site::two(),
        writer: ThreadId(1),
        written: site::four(),
    };
    check(
        &failed(finding, Build::with_threads(1).finish()),
        expect![[r#"
        raddle: test `tests::queue` FAILED — main reads thread 1 twice at once, while thread 1 may wait to write it
          found by random after 1,204 executions (0.4 s) · 1 step · replayed once: it fails in the same way

               main
            1  spawn thread 1   crates/report/tests/goldens/site.rs:5

          main acquires a read lock of thread 1 at crates/report/tests/goldens/site.rs:9, while it holds the one from crates/report/tests/goldens/site.rs:5.
          thread 1 acquires the write lock at crates/report/tests/goldens/site.rs:17, and may wait for it between the two. A real lock may
          let the writer go first: both threads then wait for each other. Read once, or turn this off with
          `Config::read_twice`.

          replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}
