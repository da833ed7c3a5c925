//! The registration of a snapshot's timestamp, which several snapshots of that timestamp may share.

use std::sync::Arc;

use hedgerow_core::sync::Mutex;
use hedgerow_txn::Registration;

use crate::state::reclaim::close_reader;
use crate::state::store::Engine;

/// A registration that belongs to one snapshot until it is shared. So opening a snapshot allocates no memory
/// for it.
pub(super) struct HeldRegistration {
    holder: Mutex<Holder>,
}

enum Holder {
    Alone(Registration),
    Shared(Arc<SharedRegistration>),
    /// The registration has ended.
    Nobody,
}

/// A registration that ends with the last snapshot that holds it.
struct SharedRegistration {
    engine: Arc<Engine>,
    registration: Option<Registration>,
}

impl Drop for SharedRegistration {
    fn drop(&mut self) {
        // In a forked child the registry belongs to the parent.
        if let Some(registration) = self.registration.take().filter(|_| !self.engine.is_forked()) {
            close_reader(&self.engine, registration);
        }
    }
}

impl HeldRegistration {
    pub(super) fn new(registration: Registration) -> HeldRegistration {
        HeldRegistration { holder: Mutex::new(Holder::Alone(registration)) }
    }

    /// Returns the same registration for another snapshot. It ends when the last snapshot with it is dropped.
    pub(super) fn share(&self, engine: &Arc<Engine>) -> HeldRegistration {
        let mut holder = self.holder.lock();
        let shared = match std::mem::replace(&mut *holder, Holder::Nobody) {
            Holder::Alone(registration) => {
                Arc::new(SharedRegistration { engine: engine.clone(), registration: Some(registration) })
            }
            Holder::Shared(shared) => shared,
            // Only the drop of the snapshot ends its registration.
            Holder::Nobody => unreachable!("a snapshot that is open is registered"),
        };
        *holder = Holder::Shared(shared.clone());
        HeldRegistration { holder: Mutex::new(Holder::Shared(shared)) }
    }

    /// Ends the registration, unless other snapshots share it.
    pub(super) fn end(&mut self, engine: &Engine) {
        let holder = std::mem::replace(&mut *self.holder.lock(), Holder::Nobody);
        if let Holder::Alone(registration) = holder {
            close_reader(engine, registration);
        }
    }
}
