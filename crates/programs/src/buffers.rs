//! SCTBench's buffers between two threads: a queue, a circular buffer, a stack and Java's StringBuffer. Every operation is a
//! critical section. The bugs are wrong assumptions about the other thread.

use raddle::Granularity;
use raddle::sync::{Arc, Mutex};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const QUEUE: Program = Program {
    name: "queue",
    origin: Origin::SctBench,
    about: "a consumer compares its n-th item with the one stored in the n-th attempt",
    failure: Failure::Assertion,
    class: Class::Order,
    granularity: Granularity::Sync,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |form, _| queue(form),
};

pub(super) const CIRCULAR_BUFFER: Program = Program {
    name: "circular_buffer",
    about: "a receiver expects the number of its attempt, but attempts can fail",
    body: |form, _| circular_buffer(form),
    ..QUEUE
};

pub(super) const STACK: Program = Program {
    name: "stack",
    about: "a flag says that an item was pushed, not that the stack is not empty",
    body: |form, _| stack(form),
    ..QUEUE
};

pub(super) const STRING_BUFFER: Program = Program {
    name: "stringbuffer",
    about: "append reads a buffer's length, then its characters; the buffer shrinks in between",
    class: Class::Atomicity,
    threads: |_| 2,
    body: |form, _| string_buffer(form),
    ..QUEUE
};

fn queue(form: Form) {
    const ATTEMPTS: usize = 20;
    struct Queue {
        form: Form,
        items: Vec<u32>,
        /// The number of items taken out.
        taken: usize,
        stored: [u32; ATTEMPTS],
        may_enqueue: bool,
        may_dequeue: bool,
    }
    impl Queue {
        fn enqueue(&mut self, attempt: usize) {
            let item = self.items.len() as u32;
            let place = match self.form {
                Form::Bugged => attempt,
                Form::Fixed => self.items.len(),
            };
            self.stored[place] = item;
            self.items.push(item);
        }

        fn dequeue(&mut self, attempt: usize) {
            let place = match self.form {
                Form::Bugged => attempt,
                Form::Fixed => self.taken,
            };
            assert_eq!(self.items[self.taken], self.stored[place], "another item");
            self.taken += 1;
        }
    }
    let queue = Queue {
        form,
        items: Vec::new(),
        taken: 0,
        stored: [0; ATTEMPTS],
        may_enqueue: true,
        may_dequeue: false,
    };
    join_all(start(
        &Arc::new(Mutex::new(queue)),
        &[
            |queue| {
                queue.lock().unwrap().enqueue(0);
                for attempt in 1..ATTEMPTS {
                    let mut queue = queue.lock().unwrap();
                    if queue.may_enqueue {
                        queue.enqueue(attempt);
                        (queue.may_enqueue, queue.may_dequeue) = (false, true);
                    }
                }
            },
            |queue| {
                for attempt in 0..ATTEMPTS {
                    let mut queue = queue.lock().unwrap();
                    if queue.may_dequeue {
                        queue.dequeue(attempt);
                        (queue.may_enqueue, queue.may_dequeue) = (true, false);
                    }
                }
            },
        ],
    ));
}

fn circular_buffer(form: Form) {
    const ATTEMPTS: u32 = 7;
    const ROOM: usize = 10;
    struct Buffer {
        form: Form,
        items: [u32; ROOM],
        first: usize,
        next: usize,
        /// The numbers of items sent and received.
        sent: u32,
        received: u32,
        may_send: bool,
    }
    let buffer =
        Buffer { form, items: [0; ROOM], first: 0, next: 0, sent: 0, received: 0, may_send: true };
    join_all(start(
        &Arc::new(Mutex::new(buffer)),
        &[
            |buffer| {
                for attempt in 0..ATTEMPTS {
                    let mut buffer = buffer.lock().unwrap();
                    if buffer.may_send {
                        let next = buffer.next;
                        buffer.items[next] = match buffer.form {
                            Form::Bugged => attempt,
                            Form::Fixed => buffer.sent,
                        };
                        buffer.next = (next + 1) % ROOM;
                        buffer.sent += 1;
                        buffer.may_send = false;
                    }
                }
            },
            |buffer| {
                for attempt in 0..ATTEMPTS {
                    let mut buffer = buffer.lock().unwrap();
                    if !buffer.may_send {
                        let expected = match buffer.form {
                            Form::Bugged => attempt,
                            Form::Fixed => buffer.received,
                        };
                        assert_eq!(buffer.items[buffer.first], expected, "another item");
                        buffer.first = (buffer.first + 1) % ROOM;
                        buffer.received += 1;
                        buffer.may_send = true;
                    }
                }
            },
        ],
    ));
}

fn stack(form: Form) {
    const TIMES: usize = 10;
    struct Stack {
        form: Form,
        top: usize,
        was_pushed: bool,
    }
    let stack = Stack { form, top: 0, was_pushed: false };
    join_all(start(
        &Arc::new(Mutex::new(stack)),
        &[
            |stack| {
                for _ in 0..TIMES {
                    let mut stack = stack.lock().unwrap();
                    stack.top += 1;
                    stack.was_pushed = true;
                }
            },
            |stack| {
                for _ in 0..TIMES {
                    let mut stack = stack.lock().unwrap();
                    let may_pop = match stack.form {
                        Form::Bugged => stack.was_pushed,
                        Form::Fixed => stack.top > 0,
                    };
                    if may_pop {
                        assert!(stack.top > 0, "the stack is empty");
                        stack.top -= 1;
                    }
                }
            },
        ],
    ));
}

fn string_buffer(form: Form) {
    const TEXT: &str = "abc";
    let (target, buffer) = (Mutex::new(String::new()), Arc::new(Mutex::new(TEXT.to_owned())));
    start(
        &buffer,
        &[|buffer| {
            buffer.lock().unwrap().clear();
            buffer.lock().unwrap().push_str(TEXT);
        }],
    );
    let mut target = target.lock().unwrap();
    let guard = buffer.lock().unwrap();
    let length = guard.len();
    let guard = match form {
        Form::Bugged => {
            drop(guard);
            buffer.lock().unwrap()
        }
        Form::Fixed => guard,
    };
    assert!(length <= guard.len(), "the buffer has shrunk");
    target.push_str(&guard[..length]);
}
