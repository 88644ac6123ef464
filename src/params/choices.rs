//! Parameters for settings that are a choice from a list: a boolean for off and on, an enum for any other list.

use super::changes::Changes;
use nice_plug::{
    params::internals::ParamPtr,
    prelude::{BoolParam, Enum, EnumParam, Param},
};
use std::sync::{Arc, LazyLock};
use tone_filter_dsp::{CHOICES, Choice, Controls};

/// Parameter of one row of [`CHOICES`].
pub struct ChoiceParam {
    /// Row of [`CHOICES`].
    pub choice: &'static Choice,
    param: Box<dyn Indexed>,
}

/// Constructors of the parameters by row of [`CHOICES`], and of some rows beyond the last, which are never called.
macro_rules! rows {
    ($($row:literal)*) => {
        [$(row::<$row>),*]
    };
}

/// Returns the parameters of all rows at their defaults. They count their changes in `changes`.
pub fn all(changes: &Changes) -> [ChoiceParam; CHOICES.len()] {
    let rows = rows![0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31];
    std::array::from_fn(|index| rows[index](changes))
}

fn row<const ROW: usize>(changes: &Changes) -> ChoiceParam {
    let choice = &CHOICES[ROW];
    let param: Box<dyn Indexed> = if choice.is_switch() {
        let param = BoolParam::new(choice.name, choice.default() == 1)
            // nice-plug's own parser takes any unknown text for "off".
            .with_string_to_value(Arc::new(|text| choice.parse(text).map(|entry| entry == 1)))
            .with_callback(changes.callback());
        Box::new(if choice.id == "bypass" { param.make_bypass() } else { param })
    } else {
        let param = EnumParam::new(choice.name, Entry::<ROW>(choice.default()));
        Box::new(param.with_callback(changes.callback()))
    };
    ChoiceParam { choice, param }
}

impl ChoiceParam {
    /// Returns the index of the current entry, including the host's modulation.
    pub fn value(&self) -> usize {
        self.param.index()
    }

    /// Returns nice-plug's pointer to the parameter. The pointer is valid as long as `self` lives.
    pub fn as_ptr(&self) -> ParamPtr {
        self.param.pointer()
    }

    /// Returns the parameter's normalised value (0..1) for `controls`.
    pub fn normalized(&self, controls: &Controls) -> f32 {
        self.normalized_entry(self.choice.get(controls))
    }

    /// Returns the parameter's normalised value (0..1) for the entry with index `entry`.
    pub fn normalized_entry(&self, entry: usize) -> f32 {
        self.param.normalized(entry)
    }

    /// Returns the index of the entry at `normalized` (0..1).
    pub fn entry(&self, normalized: f32) -> usize {
        self.param.entry(normalized)
    }

    /// Returns the index of the current entry, without the host's modulation.
    pub fn unmodulated(&self) -> usize {
        self.entry(self.param.unmodulated())
    }
}

/// Parameter whose values are indices of entries: a common interface to nice-plug's booleans and enums.
trait Indexed: Send + Sync {
    fn index(&self) -> usize;
    fn pointer(&self) -> ParamPtr;
    fn normalized(&self, index: usize) -> f32;
    fn entry(&self, normalized: f32) -> usize;
    fn unmodulated(&self) -> f32;
}

impl Indexed for BoolParam {
    fn index(&self) -> usize {
        usize::from(self.value())
    }

    fn pointer(&self) -> ParamPtr {
        self.as_ptr()
    }

    fn normalized(&self, index: usize) -> f32 {
        self.preview_normalized(index == 1)
    }

    fn entry(&self, normalized: f32) -> usize {
        usize::from(self.preview_plain(normalized))
    }

    fn unmodulated(&self) -> f32 {
        self.unmodulated_normalized_value()
    }
}

impl<const ROW: usize> Indexed for EnumParam<Entry<ROW>> {
    fn index(&self) -> usize {
        self.value().0
    }

    fn pointer(&self) -> ParamPtr {
        self.as_ptr()
    }

    fn normalized(&self, index: usize) -> f32 {
        self.preview_normalized(Entry(index))
    }

    fn entry(&self, normalized: f32) -> usize {
        self.preview_plain(normalized).0
    }

    fn unmodulated(&self) -> f32 {
        self.unmodulated_normalized_value()
    }
}

/// Index of an entry of row `ROW` of [`CHOICES`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry<const ROW: usize>(usize);

/// Names and ids of each row's entries, in the form that nice-plug requires.
static TEXTS: LazyLock<[[Vec<&'static str>; 2]; CHOICES.len()]> = LazyLock::new(|| {
    std::array::from_fn(|row| {
        let entries = CHOICES[row].entries;
        [
            entries.iter().map(|entry| entry.1).collect(),
            entries.iter().map(|entry| entry.0).collect(),
        ]
    })
});

impl<const ROW: usize> Enum for Entry<ROW> {
    fn variants() -> &'static [&'static str] {
        &TEXTS[ROW][0]
    }

    fn ids() -> Option<&'static [&'static str]> {
        Some(&TEXTS[ROW][1])
    }

    fn to_index(self) -> usize {
        self.0
    }

    fn from_index(index: usize) -> Self {
        Self(if index < CHOICES[ROW].entries.len() { index } else { 0 })
    }
}
