//! RUSTSEC-2025-0023: in tokio 1.44.1 receivers of a broadcast channel clone a value at the same time, although its type
//! is not `Sync`.

use std::cell::Cell;
use std::thread;

use tokio::sync::broadcast;

struct Counted(Cell<u32>);

impl Clone for Counted {
    fn clone(&self) -> Counted {
        self.0.set(self.0.get() + 1);
        Counted(Cell::new(0))
    }
}

#[test]
fn two_threads_receive_one_value() {
    let (sender, mut receiver) = broadcast::channel(2);
    let mut other = sender.subscribe();
    assert!(sender.send(Counted(Cell::new(0))).is_ok());
    let thread = thread::spawn(move || other.try_recv().map(|_| ()));
    assert!(receiver.try_recv().is_ok());
    assert!(thread.join().unwrap().is_ok());
}
