//! Algorithms of the caller's own, in place of a named strategy.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use raddle_core::{Choices, Chooser};
use raddle_strategy::Sampler;

use crate::replay::Stop;
use crate::{Explorer, Repeat};

/// An algorithm of the caller's own.
///
/// It is given as a function that makes it from a seed, because one check may need several.
#[derive(Clone)]
pub struct Custom {
    name: Cow<'static, str>,
    make: Make,
}

type MakeChooser = Arc<dyn Fn(u64) -> Box<dyn Chooser> + Send + Sync>;

#[derive(Clone)]
enum Make {
    Chooser(MakeChooser),
    Explorer(Arc<dyn Fn(u64) -> Box<dyn Explorer> + Send + Sync>),
}

impl Custom {
    /// Samples with a new chooser for every run. A run depends on nothing but the chooser's seed.
    pub fn chooser<C, F>(make: F) -> Custom
    where
        C: Chooser + 'static,
        F: Fn(u64) -> C + Send + Sync + 'static,
    {
        let make = Arc::new(move |seed| Box::new(make(seed)) as Box<dyn Chooser>);
        Custom { name: name_of::<C>(), make: Make::Chooser(make) }
    }

    /// Makes the runs of an explorer.
    pub fn explorer<E, F>(make: F) -> Custom
    where
        E: Explorer + 'static,
        F: Fn(u64) -> E + Send + Sync + 'static,
    {
        let make = Arc::new(move |seed| Box::new(make(seed)) as Box<dyn Explorer>);
        Custom { name: name_of::<E>(), make: Make::Explorer(make) }
    }

    /// Returns the word that stands for the algorithm in reports: the name of its type.
    pub fn word(&self) -> Cow<'static, str> {
        self.name.clone()
    }

    /// Returns a new sampler. `None` if the algorithm is an explorer.
    pub(crate) fn sampler(&self) -> Option<Box<dyn Sampler>> {
        match &self.make {
            Make::Chooser(make) => Some(Box::new(Fresh::new(make))),
            Make::Explorer(_) => None,
        }
    }

    /// Returns a new explorer.
    pub(crate) fn make_explorer(&self, seed: u64) -> Box<dyn Explorer> {
        match &self.make {
            Make::Chooser(make) => Box::new(Repeat::new(Fresh::new(make), seed)),
            Make::Explorer(make) => make(seed),
        }
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({})", self.name)
    }
}

/// A new chooser for every run.
struct Fresh {
    make: MakeChooser,
    chooser: Box<dyn Chooser>,
}

impl Fresh {
    fn new(make: &MakeChooser) -> Fresh {
        Fresh { make: make.clone(), chooser: Box::new(Stop::default()) }
    }
}

impl Sampler for Fresh {
    fn begin(&mut self, seed: u64) {
        self.chooser = (self.make)(seed);
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut *self.chooser)
    }

    fn independent_runs(&self) -> bool {
        true
    }
}

/// Returns the name of a type without its path and parameters.
fn name_of<T>() -> Cow<'static, str> {
    let name = std::any::type_name::<T>();
    let name = name.split('<').next().unwrap_or(name);
    Cow::Borrowed(name.rsplit("::").next().unwrap_or(name))
}
