//! The table of items and methods, and the macros that expand it.
//!
//! A row is a type or a function, the name of its page in the documentation, and for a type its methods and traits. `root`
//! is `std` or the mirror.

/// Passes the table to another macro.
macro_rules! surface_table {
    ($with:ident) => {
        $with! {
            types {
                root::sync::Barrier, "sync/struct.Barrier": Send Sync Debug UnwindSafe { new, wait }
                root::sync::BarrierWaitResult, "sync/struct.BarrierWaitResult": Send Sync Debug { is_leader }
                root::sync::Condvar, "sync/struct.Condvar": Send Sync Debug Default UnwindSafe RefUnwindSafe {
                    new, wait::<u8>, wait_while::<u8, fn(&mut u8) -> bool>, wait_timeout::<u8>,
                    wait_timeout_while::<u8, fn(&mut u8) -> bool>, notify_one, notify_all
                }
                root::sync::WaitTimeoutResult, "sync/struct.WaitTimeoutResult": Send Sync Copy Eq Debug { timed_out }
                root::sync::LazyLock<u8>, "sync/struct.LazyLock": Send Sync Debug Default Deref UnwindSafe RefUnwindSafe { new, force }
                root::sync::Mutex<u8>, "sync/struct.Mutex": Send Sync Debug Default UnwindSafe RefUnwindSafe {
                    new, lock, try_lock, is_poisoned, clear_poison, into_inner, get_mut
                }
                root::sync::MutexGuard<'static, u8>, "sync/struct.MutexGuard": Sync Debug Display Deref DerefMut {}
                root::sync::Once, "sync/struct.Once": Send Sync Debug UnwindSafe RefUnwindSafe {
                    new, call_once::<fn()>, call_once_force::<fn(&root::sync::OnceState)>, is_completed
                }
                root::sync::OnceLock<u8>, "sync/struct.OnceLock": Send Sync Debug Default Clone Eq UnwindSafe RefUnwindSafe {
                    new, get, get_mut, set, get_or_init::<fn() -> u8>, into_inner, take
                }
                root::sync::OnceState, "sync/struct.OnceState": Debug { is_poisoned }
                root::sync::RwLock<u8>, "sync/struct.RwLock": Send Sync Debug Default UnwindSafe RefUnwindSafe {
                    new, read, try_read, write, try_write, is_poisoned, clear_poison, into_inner, get_mut
                }
                root::sync::RwLockReadGuard<'static, u8>, "sync/struct.RwLockReadGuard": Sync Debug Display Deref {}
                root::sync::RwLockWriteGuard<'static, u8>, "sync/struct.RwLockWriteGuard": Sync Debug Display Deref DerefMut {}

                root::sync::mpsc::Sender<u8>, "sync/mpsc/struct.Sender": Send Sync Debug Clone { send }
                root::sync::mpsc::SyncSender<u8>, "sync/mpsc/struct.SyncSender": Send Sync Debug Clone { send, try_send }
                root::sync::mpsc::Receiver<u8>, "sync/mpsc/struct.Receiver": Send Debug IntoIterator {
                    try_recv, recv, recv_timeout, iter, try_iter
                }
                root::sync::mpsc::Iter<'static, u8>, "sync/mpsc/struct.Iter": Debug Iterator {}
                root::sync::mpsc::TryIter<'static, u8>, "sync/mpsc/struct.TryIter": Debug Iterator {}
                root::sync::mpsc::IntoIter<u8>, "sync/mpsc/struct.IntoIter": Send Debug Iterator {}

                root::thread::AccessError, "thread/struct.AccessError": Send Sync Copy Eq Debug Display Error {}
                root::thread::Builder, "thread/struct.Builder": Send Sync Debug {
                    new, name, stack_size, spawn::<fn(), ()>, spawn_scoped::<fn(), ()>
                }
                root::thread::JoinHandle<()>, "thread/struct.JoinHandle": Send Sync Debug { thread, join, is_finished }
                root::thread::LocalKey<std::cell::Cell<u8>>, "thread/struct.LocalKey": Send Sync Debug {
                    with::<fn(&std::cell::Cell<u8>), ()>, try_with::<fn(&std::cell::Cell<u8>), ()>,
                    set, get, take, replace
                }
                root::thread::LocalKey<std::cell::RefCell<u8>>, "thread/struct.LocalKey": Send Sync Debug {
                    with_borrow::<fn(&u8), ()>, with_borrow_mut::<fn(&mut u8), ()>, set, take, replace
                }
                root::thread::Scope<'static, 'static>, "thread/struct.Scope": Send Sync Debug { spawn::<fn(), ()> }
                root::thread::ScopedJoinHandle<'static, ()>, "thread/struct.ScopedJoinHandle": Send Sync Debug {
                    thread, join, is_finished
                }
                root::thread::Thread, "thread/struct.Thread": Send Sync Debug Clone UnwindSafe { unpark, id, name }
                root::thread::ThreadId, "thread/struct.ThreadId": Send Sync Copy Eq Hash Debug {}
                root::thread::Result<()>, "thread/type.Result": Send {}

                root::time::Instant, "time/struct.Instant": Send Sync Copy Ord Hash Debug {
                    now, duration_since, checked_duration_since, saturating_duration_since, elapsed,
                    checked_add, checked_sub
                }

                root::sync::atomic::AtomicBool, "sync/atomic/struct.AtomicBool": Send Sync Debug Default RefUnwindSafe {
                    new, get_mut, into_inner, load, store, swap, compare_exchange, compare_exchange_weak,
                    fetch_and, fetch_nand, fetch_or, fetch_xor, fetch_not, fetch_update::<fn(bool) -> Option<bool>>
                }
                root::sync::atomic::AtomicPtr<u8>, "sync/atomic/struct.AtomicPtr": Send Sync Debug Pointer Default RefUnwindSafe {
                    new, get_mut, into_inner, load, store, swap, compare_exchange, compare_exchange_weak,
                    fetch_update::<fn(*mut u8) -> Option<*mut u8>>
                }
            }
            integers {
                root::sync::atomic::AtomicU8, "sync/atomic/struct.AtomicU8", u8;
                root::sync::atomic::AtomicU16, "sync/atomic/struct.AtomicU16", u16;
                root::sync::atomic::AtomicU32, "sync/atomic/struct.AtomicU32", u32;
                root::sync::atomic::AtomicU64, "sync/atomic/struct.AtomicU64", u64;
                root::sync::atomic::AtomicUsize, "sync/atomic/struct.AtomicUsize", usize;
                root::sync::atomic::AtomicI8, "sync/atomic/struct.AtomicI8", i8;
                root::sync::atomic::AtomicI16, "sync/atomic/struct.AtomicI16", i16;
                root::sync::atomic::AtomicI32, "sync/atomic/struct.AtomicI32", i32;
                root::sync::atomic::AtomicI64, "sync/atomic/struct.AtomicI64", i64;
                root::sync::atomic::AtomicIsize, "sync/atomic/struct.AtomicIsize", isize;
            }
            functions {
                root::sync::atomic::fence, "sync/atomic/fn.fence";
                root::sync::mpsc::channel::<u8>, "sync/mpsc/fn.channel";
                root::sync::mpsc::sync_channel::<u8>, "sync/mpsc/fn.sync_channel";
                root::thread::available_parallelism, "thread/fn.available_parallelism";
                root::thread::current, "thread/fn.current";
                root::thread::panicking, "thread/fn.panicking";
                root::thread::park, "thread/fn.park";
                root::thread::park_timeout, "thread/fn.park_timeout";
                root::thread::scope::<fn(&root::thread::Scope<'_, '_>), ()>, "thread/fn.scope";
                root::thread::sleep, "thread/fn.sleep";
                root::thread::spawn::<fn(), ()>, "thread/fn.spawn";
                root::thread::yield_now, "thread/fn.yield_now";
                root::hint::spin_loop, "hint/fn.spin_loop";
                root::hint::black_box::<u8>, "hint/fn.black_box";
                root::hint::assert_unchecked, "hint/fn.assert_unchecked";
                root::hint::unreachable_unchecked, "hint/fn.unreachable_unchecked";
            }
            constants {
                root::sync::Barrier = root::sync::Barrier::new(1);
                root::sync::Condvar = root::sync::Condvar::new();
                root::sync::LazyLock<u8> = root::sync::LazyLock::new(|| 1);
                root::sync::Mutex<u8> = root::sync::Mutex::new(1);
                root::sync::Once = root::sync::Once::new();
                root::sync::OnceLock<u8> = root::sync::OnceLock::new();
                root::sync::RwLock<u8> = root::sync::RwLock::new(1);
                root::sync::atomic::AtomicUsize = root::sync::atomic::AtomicUsize::new(1);
                root::sync::atomic::AtomicPtr<u8> = root::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
            }
            lacks {
                root::sync::MutexGuard<'static, u8>, Send;
                root::sync::MutexGuard<'static, std::cell::Cell<u8>>, Sync;
                root::sync::RwLockReadGuard<'static, u8>, Send;
                root::sync::RwLockReadGuard<'static, std::cell::Cell<u8>>, Sync;
                root::sync::RwLockWriteGuard<'static, u8>, Send;
                root::sync::RwLockWriteGuard<'static, std::cell::Cell<u8>>, Sync;
                root::sync::Mutex<*mut u8>, Sync;
                root::sync::RwLock<std::cell::Cell<u8>>, Sync;
                root::sync::OnceLock<std::cell::Cell<u8>>, Sync;
                root::sync::OnceLock<*mut u8>, Send;
                root::sync::LazyLock<std::cell::Cell<u8>>, Sync;
                root::sync::mpsc::Receiver<u8>, Sync;
                root::sync::mpsc::Receiver<*mut u8>, Send;
                root::sync::mpsc::Sender<*mut u8>, Send;
                root::sync::mpsc::SyncSender<*mut u8>, Sync;
            }
            conversions {
                root::sync::Mutex<u8>, u8;
                root::sync::RwLock<u8>, u8;
                root::sync::OnceLock<u8>, u8;
                root::sync::atomic::AtomicBool, bool;
                root::sync::atomic::AtomicU64, u64;
                root::sync::atomic::AtomicPtr<u8>, *mut u8;
            }
        }
    };
}

