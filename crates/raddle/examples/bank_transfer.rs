//! Transfers between accounts, each with a lock. Bug: the locks are acquired in the order of the transfer, so two
//! transfers in opposite directions can deadlock. Fixed by a global order of the accounts.
//!
//! ```sh
//! cargo run -p raddle --example bank_transfer
//! ```

mod support;

use raddle::sync::Mutex;
use raddle::thread;

struct Account {
    number: u32,
    balance: Mutex<i64>,
}

impl Account {
    fn new(number: u32, balance: i64) -> Account {
        Account { number, balance: Mutex::new(balance) }
    }
}

/// The order in which the locks of two accounts are acquired.
#[derive(Copy, Clone)]
enum Order {
    AsTransferred,
    ByNumber,
}

fn transfer(from: &Account, to: &Account, amount: i64, order: Order) {
    let swapped = match order {
        Order::AsTransferred => false,
        Order::ByNumber => from.number > to.number,
    };
    let (first, second) = if swapped { (to, from) } else { (from, to) };
    let mut one = first.balance.lock().unwrap();
    let mut other = second.balance.lock().unwrap();
    let (source, target) = if swapped { (&mut other, &mut one) } else { (&mut one, &mut other) };
    **source -= amount;
    **target += amount;
}

fn two_transfers(order: Order) {
    let (checking, savings) = (Account::new(1, 100), Account::new(2, 100));
    thread::scope(|scope| {
        scope.spawn(|| transfer(&checking, &savings, 30, order));
        transfer(&savings, &checking, 10, order);
    });
    assert_eq!(*checking.balance.lock().unwrap(), 80);
    assert_eq!(*savings.balance.lock().unwrap(), 120);
}

fn bugged() {
    two_transfers(Order::AsTransferred);
}

fn fixed() {
    two_transfers(Order::ByNumber);
}

fn main() {
    support::show("bank transfer", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_deadlock(bugged);
    support::assert_clean(fixed);
}
