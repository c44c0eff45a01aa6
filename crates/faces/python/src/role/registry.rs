//! Classes as schemes in the registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use base::setting::Key;
use pyo3::prelude::*;
use pyo3::types::PyType;
use scenario::{Problem, Problems, Scenario};
use schemes::{Origin, ParamTexts, Role, Roles, Scheme};
use tcp::{EcnMode, Gauge, SSTHRESH};

use super::class::Class;
use super::interpreter::{self, Interpreter};
use super::param::{self, Kind, Param};
use super::{hook, queue, receiver, sender};
use crate::errors::guarded;

/// The package's description of a class.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ClassDescription {
    name: String,
    summary: String,
    how: String,
    reference: String,
    /// "sender", "receiver", "queue" or "hook".
    role: String,
    /// Attribute, kind, text of the default, description.
    params: Vec<(String, String, String, String)>,
    /// Attribute, unit, description.
    gauges: Vec<(String, String, String)>,
    /// Methods that override the base class's.
    methods: BTreeSet<String>,
    marks: Option<String>,
    needs_marking: bool,
    initial_window: Option<u32>,
    random: bool,
    tcp: Vec<(String, String)>,
    /// The name of the class.
    class: String,
    /// A hash of its source.
    hash: u64,
}

/// The newest class of each name, and the number of runs that use it.
static CLASSES: RwLock<BTreeMap<&'static str, (Arc<Class>, usize)>> = RwLock::new(BTreeMap::new());

/// Held while the newest class is changed.
static TURN: Mutex<()> = Mutex::new(());

fn newest(name: &str) -> Option<Arc<Class>> {
    let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
    classes.get(name).map(|(class, _)| Arc::clone(class))
}

/// Registers a class as the scheme of its name, for scenarios that are read from now on.
#[pyfunction]
pub(crate) fn register(
    py: Python<'_>,
    class: Bound<'_, PyType>,
    given: ClassDescription,
) -> PyResult<()> {
    interpreter::helper(py)?;
    let origin = Origin {
        package: PACKAGE,
        version: leaked(&given.class),
        hash: given.hash,
    };
    let before = newest(&given.name).filter(|class| class.scheme.origin == Some(origin));
    let (scheme, gauges) = match &before {
        // The same source again, for example a notebook cell that is run again.
        Some(same) => (same.scheme, Arc::clone(&same.gauges)),
        None => scheme(&given, origin)?,
    };
    let class = Arc::new(Class {
        object: class.unbind(),
        methods: given.methods,
        scheme,
        gauges,
    });
    put(py, &class, 0)
}

/// Makes `class` the newest of its name, for this many further runs, unless a run still uses another one.
fn put(py: Python<'_>, class: &Arc<Class>, begins: usize) -> PyResult<()> {
    guarded(py, || {
        // No other class may come in between the check and the change.
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let name = class.scheme.name;
        let busy = |place: Option<&(Arc<Class>, usize)>| {
            place.is_some_and(|(other, users)| *users > 0 && !other.object.is(&class.object))
        };
        {
            let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
            if busy(classes.get(name)) {
                let problem = Problem::new(format!(
                    "a running simulation uses another class whose scheme is called {name}"
                ));
                let help = "give one of them another `name`, or wait";
                return Err(Problems::from(problem.help(help)));
            }
        }
        tailwater::register(class.scheme).map_err(|refusal| {
            let problem = Problem::new(refusal.to_string());
            Problems::from(problem.help("see tailwater.Sender for the attributes of a class"))
        })?;
        let mut classes = CLASSES.write().unwrap_or_else(PoisonError::into_inner);
        let users = classes.get(name).map_or(0, |(_, users)| *users);
        // The old class is dropped after the lock is released, because this may call Python.
        let old = classes.insert(name, (Arc::clone(class), users + begins));
        drop(classes);
        drop(old);
        Ok(())
    })
}

/// Classes that a run uses. No other class replaces them meanwhile.
pub(crate) struct Use(Vec<Arc<Class>>);

impl Use {
    /// The newest classes that `scenario` names.
    pub(crate) fn named(scenario: &Scenario) -> Vec<Arc<Class>> {
        let origins = scenario.origins();
        let ours = origins
            .iter()
            .filter(|(_, origin)| origin.package == PACKAGE);
        ours.filter_map(|(name, _)| newest(name)).collect()
    }

