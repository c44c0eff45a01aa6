//! Settings with a few named values.

base::choices! {
    /// The shape of the network.
    pub enum TopologyKind {
        /// Every host on one switch: the queue in front of the receiver is the bottleneck.
        Star = "star",
        /// Senders on one switch, receivers on another, one link between the two.
        Dumbbell = "dumbbell",
        /// Several switches in a row, hosts at each.
        Chain = "chain",
        /// Racks of hosts, each with a switch below one root switch.
        Tree = "tree",
        /// Racks of hosts, each with a leaf switch that has a link to every spine switch.
        LeafSpine = "leaf-spine",
        /// Pods of edge and aggregation switches below core switches, all with the same number of ports.
        FatTree = "fat-tree",
        /// Switches and links as on a map, such as that of a wide-area network, hosts at every switch.
        Graph = "graph",
    }
}

base::choices! {
    /// Which nodes of a graph take part.
    pub enum GraphPart {
        /// All; a graph in which some cannot reach each other is refused.
        Whole = "whole",
        /// Those of the largest part whose nodes can all reach each other.
        Largest = "largest",
    }
}

base::choices! {
    /// What the weight of a link of a graph means.
    pub enum LinkWeight {
        /// Nothing that the simulation uses: a cost of routing, for example.
        None = "none",
        /// Kilometres of fibre.
        Kilometres = "km",
        /// Milliseconds of delay, one way.
        Milliseconds = "ms",
        /// Microseconds of delay, one way.
        Microseconds = "us",
    }
}

base::choices! {
    /// How packets spread over paths of equal length.
    pub enum Ecmp {
        /// By a hash of the connection that is the same in both directions: ACKs come back the way the data went.
        Symmetric = "symmetric",
        /// By a hash of connection, direction and switch: ACKs come back another way than the data went.
        Flow = "flow",
        /// Every packet for itself, whatever its connection.
        Packet = "packet",
        /// Not at all: there is one path between two hosts, the same in both directions.
        Off = "off",
        /// Not at all, and every switch for itself: it takes the first of its links that lead nearer, in their order, so that ACKs may come back another way.
        First = "first",
    }
}

base::choices! {
    /// The unit in which a queue counts for its limit and its threshold.
    pub enum QueueUnit {
        /// Bytes on the wire.
        Bytes = "bytes",
        /// Packets, whatever their size.
        Packets = "packets",
    }
}

base::choices! {
    /// Which data packets a lossy link loses.
    pub enum LossPattern {
        /// Each with the same probability, independently of all others, drawn from the seed.
        Random = "random",
        /// Runs of packets, drawn from the seed, with bottleneck.loss_burst in a row on average (Gilbert's model).
        Bursts = "bursts",
        /// Every n-th, where n is 1 / loss rounded to a whole number.
        Periodic = "periodic",
    }
}

base::choices! {
    /// Who sends to whom.
    pub enum WorkloadKind {
        /// Every sender sends one flow to one receiver, or to each of workload.receivers.
        Incast = "incast",
        /// Sender i sends one flow to receiver i.
        Pairs = "pairs",
        /// Flows arrive at each receiver as a Poisson process, each from a random sender; or workload.fan_in of them together, as an incast.
        Poisson = "poisson",
        /// Every host that sends starts one flow to every other host that receives.
        Burst = "burst",
        /// Receivers ask senders for flows, each connection again when it has got the last one.
        Requests = "requests",
        /// Ranks send in the steps of workload.collective, each message when those that it waits for have arrived.
        Collective = "collective",
        /// Every flow of workload.trace: a table of starts, sizes and hosts.
        Trace = "trace",
    }
}

base::choices! {
    /// Which connection carries a flow.
    pub enum ConnectionKind {
        /// One of its own, which opens when the flow starts and closes behind it.
        New = "new",
        /// One that was opened before the first flow starts and carries one flow after the other.
        Persistent = "persistent",
    }
}

