//! A device, and the queue that its law reads.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use machine::netlink::{Device, Devices, QdiscLimit, RootQdisc};
use scenario::Problem;
use serde::{Deserialize, Serialize};

use crate::error::DeployError;
use crate::settings::ETHERNET;

/// The identity of a law's place. Numbers of namespaces and devices are reused, and names change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct DeviceId {
    /// The number of the network namespace.
    pub(crate) namespace: u64,
    /// The name that the user gave; empty for that of the command.
    pub(crate) netns: String,
    pub(crate) device: u32,
    pub(crate) name: String,
}

/// The queue at the time of attaching, by which a later change is seen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Root {
    pub(crate) kind: String,
    pub(crate) handle: u32,
    /// Its size in bytes, if stated.
    pub(crate) room: Option<u64>,
}

/// A device of the namespace of this thread with its queue.
pub(crate) struct FoundDevice {
    pub(crate) place: DeviceId,
    pub(crate) device: Device,
    pub(crate) root: Root,
}

impl DeviceId {
    /// The device of this name in the namespace of this thread, whose name is `netns`.
    pub(crate) fn find(netns: &str, name: &str) -> Result<(Self, Device), DeployError> {
        let device = Devices::open()?.named(name)?;
        let device = device.ok_or_else(|| missing(netns, name))?;
        let place = Self {
            namespace: namespace()?,
            netns: netns.to_owned(),
            device: device.index,
            name: device.name.clone(),
        };
        Ok((place, device))
    }

    /// The name of the device for people: with its namespace, if one was given.
    pub(crate) fn told(&self) -> String {
        match self.netns.as_str() {
            "" => self.name.clone(),
            netns => format!("{} in {netns}", self.name),
        }
    }
}

impl FoundDevice {
    /// The device of this name, if its queue is one that a program can read.
    pub(crate) fn find(netns: &str, name: &str) -> Result<Self, DeployError> {
        let (place, device) = DeviceId::find(netns, name)?;
        let queue = Devices::open()?.queue(device.index)?;
        if let Some(why) = unreadable(&device, queue.as_ref()) {
            let problem = Problem::new(why).help(format!(
                "name the device whose queue fills with --queue-of, or add a queue: tc qdisc replace dev {name} root tbf \
                 rate 950mbit burst 16k limit 256k"
            ));
            return Err(problem.into());
        }
        let queue = queue.ok_or_else(|| missing(netns, name))?;
        let root = Root::of(&queue, device.mtu);
        Ok(Self {
            place,
            device,
            root,
        })
    }

    /// Size of the queue in bytes: the given one, otherwise the queue's own.
    pub(crate) fn buffer(&self, given: Option<u64>) -> Result<u64, DeployError> {
        given.or(self.root.room).ok_or_else(|| {
            let (kind, name) = (&self.root.kind, &self.place.name);
            let text = format!("the queue of {name}, {kind}, does not report its limit in bytes");
            Problem::new(text)
                .help("give its limit, as in --buffer 256KB")
                .into()
        })
    }
}

impl Root {
    /// Reads `queue` in front of a device with packets of at most `mtu`.
    pub(crate) fn of(queue: &RootQdisc, mtu: u32) -> Self {
        let room = queue.limit.map(|limit| match limit {
            QdiscLimit::Bytes(bytes) => bytes.into(),
            QdiscLimit::Packets(packets) => u64::from(packets) * u64::from(mtu + ETHERNET),
        });
        Self {
            kind: queue.kind.clone(),
            handle: queue.handle,
            room,
        }
    }

    pub(crate) fn told(&self) -> String {
        match self.room {
            Some(room) => format!("{} with room for {room} bytes", self.kind),
            None => self.kind.clone(),
        }
    }
}

/// The number of the network namespace of this thread.
pub(crate) fn namespace() -> io::Result<u64> {
    Ok(File::open("/proc/thread-self/ns/net")?.metadata()?.ino())
}

fn missing(netns: &str, name: &str) -> Problem {
    let inside = match netns {
        "" => "this network namespace".to_owned(),
        netns => format!("the namespace {netns}"),
    };
    let problem = Problem::new(format!("{inside} has no device {name}"));
    problem.help("`ip link` lists devices; --netns names another network namespace")
}

/// Why no program can read the length of a device's queue, if that is so.
pub(crate) fn unreadable(device: &Device, queue: Option<&RootQdisc>) -> Option<String> {
    let name = &device.name;
    match (device.kind.as_str(), queue) {
        (kind @ ("bond" | "team"), _) => {
            let text = format!("{name} is a {kind}: its packets wait at the devices below it");
            Some(text)
        }
        (_, None) => Some(format!("{name} has no queue: nothing waits there")),
        (_, Some(queue)) => UNREADABLE.contains(&queue.kind.as_str()).then(|| {
            let kind = &queue.kind;
            format!("the queue of {name} is {kind}, which does not report its total length")
        }),
    }
}

/// Root queues whose bytes are counted in their parts, or by processor.
const UNREADABLE: [&str; 7] = [
    "mq",
    "multiq",
    "mqprio",
    "taprio",
    "pfifo_fast",
    "noop",
    "ingress",
];
