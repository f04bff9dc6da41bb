//! Channels, as in [`std::sync::mpsc`].
//!
//! A channel belongs to the execution that created it, or to none. A channel that was created outside a check works inside
//! as long as no thread has to wait for it.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc as real;
use std::time::Duration;

use raddle_core::{Action, ChannelOp, Effect, ObjectId, Op, Site};
use raddle_runtime::port;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::unexpected;
use shared::Shared;

mod iter;
mod shared;

pub use iter::{IntoIter, Iter, TryIter};

const SEND: Op = operation(ChannelOp::Send);
const TRY_SEND: Op = operation(ChannelOp::TrySend);
const RECEIVE: Op = operation(ChannelOp::Receive { timed: false });
const RECEIVE_TIMED: Op = operation(ChannelOp::Receive { timed: true });
const TRY_RECEIVE: Op = operation(ChannelOp::TryReceive);

const fn operation(op: ChannelOp) -> Op {
    Op::new(ObjectId::NONE, Action::Channel(op))
}

/// Creates a channel without a bound on the number of messages, as [`std::sync::mpsc::channel`].
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::channel();
/// raddle::thread::spawn(move || sender.send(7).unwrap());
/// assert_eq!(receiver.recv(), Ok(7));
/// assert!(receiver.recv().is_err());
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if !port::active() {
        let (sender, receiver) = real::channel();
        return (Sender { side: Side::Outside(sender) }, Receiver::outside(receiver));
    }
    let (shared, site) = (Shared::new(None), Site::caller());
    let in_run = InRun { shared: shared.clone(), site };
    (Sender { side: Side::InRun(in_run) }, Receiver::in_run(shared, site))
}

/// Creates a channel that holds at most `bound` messages, as [`std::sync::mpsc::sync_channel`]. If `bound` is zero, a
/// send waits until the message is received.
///
/// Inside a check, [`SyncSender::try_send`] never succeeds on a channel with a bound of zero.
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::sync_channel(1);
/// let producer = raddle::thread::spawn(move || (0..3).for_each(|n| sender.send(n).unwrap()));
/// assert_eq!(receiver.iter().sum::<i32>(), 3);
/// # producer.join().unwrap();
/// ```
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if !port::active() {
        let (sender, receiver) = real::sync_channel(bound);
        return (SyncSender { side: Side::Outside(sender) }, Receiver::outside(receiver));
    }
    let (shared, site) = (Shared::new(Some(bound)), Site::caller());
    let in_run = InRun { shared: shared.clone(), site };
    (SyncSender { side: Side::InRun(in_run) }, Receiver::in_run(shared, site))
}

/// The sending side of a channel.
enum Side<R, T> {
    /// Of a channel that was created outside any run.
    Outside(R),
    InRun(InRun<T>),
}

/// The sending side of a channel of a run.
struct InRun<T> {
    shared: Arc<Shared<T>>,
    /// The place where the sender was created. Reports show it for the drop, which has no place of its own.
    site: Site,
}

impl<T> Clone for InRun<T> {
    #[track_caller]
    fn clone(&self) -> InRun<T> {
        self.shared.add_sender();
        InRun { shared: self.shared.clone(), site: Site::caller() }
    }
}

impl<T> Drop for InRun<T> {
    fn drop(&mut self) {
        self.shared.drop_sender(self.site);
    }
}

impl<T> InRun<T> {
    fn send(&self, value: T, site: Site) -> Result<(), SendError<T>> {
        match self.shared.submit(SEND, site) {
            Effect::Ticket(ticket) => {
                let must_wait = self.shared.put(ticket, value);
                if must_wait { self.await_taken(ticket, site) } else { Ok(()) }
            }
            Effect::Closed => Err(SendError(value)),
            other => unexpected(other),
        }
    }

    #[cold]
    fn await_taken(&self, ticket: u64, site: Site) -> Result<(), SendError<T>> {
        let wait = operation(ChannelOp::AwaitTaken { ticket });
        match self.shared.submit(wait, site) {
            Effect::Yes => Ok(()),
            Effect::No => Err(SendError(self.shared.take_back(ticket))),
            other => unexpected(other),
        }
    }

    fn try_send(&self, value: T, site: Site) -> Result<(), TrySendError<T>> {
        match self.shared.submit(TRY_SEND, site) {
            Effect::Ticket(ticket) => {
                self.shared.put(ticket, value);
                Ok(())
            }
            Effect::Closed => Err(TrySendError::Disconnected(value)),
            Effect::No => Err(TrySendError::Full(value)),
            other => unexpected(other),
        }
    }
}

