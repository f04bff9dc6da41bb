//! Litmus tests as programs, one source text for every engine.

/// Expands to `execute`, one execution of a litmus test over one engine's `sync` and `thread`.
macro_rules! body {
    ($engine:ident) => {
        use std::sync::Arc;

        use ::$engine::sync::atomic::{AtomicU64, Ordering, fence};
        use ::$engine::thread;
        use raddle_core::Order;
        use raddle_testkit::litmus::Instruction;

        use super::script::{Reads, Record, Script, THREADS};

        /// One execution.
        pub(super) fn execute(script: &'static Script) {
            let zeros = script.variables.iter().map(|_| AtomicU64::new(0));
            let variables: Arc<[AtomicU64]> = zeros.collect();
            let mut record = Record::default();
            let mut threads = [const { None }; THREADS];
            for (number, thread) in threads[..script.threads.len()].iter_mut().enumerate() {
                let variables = variables.clone();
                *thread = Some(thread::spawn(move || follow(number, script, &variables)));
            }
            for (number, thread) in threads.into_iter().flatten().enumerate() {
                record.take(script, number, thread.join().expect("no thread panics"));
            }
            for (place, variable) in variables.iter().enumerate() {
                record.end_with(place, variable.load(Ordering::Relaxed));
            }
            script.look_at(&record);
        }

        /// Does what a thread does, and returns what it read.
        fn follow(thread: usize, script: &Script, variables: &[AtomicU64]) -> Reads {
            let mut read = Reads::default();
            for &(instruction, place) in &script.threads[thread] {
                let variable = || &variables[place];
                let last = read.last().unwrap_or(0);
                match instruction {
                    Instruction::Store(_, value, order) => {
                        variable().store(value.unwrap_or(last), ordering(order));
                    }
                    Instruction::Load(_, order) => {
                        read.push(variable().load(ordering(order)));
                    }
                    Instruction::Add(_, value, order) => {
                        read.push(variable().fetch_add(value, ordering(order)));
                    }
                    Instruction::Swap(_, value, order) => {
                        read.push(variable().swap(value, ordering(order)));
                    }
                    Instruction::Exchange(_, expected, new, success, failure) => {
                        let orders = (ordering(success), ordering(failure));
                        let exchanged =
                            variable().compare_exchange(expected, new, orders.0, orders.1);
                        let (Ok(old) | Err(old)) = exchanged;
                        read.push(old);
                    }
                    Instruction::Fence(order) => fence(ordering(order)),
                    Instruction::Require(value) => {
                        if value != last {
                            break;
                        }
                    }
                    Instruction::Await(_) => unreachable!("no test of the table awaits a value"),
                }
            }
            read
        }

        fn ordering(order: Order) -> Ordering {
            match order {
                Order::Relaxed => Ordering::Relaxed,
                Order::Acquire => Ordering::Acquire,
                Order::Release => Ordering::Release,
                Order::AcqRel => Ordering::AcqRel,
                Order::SeqCst => Ordering::SeqCst,
            }
        }
    };
}

pub(super) use body;
