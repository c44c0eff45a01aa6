//! A law that stays when the process ends: its programs, found again by their pinned files.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use libbpf_rs::query::{LinkInfo, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{Link, MapHandle, Program};

use crate::error::LoadError;
use crate::maps::Maps;
use crate::port::{Direction, Port};

/// The programs that the files of one folder pin at a device.
#[derive(Debug)]
pub struct Pinned {
    folder: PathBuf,
    hooks: Vec<(Direction, Link)>,
}

/// A program at a hook, as the kernel lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttachedProgram {
    /// Which way its packets go.
    pub way: Direction,
    /// The number of the link.
    pub link: u32,
    /// The number of the program.
    pub program: u32,
    /// The kernel's hash of its instructions.
    pub tag: String,
    /// The device; `None` if it is gone, or if the program was detached.
    pub device: Option<u32>,
}

impl Pinned {
    /// Opens the pins in `folder`, if there are any.
    pub fn open(folder: &Path) -> Result<Option<Self>, LoadError> {
        let mut hooks = Vec::new();
        for way in Direction::BOTH {
            let file = folder.join(way.name());
            if file.exists() {
                let link = Link::open(&file);
                let link = link.map_err(|error| LoadError::Refused("open a pin", error))?;
                hooks.push((way, link));
            }
        }
        let folder = folder.to_owned();
        Ok((!hooks.is_empty()).then_some(Self { folder, hooks }))
    }

    /// The program at each hook.
    pub fn standing(&self) -> Result<Vec<AttachedProgram>, LoadError> {
        let standing = self.hooks.iter().map(|(way, link)| {
            let info = info(link)?;
            let program = program(info.prog_id)?;
            Ok(AttachedProgram {
                way: *way,
                link: info.id,
                program: info.prog_id,
                tag: tag(&program),
                device: device(&info),
            })
        });
        standing.collect()
    }

    /// The maps of the program for data packets.
    pub fn maps(&self) -> Result<Maps, LoadError> {
        let (_, link) = self.hooks.first().ok_or(LoadError::Lacks("pin"))?;
        let program = program(info(link)?.prog_id)?;
        let maps = program.map_ids.into_iter().map(MapHandle::from_map_id);
        let maps = maps.collect::<Result<_, _>>();
        Maps::among(maps.map_err(|error| LoadError::Refused("open a map", error))?)
    }

    /// Replaces the program at this hook by another law's program in one step: every packet passes either the old or
    /// the new one. Returns whether both laws have a program there.
    pub fn replace(&mut self, way: Direction, port: &Port) -> Result<bool, LoadError> {
        let link = self.hooks.iter_mut().find(|(own, _)| *own == way);
        let (Some((_, link)), Some(program)) = (link, port.program(way)) else {
            return Ok(false);
        };
        let replaced = link.update_prog(&program);
        replaced.map_err(|error| LoadError::Refused("replace a program", error))?;
        Ok(true)
    }

    /// Removes the program of this direction, if there is one. It acts on no further packet.
    pub fn remove(&mut self, way: Direction) -> io::Result<()> {
        let Some(place) = self.hooks.iter().position(|(own, _)| *own == way) else {
            return Ok(());
        };
        // A link of a removed device is detached already.
        drop(self.hooks.remove(place).1.detach());
        fs::remove_file(self.folder.join(way.name()))
    }

    /// The direction, the link and the program at each hook. Unlike [`Self::standing`], this needs no privileges.
    pub fn numbers(&self) -> Result<Vec<(Direction, u32, u32)>, LoadError> {
        let number = |(way, link): &(Direction, Link)| {
            let info = info(link)?;
            Ok((*way, info.id, info.prog_id))
        };
        self.hooks.iter().map(number).collect()
    }

    /// Whether all programs are attached. Unlike [`Self::standing`], this needs no privileges.
    pub fn is_attached(&self) -> bool {
        let mut hooks = self.hooks.iter();
        hooks.all(|(_, link)| info(link).is_ok_and(|info| device(&info).is_some()))
    }
}

impl Port {
    /// The numbers and tags of its programs.
    pub fn programs(&self) -> Result<Vec<(Direction, u32, String)>, LoadError> {
        let programs = Direction::BOTH.into_iter().filter_map(|way| {
            let number = Program::id_from_fd(self.program(way)?.as_fd());
            let number = number.map_err(|error| LoadError::Refused("describe a program", error));
            Some(number.and_then(|number| Ok((way, number, tag(&program(number)?)))))
        });
        programs.collect()
    }
}

/// The device of a link, unless it is gone.
fn device(info: &LinkInfo) -> Option<u32> {
    match info.info {
        LinkTypeInfo::Tcx(ref tcx) => Some(tcx.ifindex).filter(|device| *device > 0),
        _ => None,
    }
}

fn tag(program: &ProgramInfo) -> String {
    program.tag.0.map(|byte| format!("{byte:02x}")).concat()
}

fn info(link: &Link) -> Result<LinkInfo, LoadError> {
    let info = link.info();
    info.map_err(|error| LoadError::Refused("describe a link", error))
}

/// The program with this number.
fn program(number: u32) -> Result<ProgramInfo, LoadError> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let mut all = ProgInfoIter::with_query_opts(options);
    all.find(|program| program.id == number)
        .ok_or(LoadError::Lacks("program at its link"))
}