impl<R: Clone, T> Clone for Side<R, T> {
    #[track_caller]
    fn clone(&self) -> Side<R, T> {
        match self {
            Side::Outside(sender) => Side::Outside(sender.clone()),
            Side::InRun(in_run) => Side::InRun(in_run.clone()),
        }
    }
}

/// The sending side of a [`channel`], as [`std::sync::mpsc::Sender`].
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::channel();
/// let other = sender.clone();
/// sender.send(1).unwrap();
/// other.send(2).unwrap();
/// drop((sender, other));
/// assert_eq!(receiver.iter().count(), 2);
/// ```
pub struct Sender<T> {
    side: Side<real::Sender<T>, T>,
}

impl<T> Sender<T> {
    /// Sends a message, as [`std::sync::mpsc::Sender::send`].
    ///
    /// ```
    /// let (sender, receiver) = raddle::sync::mpsc::channel();
    /// assert_eq!(sender.send(1), Ok(()));
    /// drop(receiver);
    /// assert!(sender.send(2).is_err());
    /// ```
    ///
    /// # Errors
    /// Returns an error if the receiver was dropped.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        match &self.side {
            Side::Outside(sender) => sender.send(t),
            Side::InRun(in_run) => in_run.send(t, Site::caller()),
        }
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        Sender { side: self.side.clone() }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The sending side of a [`sync_channel`], as [`std::sync::mpsc::SyncSender`].
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::sync_channel(2);
/// sender.clone().send(1).unwrap();
/// drop(sender);
/// assert_eq!(receiver.iter().count(), 1);
/// ```
pub struct SyncSender<T> {
    side: Side<real::SyncSender<T>, T>,
}

