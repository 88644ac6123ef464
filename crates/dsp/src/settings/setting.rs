//! A setting of any kind.

use super::{CHOICES, Choice, Controls, Group, SPECS, Spec, TEXTS, Text};

/// A setting, by its kind.
#[derive(Debug, Clone, Copy)]
pub enum Setting {
    /// A number.
    Number(&'static Spec),
    /// A choice from a list.
    Choice(&'static Choice),
    /// A text.
    Text(&'static Text),
}

impl Setting {
    /// Returns all settings: the numbers, the choices, then the texts, each in the order of declaration.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let numbers = SPECS.iter().map(Self::Number);
        numbers.chain(CHOICES.iter().map(Self::Choice)).chain(TEXTS.iter().map(Self::Text))
    }

    /// Returns the setting called `id`, if there is one.
    pub fn find(id: &str) -> Option<Self> {
        Self::all().find(|setting| setting.id() == id)
    }

    /// Returns the stable id: preset key and flag, and for numbers and choices the parameter id.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Number(own) => own.id,
            Self::Choice(own) => own.id,
            Self::Text(own) => own.id,
        }
    }

    /// Returns the effect on the sound, in one sentence.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Number(own) => own.help,
            Self::Choice(own) => own.help,
            Self::Text(own) => own.help,
        }
    }

    /// Returns the group in the editor and in hosts; `None` for texts.
    pub const fn group(self) -> Option<Group> {
        match self {
            Self::Number(own) => Some(own.group),
            Self::Choice(own) => Some(own.group),
            Self::Text(_) => None,
        }
    }

    /// Whether random sounds change the setting.
    pub const fn is_random(self) -> bool {
        match self {
            Self::Number(own) => own.random,
            Self::Choice(own) => own.random,
            Self::Text(_) => false,
        }
    }

    /// Whether the setting is a field of [`Routing`](super::Routing), not a part of the sound.
    pub const fn is_routing(self) -> bool {
        matches!(self, Self::Choice(choice) if choice.is_routing())
    }

    /// Returns the value in `controls` as text: a number with its unit, the id of an entry, or the text itself.
    pub fn text(self, controls: &Controls) -> String {
        match self {
            Self::Number(own) => own.format(own.get(&controls.settings)),
            Self::Choice(own) => own.entries[own.get(controls)].0.to_owned(),
            Self::Text(own) => own.get(&controls.settings),
        }
    }
}
