//! How endpoints and hosts reach the roles that they have.

use crate::cc::SenderCc;
use crate::receiver_cc::ReceiverCc;

/// Something that plays a role: a type that is the role, or a choice among several such types.
///
/// Endpoints and hosts call the role that this returns. So a choice lists its types once and no method of
/// the role, and none can be forgotten. Where the type is known, nothing is virtual after inlining.
pub trait Plays<Role: ?Sized> {
    /// The role.
    fn as_role(&self) -> &Role;

    /// The role, to be told of events.
    fn as_role_mut(&mut self) -> &mut Role;

    /// Does something with the role. A choice among types may try its most frequent one first: a call on a known type
    /// is not virtual.
    #[inline(always)]
    fn tell<T>(&mut self, event: impl FnOnce(&mut Role) -> T) -> T {
        event(self.as_role_mut())
    }
}

impl<R: SenderCc + 'static> Plays<dyn SenderCc> for R {
    #[inline(always)]
    fn as_role(&self) -> &(dyn SenderCc + 'static) {
        self
    }

    #[inline(always)]
    fn as_role_mut(&mut self) -> &mut (dyn SenderCc + 'static) {
        self
    }
}

impl<R: ReceiverCc + 'static> Plays<dyn ReceiverCc> for R {
    #[inline(always)]
    fn as_role(&self) -> &(dyn ReceiverCc + 'static) {
        self
    }

    #[inline(always)]
    fn as_role_mut(&mut self) -> &mut (dyn ReceiverCc + 'static) {
        self
    }
}
