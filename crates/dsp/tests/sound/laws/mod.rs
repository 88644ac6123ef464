//! A law for each setting: its help text as an assertion on sound. Each law is checked with the default sound, fully wet, and
//! with every other setting at each of its entries or ends, unless `exceptions` lists the pair or the law's setting is idle.

/// Returns from the function with a description of the fault, unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($what:tt)*) => {
        match $condition {
            true => (),
            false => return Err(format!($($what)*)),
        }
    };
}

mod exceptions;
pub mod hearing;
mod notes;
mod sound;
mod table;

use exceptions::exception;
use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use table::LAWS;
use tone_filter_dsp::{Controls, Setting, Settings};
use tone_filter_testkit::{Values, sweep};

/// `Ok` if a law holds, else a description of the sound.
type Outcome = Result<(), String>;

#[derive(Clone, Copy)]
struct Law {
    id: &'static str,
    /// Quote from the help text.
    promise: &'static str,
    /// Changes the default sound so that the setting has an effect.
    stage: fn(&mut Settings),
    check: fn(&Controls) -> Outcome,
}

fn with(controls: &Controls, change: impl Fn(&mut Settings)) -> Controls {
    let mut changed = *controls;
    change(&mut changed.settings);
    changed
}

/// Returns the default sound, fully wet, with the changes that the law needs.
fn start(law: &Law) -> Controls {
    with(&Controls::default(), |own| {
        own.mix = 100.0;
        (law.stage)(own);
    })
}

fn help(id: &str) -> &'static str {
    Setting::find(id).unwrap().help()
}

#[test]
fn every_setting_has_a_law_in_the_words_of_its_help() {
    let ids: HashSet<&str> = LAWS.into_iter().map(|law| law.id).collect();
    for setting in Setting::all() {
        assert!(ids.contains(setting.id()), "{} has no law", setting.id());
    }
    for law in LAWS {
        let quoted = !law.promise.is_empty() && help(law.id).contains(law.promise);
        assert!(quoted, "{} does not say: {}", law.id, law.promise);
        assert_eq!(start(&law).settings.idle(law.id), None, "{} is staged idle", law.id);
    }
    exceptions::assert_quoted();
}

/// Returns each law with its start, and with each entry or end of every other setting. Items: the law, the name of the other
/// setting with its value (empty for the start), and the controls.
fn pairs() -> Vec<(Law, String, Controls)> {
    let mut pairs = Vec::new();
    for law in LAWS {
        let base = start(&law);
        pairs.push((law, String::new(), base));
    }
    for law in LAWS {
        let base = start(&law);
        for other in Setting::all().filter(|other| other.id() != law.id) {
            for end in other.ends(&base).into_iter().filter(|end| *end != base) {
                let name = format!("{} {}", other.id(), other.text(&end));
                pairs.push((law, name, end));
            }
        }
    }
    pairs
}

/// `TONE_FILTER_LAW` selects the laws of one setting.
#[test]
fn every_law_holds_with_every_other_setting() {
    let (alone, with_others): (Vec<_>, _) = pairs().into_iter().partition(|pair| pair.1.is_empty());
    let mut pairs = match std::env::var("TONE_FILTER_LAW") {
        Ok(id) => pairs().into_iter().filter(|(law, ..)| law.id == id).collect(),
        Err(_) => [sweep::part(3, alone), sweep::part(200, with_others)].concat(),
    };
    pairs.retain(|(law, name, controls)| {
        controls.settings.idle(law.id).is_none() && exception(law.id, name).is_none()
    });
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((law, name, own)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(what) = (law.check)(own) {
                        let failure = format!("{} with {name}: {what}", law.id);
                        println!("{failure}");
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
