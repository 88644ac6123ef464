//! Host features that nice-plug lacks, through plugin-guard: pages of controls, presets, key names, latency and tail.

use super::ToneFilterPlugin;
use crate::{
    params::ToneFilterParams,
    session::{Session, info, read_preset},
};
use nice_plug::prelude::Params;
use plugin_guard::{
    GuardedPlugin, HostLink, Instance, Latency, Location, NoteName, Page, PresetError, PresetInfo,
    lock,
};
use std::{
    ffi::CStr,
    path::{Path, PathBuf},
    sync::Arc,
};
use tone_filter_dsp::{
    Keys, Setting, Settings, ToneFilter, choice,
    notes::{midi_note, name},
};
use tone_filter_presets::{Error, Folder, Preset, ids};

/// Pages for hardware controllers: name, and ids of the settings. Any other number or choice goes to a page with the
/// name of its group: to one with fewer than [`PAGE`] settings, or else to a new one. Texts have no page.
const PAGES: [(&str, &[&str]); 8] = [
    ("Main", &["mix", "sensitivity", "tone", "output", "voice", "focus", "morph", "bypass"]),
    (
        "Listening",
        &["auto", "focus", "lookahead", "listener", "listen", "tuning", "auto-tuning", "transpose"],
    ),
    ("Notes", &["root", "scale", "range", "voices", "octave", "keys", "freeze", "midi-out"]),
    (
        "Resonators",
        &["ring", "release", "sync", "threshold", "ceiling", "floor", "stereo", "drive"],
    ),
    ("Chip", &["voice", "arp", "duty", "attack", "decay", "voices", "octave", "tone"]),
    ("Play", &["keys", "freeze", "morph", "mix", "drive", "tone", "ring", "release"]),
    ("Pitch", &["map", "glide", "vibrato", "octave", "transpose", "tuning", "root", "scale"]),
    ("Output", &["output", "mix", "morph", "bypass", "midi-out", "mpe", "sync-to"]),
];

const PAGE: usize = 8;

impl GuardedPlugin for ToneFilterPlugin {
    // Sustain, all sound off, all notes off, and pitch bend.
    const CONTROLLERS: &'static [i16] = &[64, 120, 123, 129];
    const PRESETS_ID: &'static CStr = c"org.tone-filter.tone-filter.presets";
    const PRESET_FILE: [&'static CStr; 3] =
        [c"Tone Filter preset", c"A sound of Tone Filter, in JSON", c"json"];

    fn pages() -> Vec<Page> {
        let mut pages = PAGES.map(|(name, ids)| (name, ids.to_vec())).to_vec();
        for (id, group) in Setting::all().filter_map(|it| Some((it.id(), it.group()?.name()))) {
            if pages.iter().any(|(_, ids)| ids.contains(&id)) {
                continue;
            }
            match pages.iter_mut().find(|(name, ids)| *name == group && ids.len() < PAGE) {
                Some((_, ids)) => ids.push(id),
                None => pages.push((group, vec![id])),
            }
        }
        pages
    }

    fn factory_presets() -> Vec<(&'static str, PresetInfo)> {
        ids().filter_map(|id| Some((id, info(Preset::factory(id)?)))).collect()
    }

    fn user_presets() -> Option<PathBuf> {
        Folder::of_user().map(|folder| folder.location().to_owned())
    }

    fn preset_file(path: &Path) -> Result<PresetInfo, PresetError> {
        read_preset(path).map(|loaded| info(loaded.preset)).map_err(error)
    }
}

fn error(error: Error) -> PresetError {
    let os_error = match &error {
        Error::Read { source, .. } => source.raw_os_error().unwrap_or(0),
        _ => 0,
    };
    PresetError { os_error, message: error.to_string() }
}

/// Returns the MIDI key of the lowest band, and the current settings.
fn first_key(params: &ToneFilterParams) -> (u32, Settings) {
    let settings = params.chosen().settings;
    let lowest = settings.range.by_pitch().next().expect("a band");
    (midi_note(lowest, settings.transpose) as u32, settings)
}

/// Parts of a plugin instance that its shim may use, on any thread.
pub struct Guarded {
    pub session: Session,
    pub latency: Arc<Latency>,
}

impl Instance for Guarded {
    fn params(&self) -> Arc<dyn Params> {
        self.session.params.clone()
    }

    fn link(&self) -> &HostLink {
        &self.session.host
    }

    fn changes(&self) -> u32 {
        self.session.params.changes.count()
    }

    fn latency(&self) -> &Latency {
        &self.latency
    }

    fn wanted_latency(&self, sample_rate: f64) -> u32 {
        match self.session.params.settings().lookahead {
            true => ToneFilter::lookahead(sample_rate) as u32,
            false => 0,
        }
    }

    fn tail(&self, sample_rate: f64, tempo: Option<f64>) -> u32 {
        let settings = self.session.params.settings();
        let settings = tempo.map_or(settings, |tempo| settings.at_tempo(tempo));
        if settings.freeze {
            return u32::MAX;
        }
        (ToneFilter::tail(&settings) * sample_rate).ceil() as u32 + self.latency.samples()
    }

    fn spelled(&self, id: &str, text: &str) -> Option<String> {
        let choice = choice(id)?;
        Some(choice.entries[choice.parse(text)?].1.to_owned())
    }

    /// Returns key and name of the band `index`, counted from the lowest. `None` after the highest band, and for a key above 127.
    fn note_name(&self, index: u32) -> Option<NoteName> {
        let (first, settings) = first_key(&self.session.params);
        let key = u8::try_from(first + index).ok().filter(|key| *key < 128)?;
        let tone = settings.range.by_pitch().nth(index as usize)?;
        Some(NoteName { key, name: name(tone) })
    }

    fn note_names_version(&self) -> u32 {
        let (first, settings) = first_key(&self.session.params);
        first | u32::from(settings.keys != Keys::Off) << 8 | (settings.range as u32) << 9
    }

    fn preset(&self) -> Option<String> {
        Some(lock(&self.session.params.preset).clone())
    }

    fn load_preset(&self, at: Location) -> Result<(), PresetError> {
        let loaded = match at {
            Location::Factory(id) => Preset::factory(id)
                .map(Into::into)
                .ok_or_else(|| Error::Unknown { name: id.to_owned() }),
            Location::File(path) => read_preset(path),
        };
        self.session.load(loaded.map_err(error)?);
        Ok(())
    }
}
