//! The run the caller is part of, looked up once for several questions.

use raddle_core::{Site, ThreadId};

use super::{Port, port};
use crate::blocks::Blocks;
use crate::{Body, bare};

/// The port of a run, on its OS thread.
#[derive(Copy, Clone)]
pub struct Inside(&'static Port);

/// The run the caller is part of, if any.
#[inline(always)]
pub fn inside() -> Option<Inside> {
    let port = port();
    if bare::get!(port.epoch: u64) == 0 { None } else { Some(Inside(port)) }
}

impl Inside {
    /// As [`run_number`](super::run_number).
    #[inline(always)]
    pub fn run_number(self) -> u64 {
        bare::get!(self.0.epoch: u64)
    }

    /// As [`spawn`](super::spawn).
    #[inline(always)]
    pub fn spawn(self, body: Body, site: Site) -> ThreadId {
        self.0.spawn(body, site)
    }

    /// As [`join`](super::join).
    #[inline(always)]
    pub fn join(self, thread: ThreadId, site: Site) {
        self.0.join(thread, site);
    }

    #[inline(always)]
    pub(crate) fn blocks(self) -> &'static Blocks {
        &self.0.blocks
    }
}