/// Expands to a function `names` that returns the names in the table, as in the documentation.
macro_rules! declare_names {
    (
        types {$($type:ty, $page:literal: $($trait:ident)* {$($method:ident $(::<$($generic:ty),*>)?),*})*}
        integers {$($integer:ty, $integer_page:literal, $plain:ty;)*}
        functions {$($function:expr, $function_page:literal;)*}
        constants {$($constant:tt)*}
        lacks {$($lacks:tt)*}
        conversions {$($conversion:tt)*}
    ) => {
        fn names() -> Vec<&'static str> {
            let mut names = vec![
                $($page, $(concat!($page, "::", stringify!($method)),)*)*
                $($integer_page,)*
                $($function_page),*
            ];
            names.extend(INTEGER_METHODS);
            names
        }
    };
}

/// Expands to the methods of all atomic integers.
macro_rules! integer_methods {
    ($with:ident $($argument:ty)*) => {
        $with! { $($argument)*:
            new, get_mut, into_inner, load, store, swap, compare_exchange, compare_exchange_weak,
            fetch_add, fetch_sub, fetch_and, fetch_nand, fetch_or, fetch_xor, fetch_max, fetch_min
        }
    };
}

macro_rules! name_methods {
    (: $($method:ident),*) => {
        &[$(concat!("sync/atomic/struct.Atomic*::", stringify!($method))),*,
            "sync/atomic/struct.Atomic*::fetch_update"]
    };
}

