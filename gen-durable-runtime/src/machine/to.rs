use std::{fmt, marker::PhantomData};

use super::{IntoKey, Keyed, Machine};
use crate::model::{InstanceId, Target};

/// Another instance of machine `M`, as an outcome addresses it: by its id or its business key.
///
/// ```ignore
/// Ok(done(receipt).signal(&To::<Checkout>::key(order), Shipped { parcel }))
/// ```
pub struct To<M> {
    target: Target,
    _machine: PhantomData<fn() -> M>,
}

impl<M> To<M> {
    /// The instance that occupies this business key when the outcome is committed.
    pub fn key(key: impl IntoKey<M::Key>) -> Self
    where
        M: Keyed,
    {
        Self { target: Target::Key(M::business_key(key)), _machine: PhantomData }
    }

    /// The instance with this id.
    pub fn id(id: InstanceId) -> Self
    where
        M: Machine,
    {
        Self { target: Target::Id(id), _machine: PhantomData }
    }

    /// Whom it addresses.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

impl<M> Clone for To<M> {
    fn clone(&self) -> Self {
        Self { target: self.target.clone(), _machine: PhantomData }
    }
}

impl<M> fmt::Debug for To<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("To").field(&self.target).finish()
    }
}
