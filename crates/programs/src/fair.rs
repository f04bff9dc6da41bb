//! Fair: threads in a ring that spin, with a yield, until the previous thread passes them the token.
//!
//! The token goes round twice. In the bugged form a thread passes the token before it clears its own flag. If the token
//! comes back before that, it is lost, and all threads spin forever.

use raddle::Granularity;
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "fair",
    origin: Origin::Bpor,
    about: "a token goes round a ring of spinning threads; it is passed on before the own flag is cleared",
    failure: Failure::Livelock,
    class: Class::Order,
    granularity: Granularity::All,
    space: Space::Cyclic,
    size: Size { counts: "threads", least: 2, usual: 2, most: 8 },
    threads: |threads| threads + 1,
    body,
};

const ROUNDS: u32 = 2;

fn body(form: Form, threads: u32) {
    let tokens: Arc<Vec<_>> =
        Arc::new((0..threads).map(|thread| AtomicBool::new(thread == 0)).collect());
    let handles = (0..threads as usize)
        .map(|me| {
            let tokens = tokens.clone();
            thread::spawn(move || {
                let (mine, next) = (&tokens[me], &tokens[(me + 1) % tokens.len()]);
                for _ in 0..ROUNDS {
                    while !mine.load(SeqCst) {
                        thread::yield_now();
                    }
                    match form {
                        Form::Bugged => {
                            next.store(true, SeqCst);
                            mine.store(false, SeqCst);
                        }
                        Form::Fixed => {
                            mine.store(false, SeqCst);
                            next.store(true, SeqCst);
                        }
                    }
                }
            })
        })
        .collect();
    join_all(handles);
}