base::choices! {
    /// Of which links a load is a share.
    pub enum LoadOf {
        /// The links of the receiving hosts.
        Receivers = "receivers",
        /// The links from the senders' racks to other racks, by the flows that take them.
        Uplinks = "uplinks",
        /// The links of the sending hosts, all together and by payload alone: flows arrive in one Poisson process.
        Hosts = "hosts",
    }
}

base::choices! {
    /// To whom random flows go.
    pub enum PeerKind {
        /// Any host but the sender.
        Any = "any",
        /// A host of another rack.
        OtherRacks = "other-racks",
    }
}

base::choices! {
    /// Which queue decides about a congestion mark.
    pub enum EcnAt {
        /// The one that a packet finds when it arrives.
        Arrival = "arrival",
        /// The one that it leaves behind when its transmission begins.
        Departure = "departure",
    }
}

base::choices! {
    /// How the network card of a host queues.
    pub enum HostQueue {
        /// First in, first out, in the room of host.buffer.
        Own = "own",
        /// Like an output queue of a switch: switch.buffer, marks, and what the scheme does in switches. ns-2 makes both ends of a link alike.
        Switch = "switch",
    }
}

base::choices! {
    /// How much of its buffer a receiver offers.
    pub enum ReceiveWindow {
        /// All of it.
        Buffer = "buffer",
        /// 64 KiB at first, and then twice what its application reads in a round trip.
        Grows = "grows",
    }
}

base::choices! {
    /// The consequences of a SYN or SYN-ACK that had to be sent again.
    pub enum AfterSynLoss {
        /// A first window of one segment, and no sample of the round trip.
        Rfc5681 = "rfc5681",
        /// Less: a timestamp may tell more, and one copy changes no window.
        Linux = "linux",
    }
}

base::choices! {
    /// The window of a connection after a pause.
    pub enum IdleWindow {
        /// The initial one, whatever the pause.
        Initial = "initial",
        /// Half of what it was for each timeout of the pause but the first.
        Halves = "halves",
    }
}

base::choices! {
    /// What shows a segment to be lost.
    pub enum LossDetection {
        /// Three duplicate ACKs, or with SACK three segments reported above it.
        DupAcks = "dupacks",
        /// The delivery of a segment that was sent later.
        Rack = "rack",
        /// The same, with the round trip that Linux takes for it.
        RackLinux = "rack-linux",
    }
}

base::choices! {
    /// When the end of a flight is probed.
    pub enum TailLossProbe {
        /// Never: a loss there waits for the timer.
        Off = "off",
        /// After two round trips; with one segment in flight later by tcp.delayed_ack_timeout.
        Rfc8985 = "rfc8985",
        /// After two round trips; with one segment in flight later by tcp.min_rto.
        Linux = "linux",
    }
}

base::choices! {
    /// How a window moves to its new size after a loss.
    pub enum Recovery {
        /// At once.
        Rfc6675 = "rfc6675",
        /// In proportion to what is delivered.
        Prr = "prr",
    }
}

base::choices! {
    /// What the new window after a loss is a share of.
    pub enum SsthreshOf {
        /// The bytes sent and not acknowledged.
        Flight = "flight",
        /// The congestion window.
        Window = "window",
        /// The bytes thought to be in the network.
        Pipe = "pipe",
    }
}

base::choices! {
    /// How the retransmission timeout follows from round trips.
    pub enum RtoEstimator {
        /// At least tcp.min_rto, else mean plus four deviations.
        Rfc6298 = "rfc6298",
        /// The mean plus at least tcp.min_rto.
        Linux = "linux",
    }
}

base::choices! {
    /// When timers fire.
    pub enum TimerKind {
        /// At their time.
        Exact = "exact",
        /// With the next place of a wheel.
        Wheel = "wheel",
    }
}

base::choices! {
    /// What makes windows grow.
    pub enum WindowGrowth {
        /// The ACKs of new data.
        Acks = "acks",
        /// The segments that are acknowledged.
        Segments = "segments",
        /// The segments that are known to be delivered, by SACK too.
        Delivery = "delivery",
    }
}
