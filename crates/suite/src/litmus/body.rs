//! Litmus tests as programs, one source text for every engine.

/// Expands to `execute`, one execution of a litmus test over one engine's `sync` and `thread`.
macro_rules! body {
    ($engine:ident) => {
        use std::sync::Arc;

        use ::$engine::sync::atomic::{AtomicU64, Ordering, fence};
        use ::$engine::thread;
        use raddle_core::Order;
        use raddle_testkit::litmus::{Code, Instruction, Outcome};

        /// The variables of a test.
        struct Variables {
            names: Vec<char>,
            values: Vec<AtomicU64>,
        }

        impl Variables {
            fn at(&self, name: char) -> &AtomicU64 {
                let place = self.names.iter().position(|&known| known == name);
                &self.values[place.expect("all are known")]
            }
        }

        /// One execution.
        pub(super) fn execute(code: &Arc<Code>) -> Outcome {
            let names = code.variables();
            let values = names.iter().map(|_| AtomicU64::new(0)).collect();
            let variables = Arc::new(Variables { names, values });
            let mut outcome = Outcome::default();
            let threads: Vec<_> = (0..code.threads.len())
                .map(|thread| {
                    let (code, variables) = (code.clone(), variables.clone());
                    thread::spawn(move || follow(&code.threads[thread], &variables))
                })
                .collect();
            for (thread, instructions) in threads.into_iter().zip(&code.threads) {
                let read = thread.join().expect("nobody panics");
                let readers = instructions.iter().filter(|instruction| instruction.reads());
                let missing = readers.count() - read.len();
                outcome.read.extend(read.into_iter().map(Some));
                outcome.read.extend(std::iter::repeat_n(None, missing));
            }
            for &name in &variables.names {
                outcome.last.insert(name, variables.at(name).load(Ordering::Relaxed));
            }
            outcome
        }

        /// Does what a thread does, and returns what it read.
        fn follow(instructions: &[Instruction], variables: &Variables) -> Vec<u64> {
            let mut read = Vec::new();
            for &instruction in instructions {
                let last = read.last().copied().unwrap_or(0);
                match instruction {
                    Instruction::Store(variable, value, order) => {
                        variables.at(variable).store(value.unwrap_or(last), ordering(order));
                    }
                    Instruction::Load(variable, order) => {
                        read.push(variables.at(variable).load(ordering(order)));
                    }
                    Instruction::Add(variable, value, order) => {
                        read.push(variables.at(variable).fetch_add(value, ordering(order)));
                    }
                    Instruction::Swap(variable, value, order) => {
                        read.push(variables.at(variable).swap(value, ordering(order)));
                    }
                    Instruction::Exchange(variable, expected, new, success, failure) => {
                        let orders = (ordering(success), ordering(failure));
                        let exchanged = variables
                            .at(variable)
                            .compare_exchange(expected, new, orders.0, orders.1);
                        let (Ok(old) | Err(old)) = exchanged;
                        read.push(old);
                    }
                    Instruction::Fence(order) => fence(ordering(order)),
                    Instruction::Require(value) => {
                        if value != last {
                            break;
                        }
                    }
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