    pub(crate) fn begin(py: Python<'_>, used: &[Arc<Class>]) -> PyResult<Self> {
        let mut begun = Self(Vec::new());
        for class in used {
            put(py, class, 1)?;
            begun.0.push(Arc::clone(class));
        }
        Ok(begun)
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut classes = CLASSES.write().unwrap_or_else(PoisonError::into_inner);
        for class in &self.0 {
            if let Some((_, users)) = classes.get_mut(class.scheme.name) {
                *users -= 1;
            }
        }
    }
}

/// The entry of the registry. Its texts are never freed.
fn scheme(given: &ClassDescription, origin: Origin) -> PyResult<(Scheme, Arc<[&'static str]>)> {
    let name = leaked(&given.name);
    let mut keys: Vec<Key> = Vec::new();
    let mut params = Vec::new();
    for (attribute, kind, default, help) in &given.params {
        let key = leaked(&format!("{name}.{attribute}"));
        let kind = Kind::named(kind).ok_or_else(|| param::unknown(kind))?;
        keys.push(kind.key(key, leaked(help), leaked(default)));
        params.push(Param {
            name: leaked(attribute),
            key,
            kind,
        });
    }
    let role = given.role.clone();
    let mut roles = vec![match role.as_str() {
        "sender" => Role::Sender,
        "receiver" => Role::Receiver,
        "queue" => Role::Queue,
        _ => Role::Switch,
    }];
    let ecn = given.marks.as_deref().map(|marks| match marks {
        "off" => EcnMode::Off,
        "classic" => EcnMode::Classic,
        "everywhere" => EcnMode::Everywhere,
        "unechoed" => EcnMode::Unechoed,
        _ => EcnMode::Accurate,
    });
    roles.extend(ecn.map(|_| Role::Marks));
    let (gauges, traced) = gauges(given);
    let tcp = given
        .tcp
        .iter()
        .map(|(key, text)| (leaked(key), leaked(text)));
    let (initial_window, random) = (given.initial_window, given.random);
    let build = move |texts: &ParamTexts<'_>| {
        let values = Arc::new(param::read(&params, texts)?);
        // There is no class while it is being registered, and no object is made then.
        let class = newest(name);
        let mut roles = Roles {
            ecn,
            initial_window,
            random,
            hold: Some(&Interpreter),
            ..Roles::default()
        };
        match role.as_str() {
            "sender" => roles.sender = Some(sender::make(class, values)),
            "receiver" => roles.receiver = Some(receiver::make(class, values)),
            "queue" => roles.queue = Some(queue::make(class, values)),
            _ => roles.hook = Some(hook::make(class, values)),
        }
        Ok(roles)
    };
    let scheme = Scheme {
        name,
        summary: leaked(&given.summary),
        how: leaked(&given.how),
        reference: leaked(&given.reference),
        roles: roles.leak(),
        needs_marking: given.needs_marking,
        keys: keys.leak(),
        gauges: gauges.leak(),
        tcp: tcp.collect::<Vec<_>>().leak(),
        build: Box::leak(Box::new(build)),
        origin: Some(origin),
        // A class has no counterpart in Linux.
        ..Scheme::PLAIN
    };
    Ok((scheme, traced.into()))
}

/// The quantities for traces, and the attributes of the class that hold them.
fn gauges(given: &ClassDescription) -> (Vec<Gauge>, Vec<&'static str>) {
    let own = given.gauges.iter().map(|(name, unit, help)| Gauge {
        name: leaked(name),
        unit: leaked(unit),
        help: leaked(help),
    });
    let own: Vec<Gauge> = own.collect();
    let attributes = own.iter().map(|gauge| gauge.name).collect();
    // Every sender has the first one.
    let ssthresh = (given.role == "sender").then_some(SSTHRESH);
    (ssthresh.into_iter().chain(own).collect(), attributes)
}

fn leaked(text: &str) -> &'static str {
    text.to_owned().leak()
}

/// The package name of all classes in the registry: the newest class of a name replaces the others.
const PACKAGE: &str = "Python class";
