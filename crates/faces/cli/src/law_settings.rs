//! Settings of a law to be attached.

use scenario::{Overrides, Scenario, Source};
use schemes::linux::attachable;

use crate::output::Stop;

/// Reports errors in settings with their places; the other program reads the settings again.
pub(crate) fn check(law: &str, sets: &[String]) -> Result<(), Stop> {
    let (scheme, _) = attachable(law).expect("the argument is one of these");
    let overrides = Overrides {
        schemes: Some(scheme.name.to_owned()),
        sets: sets.to_vec(),
        ..Overrides::default()
    };
    // A file without any setting would be reported as a mistake.
    let nothing = Source::new("settings", "seed = 1\n[switch]\nbuffer = \"1GB\"\n");
    Scenario::load(nothing, &overrides)?;
    Ok(())
}
