//! Parameters for settings that are a choice from a list: a boolean for off and on, an enum for any other list.
//!
//! nice-plug asks the type of an enum for the entries of a list. Here, all lists have one type, [`Entry`]. nice-plug asks only
//! while a parameter is created, so [`ROW`] then says which list is meant.

use super::changes::Changes;
use nice_plug::{
    params::internals::ParamPtr,
    prelude::{BoolParam, Enum, EnumParam, Param},
};
use std::{
    cell::Cell,
    sync::{Arc, LazyLock},
};
use tone_filter_dsp::{CHOICES, Choice};

pub struct ChoiceParam {
    pub choice: &'static Choice,
    param: Kind,
}

enum Kind {
    Switch(BoolParam),
    List(EnumParam<Entry>),
}

/// Creates the parameters of [`CHOICES`] with their defaults. `changes` counts their changes.
pub fn all(changes: &Changes) -> [ChoiceParam; CHOICES.len()] {
    std::array::from_fn(|row| {
        let choice = &CHOICES[row];
        let param = if choice.is_switch() {
            let param = BoolParam::new(choice.name, choice.default() == 1)
                // nice-plug's own parser takes any unknown text for "off".
                .with_string_to_value(Arc::new(|text| choice.parse(text).map(|entry| entry == 1)))
                .with_callback(changes.callback());
            Kind::Switch(if choice.id == "bypass" { param.make_bypass() } else { param })
        } else {
            ROW.set(row);
            let param = EnumParam::new(choice.name, Entry(choice.default()));
            Kind::List(param.with_callback(changes.callback()))
        };
        ChoiceParam { choice, param }
    })
}

impl ChoiceParam {
    /// Returns the index of the current entry, including the host's modulation.
    pub fn value(&self) -> usize {
        match &self.param {
            Kind::Switch(param) => usize::from(param.value()),
            Kind::List(param) => param.value().0,
        }
    }

    /// Returns nice-plug's pointer to the parameter. The pointer is valid as long as `self` lives.
    pub fn as_ptr(&self) -> ParamPtr {
        match &self.param {
            Kind::Switch(param) => param.as_ptr(),
            Kind::List(param) => param.as_ptr(),
        }
    }

    /// Returns the parameter's normalised value (0..1) for the entry with index `entry`.
    pub fn normalized(&self, entry: usize) -> f32 {
        match &self.param {
            Kind::Switch(param) => param.preview_normalized(entry == 1),
            Kind::List(param) => param.preview_normalized(Entry(entry)),
        }
    }

    /// Returns the index of the entry at `normalized` (0..1).
    pub fn entry(&self, normalized: f32) -> usize {
        match &self.param {
            Kind::Switch(param) => usize::from(param.preview_plain(normalized)),
            Kind::List(param) => param.preview_plain(normalized).0,
        }
    }

    /// Returns the index of the current entry, without the host's modulation.
    pub fn unmodulated(&self) -> usize {
        match &self.param {
            Kind::Switch(param) => usize::from(param.unmodulated_plain_value()),
            Kind::List(param) => param.unmodulated_plain_value().0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry(usize);

thread_local! {
    /// Row of [`CHOICES`] whose parameter this thread is creating.
    static ROW: Cell<usize> = const { Cell::new(0) };
}

/// Names and ids of each row's entries, in the form that nice-plug requires.
static TEXTS: LazyLock<[[Vec<&'static str>; 2]; CHOICES.len()]> = LazyLock::new(|| {
    CHOICES.each_ref().map(|choice| {
        let (ids, names) = choice.entries.iter().copied().unzip();
        [names, ids]
    })
});

impl Enum for Entry {
    fn variants() -> &'static [&'static str] {
        &TEXTS[ROW.get()][0]
    }

    fn ids() -> Option<&'static [&'static str]> {
        Some(&TEXTS[ROW.get()][1])
    }

    fn to_index(self) -> usize {
        self.0
    }

    fn from_index(index: usize) -> Self {
        Self(index)
    }
}