pub(crate) const INTEGER_METHODS: &[&str] = integer_methods!(name_methods);

macro_rules! use_methods {
    ($type:ty: $($method:ident),*) => {$(let _ = <$type>::$method;)*};
}

/// Expands to a function `check` that uses every item and method in the table, and counts them.
macro_rules! compile {
    (
        types {$($type:ty, $page:literal: $($trait:ident)* {$($method:ident $(::<$($generic:ty),*>)?),*})*}
        integers {$($integer:ty, $integer_page:literal, $plain:ty;)*}
        functions {$($function:expr, $function_page:literal;)*}
        constants {$($constant:ty = $made:expr;)*}
        lacks {$($poor:ty, $lacked:ident;)*}
        conversions {$($into:ty, $from:ty;)*}
    ) => {
        #[allow(unused_imports, reason = "not every trait is in the prelude")]
        use std::{
            error::Error, fmt::{Debug, Display, Pointer}, hash::Hash, ops::{Deref, DerefMut},
            panic::{RefUnwindSafe, UnwindSafe},
        };

        #[allow(clippy::declare_interior_mutable_const, clippy::type_complexity, deprecated)]
        pub(crate) fn check() -> usize {
            let mut count = 0;
            $({
                $(let _ = <$type>::$method $(::<$($generic),*>)?; count += 1;)*
                $({
                    fn has<T: $trait>() {}
                    has::<$type>();
                    count += 1;
                })*
            })*
            $({
                integer_methods!(use_methods $integer);
                let _ = <$integer>::fetch_update::<fn($plain) -> Option<$plain>>;
                fn has<T: Send + Sync + Debug + Default + RefUnwindSafe + From<$plain>>() {}
                has::<$integer>();
            })*
            $(let _ = $function; count += 1;)*
            $({
                static MADE: $constant = $made;
                let _ = &MADE;
                count += 1;
            })*
            $({
                // For a type with the trait two implementations apply, which is a compile error.
                trait Lacks<How> {
                    fn it() {}
                }
                struct IfThere;
                impl<T: ?Sized> Lacks<()> for T {}
                impl<T: ?Sized + $lacked> Lacks<IfThere> for T {}
                let _ = IfThere;
                <$poor as Lacks<_>>::it();
                count += 1;
            })*
            $({
                fn has<T: From<$from>>() {}
                has::<$into>();
            })*
            root::thread_local! {
                static LOCAL: std::cell::Cell<u8> = const { std::cell::Cell::new(1) };
            }
            count + usize::from(LOCAL.get())
        }
    };
}
