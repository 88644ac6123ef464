//! The tone filter as an audio effect for Godot's buses.

mod player;

use godot::{
    classes::{
        AudioEffect, AudioEffectInstance, AudioServer, IAudioEffect, IAudioEffectInstance,
        native::AudioFrame,
    },
    meta::conv::RawPtr,
    obj::InstanceId,
    prelude::*,
};
use player::{Player, Seek, State};
use std::{ffi::c_void, slice, sync::Arc};
use tone_filter_dsp::{KeyEvent, Score, SharedScores, choice, spec};
use triple_buffer::{Input, Output};

struct ToneFilterExtension;

// SAFETY: all calls of Godot use its safe bindings, except that `process_rawptr` accesses raw buffers.
#[gdextension]
unsafe impl ExtensionLibrary for ToneFilterExtension {}

/// Audio effect with the tone filter. A change takes effect with the next block, on every bus that has this effect.
#[derive(GodotClass)]
#[class(tool, init, base = AudioEffect)]
pub struct AudioEffectToneFilter {
    state: State,
    /// For each instance: its id, the sender of states to it, and the receiver of its position in the score.
    senders: Vec<(InstanceId, Input<State>, Output<Seek>)>,
    scores: SharedScores,
    base: Base<AudioEffect>,
}

#[godot_api]
impl AudioEffectToneFilter {
    /// Sets a numeric setting by its id, such as `morph`, in its unit. Returns false and changes nothing if the id is unknown or
    /// the value out of range.
    #[func]
    pub fn set_number(&mut self, id: String, value: f32) -> bool {
        let Some(spec) = spec(&id) else { return false };
        self.change(|state| spec.set(&mut state.controls.settings, value))
    }

    /// Sets a choice by its id, such as `keys`, to one of its entries, such as `hold`. Returns false and changes nothing if the
    /// id or the entry is unknown.
    #[func]
    pub fn set_choice(&mut self, id: String, entry: String) -> bool {
        let Some(choice) = choice(&id) else { return false };
        let Some(index) = choice.parse(&entry) else { return false };
        self.change(|state| choice.set(&mut state.controls, index))
    }

    /// Presses the key of a MIDI note with a velocity of 0..1; 0 releases it. The choice `keys` decides the effect of keys.
    #[func]
    pub fn key(&mut self, note: u8, velocity: f32) {
        self.change(|state| state.keyboard.play(KeyEvent::Key(note, velocity)));
    }

    /// Sets a score, a list of notes that replaces the listener's decisions, and starts it at 0 s. `score` is the text of a file
    /// written by `tone-filter bands music.wav --score music.tfs`; an empty text removes the score. Returns false and changes
    /// nothing if the score is invalid.
    #[func]
    pub fn set_score(&mut self, score: String) -> bool {
        let parsed = (!score.is_empty()).then(|| score.parse::<Score>()).transpose();
        let Ok(score) = parsed.inspect_err(|error| godot_error!("the score: {error}")) else {
            return false;
        };
        let score = score.map(Arc::new);
        self.scores.keep(score.as_ref());
        self.change(|state| (state.score, state.seek) = (score, state.seek.next(0.0)))
    }

    /// Sets the position in the score, in seconds. Call it when the music begins, jumps, repeats or goes on after a pause.
    #[func]
    pub fn seek(&mut self, seconds: f64) {
        self.change(|state| state.seek = state.seek.next(seconds));
    }

    /// Changes the state and sends it to all instances. If the new settings are invalid, changes nothing and returns false.
    fn change(&mut self, change: impl FnOnce(&mut State)) -> bool {
        let mut state = self.state.clone();
        change(&mut state);
        let valid = state.controls.settings.validate().is_ok();
        if valid {
            self.senders.iter_mut().for_each(|(_, sender, _)| sender.write(state.clone()));
            self.state = state;
        }
        valid
    }
}

#[godot_api]
impl IAudioEffect for AudioEffectToneFilter {
    fn instantiate(&mut self) -> Option<Gd<AudioEffectInstance>> {
        // Godot creates new instances when buses or the device change. These continue the score where the old instances are.
        let seeks = self.senders.iter_mut().map(|(.., reached)| *reached.read());
        self.state.seek = seeks.fold(self.state.seek, Seek::or_later);
        self.senders.retain(|(id, ..)| id.lookup_validity());
        let rate = AudioServer::singleton().get_mix_rate();
        let (player, sender, reached) = Player::new(rate, &self.state).ok()?;
        let instance = Gd::from_init_fn(|base| ToneFilterInstance { player, base });
        self.senders.push((instance.instance_id(), sender, reached));
        Some(instance.upcast())
    }
}

/// Instance of the effect on one bus, or on one pair of a bus's channels.
#[derive(GodotClass)]
#[class(tool, no_init, base = AudioEffectInstance)]
pub struct ToneFilterInstance {
    player: Player,
    base: Base<AudioEffectInstance>,
}

#[godot_api]
impl IAudioEffectInstance for ToneFilterInstance {
    unsafe fn process_rawptr(
        &mut self,
        source: RawPtr<*const c_void>,
        target: RawPtr<*mut AudioFrame>,
        count: i32,
    ) {
        let Ok(count) = usize::try_from(count) else { return };
        // SAFETY: Godot's mixer passes two initialised buffers of `count` frames, which nothing else uses. They do not overlap.
        let (source, target) = unsafe {
            (
                slice::from_raw_parts(source.ptr().cast::<AudioFrame>(), count),
                slice::from_raw_parts_mut(target.ptr(), count),
            )
        };
        self.player.process(source, target);
    }

    /// Returns true: the filter still rings when its input is silent.
    fn process_silence(&self) -> bool {
        true
    }
}
