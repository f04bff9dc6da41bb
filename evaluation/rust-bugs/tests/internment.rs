//! RUSTSEC-2020-0017: in internment 0.3.13 an `ArcIntern` can be freed while another thread gets it again.

use std::thread;

use internment::ArcIntern;

#[test]
fn a_value_is_interned_again_while_it_is_dropped() {
    let first = ArcIntern::<u64>::new(7);
    let thread = thread::spawn(move || drop(first));
    let second = ArcIntern::<u64>::new(7);
    assert_eq!(*second, 7);
    drop(second);
    thread.join().unwrap();
}
