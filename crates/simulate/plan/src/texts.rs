//! The texts of settings.

use std::collections::BTreeSet;
use std::ops::Index;
use std::sync::Arc;

use crate::keys;

/// The text of every key, in the order of [`all_keys`](keys::all_keys). A sweep has thousands of these, so each key
/// takes only one pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts(Arc<[Arc<str>]>);

impl Texts {
    /// The text of a key; none if there is no such key.
    pub fn get(&self, key: &str) -> Option<&str> {
        keys::place(key).map(|place| &*self.0[place])
    }

    /// The text of the key at this place in [`all_keys`](keys::all_keys), without a search for its name.
    ///
    /// # Panics
    /// If there are fewer keys.
    pub fn at(&self, place: usize) -> &str {
        &self.0[place]
    }

    /// The same but for one key.
    ///
    /// # Panics
    /// If there is no such key.
    #[must_use]
    pub fn with(&self, key: &str, text: Arc<str>) -> Self {
        let mut texts = self.0.to_vec();
        texts[keys::place(key).expect("a declared key")] = text;
        Self(texts.into())
    }
}

/// # Panics
/// If there is no such key.
impl Index<&str> for Texts {
    type Output = str;

    fn index(&self, index: &str) -> &str {
        &self.0[keys::place(index).expect("a declared key")]
    }
}

/// Stores equal texts once: a sweep of a thousand rows has few different ones.
#[derive(Default)]
pub struct Pool(BTreeSet<Arc<str>>);

impl Pool {
    /// The texts of all keys, as `text` returns them.
    pub fn texts<'a>(&mut self, text: impl Fn(&'static str) -> &'a str) -> Texts {
        let texts = keys::all_keys().iter().map(|key| self.kept(text(key.name)));
        Texts(texts.collect())
    }

    /// A shared copy of `text`.
    pub fn kept(&mut self, text: &str) -> Arc<str> {
        if let Some(kept) = self.0.get(text) {
            return Arc::clone(kept);
        }
        let kept = Arc::<str>::from(text);
        self.0.insert(Arc::clone(&kept));
        kept
    }
}