impl<T> SyncSender<T> {
    /// Sends a message, waiting while the channel is full, as [`std::sync::mpsc::SyncSender::send`].
    ///
    /// ```
    /// let (sender, receiver) = raddle::sync::mpsc::sync_channel(1);
    /// assert_eq!(sender.send(1), Ok(()));
    /// drop(receiver);
    /// assert!(sender.send(2).is_err());
    /// ```
    ///
    /// # Errors
    /// Returns an error if the receiver was dropped.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        match &self.side {
            Side::Outside(sender) if port::active() => match sender.try_send(t) {
                Ok(()) => Ok(()),
                Err(TrySendError::Disconnected(t)) => Err(SendError(t)),
                Err(TrySendError::Full(_)) => waits_for_outside(),
            },
            Side::Outside(sender) => sender.send(t),
            Side::InRun(in_run) => in_run.send(t, Site::caller()),
        }
    }

    /// Sends a message if the channel is not full, as [`std::sync::mpsc::SyncSender::try_send`].
    ///
    /// ```
    /// let (sender, receiver) = raddle::sync::mpsc::sync_channel(1);
    /// assert!(sender.try_send(1).is_ok());
    /// assert!(sender.try_send(2).is_err());
    /// assert_eq!(receiver.recv(), Ok(1));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the channel is full or the receiver was dropped.
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        match &self.side {
            Side::Outside(sender) => sender.try_send(t),
            Side::InRun(in_run) => in_run.try_send(t, Site::caller()),
        }
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> SyncSender<T> {
        SyncSender { side: self.side.clone() }
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

/// The receiving side of a channel, as [`std::sync::mpsc::Receiver`].
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::channel();
/// sender.send(1).unwrap();
/// drop(sender);
/// assert_eq!((receiver.recv().ok(), receiver.recv().ok()), (Some(1), None));
/// ```
pub struct Receiver<T> {
    side: ReceiverSide<T>,
    /// A receiver must not be shared between threads.
    _not_sync: PhantomData<Cell<()>>,
}

enum ReceiverSide<T> {
    /// Of a channel that was created outside any run.
    Outside(real::Receiver<T>),
    /// Of a channel of a run, created at this place.
    InRun(Arc<Shared<T>>, Site),
}

impl<T> Receiver<T> {
    fn outside(receiver: real::Receiver<T>) -> Receiver<T> {
        Receiver { side: ReceiverSide::Outside(receiver), _not_sync: PhantomData }
    }

    fn in_run(shared: Arc<Shared<T>>, site: Site) -> Receiver<T> {
        Receiver { side: ReceiverSide::InRun(shared, site), _not_sync: PhantomData }
    }

    /// Waits for a message, as [`std::sync::mpsc::Receiver::recv`].
    ///
    /// ```
    /// let (sender, receiver) = raddle::sync::mpsc::channel();
    /// raddle::thread::spawn(move || sender.send(1));
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert!(receiver.recv().is_err());
    /// ```
    ///
    /// # Errors
    /// Returns an error if all senders were dropped and there is no message left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(Site::caller())
    }

    fn receive(&self, site: Site) -> Result<T, RecvError> {
        match &self.side {
            ReceiverSide::Outside(receiver) if port::active() => match receiver.try_recv() {
                Ok(value) => Ok(value),
                Err(TryRecvError::Disconnected) => Err(RecvError),
                Err(TryRecvError::Empty) => waits_for_outside(),
            },
            ReceiverSide::Outside(receiver) => receiver.recv(),
            ReceiverSide::InRun(shared, _) => match shared.submit(RECEIVE, site) {
                Effect::Yes => Ok(shared.take()),
                Effect::Closed => Err(RecvError),
                other => unexpected(other),
            },
        }
    }

    /// Receives a message if there is one, as [`std::sync::mpsc::Receiver::try_recv`].
    ///
    /// ```
    /// let (sender, receiver) = raddle::sync::mpsc::channel();
    /// assert!(receiver.try_recv().is_err());
    /// sender.send(1).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no message.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.try_receive(Site::caller())
    }

    fn try_receive(&self, site: Site) -> Result<T, TryRecvError> {
        match &self.side {
            ReceiverSide::Outside(receiver) => receiver.try_recv(),
            ReceiverSide::InRun(shared, _) => match shared.submit(TRY_RECEIVE, site) {
                Effect::Yes => Ok(shared.take()),
                Effect::No => Err(TryRecvError::Empty),
                Effect::Closed => Err(TryRecvError::Disconnected),
                other => unexpected(other),
            },
        }
    }

    /// Waits for a message or a timeout, as [`std::sync::mpsc::Receiver::recv_timeout`].
    ///
    /// Inside a check the wait may time out at any moment at which there is no message.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = raddle::sync::mpsc::channel();
    /// assert!(receiver.recv_timeout(Duration::from_millis(1)).is_err());
    /// sender.send(1).unwrap();
    /// assert_eq!(receiver.recv_timeout(Duration::from_secs(9)), Ok(1));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the wait times out, or all senders were dropped and there is no message left.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.side {
            ReceiverSide::Outside(receiver) => receiver.recv_timeout(timeout),
            ReceiverSide::InRun(shared, _) => match shared.submit(RECEIVE_TIMED, Site::caller()) {
                Effect::Yes => Ok(shared.take()),
                Effect::No => {
                    crate::time::pass(timeout);
                    Err(RecvTimeoutError::Timeout)
                }
                Effect::Closed => Err(RecvTimeoutError::Disconnected),
                other => unexpected(other),
            },
        }
    }

    /// Returns an iterator that waits for messages until all senders were dropped, as [`std::sync::mpsc::Receiver::iter`].
    ///
    /// ```
    /// let (sender, receiver) = raddle::sync::mpsc::channel();
    /// (0..3).for_each(|n| sender.send(n).unwrap());
    /// drop(sender);
    /// assert_eq!(receiver.iter().sum::<i32>(), 3);
    /// ```
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self, Site::caller())
    }

    /// Returns an iterator over the messages that have been sent, which does not wait, as [`std::sync::mpsc::Receiver::try_iter`].
    ///
    /// ```
    /// let (sender, receiver) = raddle::sync::mpsc::channel();
    /// (0..3).for_each(|n| sender.send(n).unwrap());
    /// assert_eq!(receiver.try_iter().sum::<i32>(), 3);
    /// assert_eq!(receiver.try_iter().next(), None);
    /// ```
    #[track_caller]
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter::new(self, Site::caller())
    }
}

impl<T> Drop for ReceiverSide<T> {
    fn drop(&mut self) {
        if let ReceiverSide::InRun(shared, site) = self {
            shared.drop_receiver(*site);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Panics because a thread of a run would have to wait for an OS thread outside it.
#[cold]
fn waits_for_outside() -> ! {
    panic!(
        "raddle: a thread waits for a channel that was created outside the check; no thread inside can \
         end the wait. Create the channel inside the check."
    )
}
