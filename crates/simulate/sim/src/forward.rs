//! Forwards calls from one probe to others.
//!
//! The methods that report something are listed once each: a method that is added to [`Probe`](crate::probe::Probe) or
//! [`Follow`](crate::probe::Follow) needs one more line here to be forwarded by all probes.

/// Implements [`Probe`](crate::probe::Probe) by forwarding to other probes: to `both` fields of a type, in their order;
/// to an option, `if_any`; or `through` a pointer. Generic parameters are in brackets.
macro_rules! forward {
    (@both [$($generics:tt)*] $type:ty, $first:tt, $second:tt;
     $($method:ident ( $($argument:ident : $kind:ty),* ) ;)*) => {
        impl<$($generics)*> $crate::probe::Probe for $type {
            $(#[inline(always)]
            fn $method(&mut self, $($argument: $kind),*) {
                self.$first.$method($($argument),*);
                self.$second.$method($($argument),*);
            })*

            fn has_failed(&self) -> bool {
                self.$first.has_failed() || self.$second.has_failed()
            }

            fn keeps_ends(&self) -> bool {
                self.$first.keeps_ends() || self.$second.keeps_ends()
            }
        }
    };
    (@if_any [$($generics:tt)*] $type:ty; $($method:ident ( $($argument:ident : $kind:ty),* ) ;)*) => {
        impl<$($generics)*> $crate::probe::Probe for $type {
            $(#[inline(always)]
            fn $method(&mut self, $($argument: $kind),*) {
                if let Some(probe) = self {
                    probe.$method($($argument),*);
                }
            })*

            fn has_failed(&self) -> bool {
                self.as_ref().is_some_and($crate::probe::Probe::has_failed)
            }

            fn keeps_ends(&self) -> bool {
                self.as_ref().is_some_and($crate::probe::Probe::keeps_ends)
            }
        }
    };
    (@through [] $type:ty; $($method:ident ( $($argument:ident : $kind:ty),* ) ;)*) => {
        impl $crate::probe::Probe for $type {
            $(#[inline(always)]
            fn $method(&mut self, $($argument: $kind),*) {
                (**self).$method($($argument),*);
            })*

            fn has_failed(&self) -> bool {
                (**self).has_failed()
            }

            fn keeps_ends(&self) -> bool {
                (**self).keeps_ends()
            }

            fn branch(&self) -> Option<Box<dyn $crate::probe::Branch>> {
                (**self).branch()
            }

            fn join(&mut self, branch: Box<dyn $crate::probe::Branch>) {
                (**self).join(branch);
            }
        }
    };
    ($way:ident $($of:tt)*) => {
        forward! { @$way $($of)*;
            on_hop(port: fabric::PortId, packet: &base::Packet, now: base::Time);
            on_level(port: fabric::PortId, waiting: u64, at: base::Time);
            on_accept(port: fabric::PortId, packet: &base::Packet, now: base::Time);
            on_mark(port: fabric::PortId, packet: &base::Packet, now: base::Time);
            on_drop(port: fabric::PortId, packet: &base::Packet, reason: fabric::DropReason, now: base::Time);
            on_lost(port: fabric::PortId, packet: &base::Packet, reason: fabric::DropReason, now: base::Time);
            on_pause(port: fabric::PortId, class: u8, paused: bool, now: base::Time);
            on_hook(port: fabric::PortId, hook: &dyn fabric::SwitchHook, at: base::Time);
            on_start(flow: base::FlowId, now: base::Time);
            on_completion(flow: base::FlowId, now: base::Time);
            on_endpoint(end: $crate::probe::End, endpoint: &tcp::Endpoint<schemes::Sender>, now: base::Time);
            on_host(host: base::HostId, state: &tcp::Host<schemes::Sender, schemes::Receiver>, now: base::Time);
            on_revocation(flow: base::FlowId, at: base::Time);
            on_end(now: base::Time);
        }
    };
}

/// Forwards calls of [`Follow`](crate::probe::Follow) to the follower in a field, if there is one. The implementation
/// writes the other methods itself.
macro_rules! follow {
    ($field:ident) => {
        fn begin(
            &mut self,
            network: &fabric::Network,
            header_bytes: u32,
            receivers: impl Iterator<Item = base::HostId>,
            flows: usize,
        ) {
            if let Some(next) = &mut self.$field {
                next.begin(network, header_bytes, receivers, flows);
            }
        }

        fn take(&mut self) -> Vec<Option<Box<$crate::parts::Breakdown>>> {
            let next = self.$field.as_mut();
            next.map_or_else(Vec::new, $crate::probe::Follow::take)
        }

        follow! { $field;
            on_message_end(of: base::FlowId, id: u32, now: base::Time);
            on_send(packet: &base::Packet, now: base::Time);
            on_arrival(port: fabric::PortId, packet: &base::Packet);
            on_release();
            on_delivery(packet: &base::Packet, now: base::Time);
            on_gone(of: base::FlowId);
        }
    };
    ($field:ident; $($method:ident ( $($argument:ident : $kind:ty),* ) ;)*) => {
        $(#[inline(always)]
        fn $method(&mut self, $($argument: $kind),*) {
            if let Some(next) = &mut self.$field {
                next.$method($($argument),*);
            }
        })*
    };
}
