//! A take: music and changing settings, played by the filter and by its twin.

use tone_filter_dsp::{
    BLOCK, Controls, Kernel, KeyEvent, Settings, ToneFilter,
    listener::Decisions,
    notes::{TONES, to_listener},
};
use tone_filter_testkit::reference::{self, Decision, Early};

/// Change at the start of a block.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    Controls(Controls),
    Key(KeyEvent),
}

#[derive(Debug, Clone)]
pub struct Take {
    pub rate: f64,
    pub kernel: Kernel,
    pub channels: Vec<Vec<f32>>,
    /// Sidechain; empty if there is none.
    pub sidechain: Vec<Vec<f32>>,
    pub controls: Controls,
    /// Changes, each with the number of its block.
    pub changes: Vec<(usize, Change)>,
}

/// The filter's output and decisions.
#[derive(Debug, Clone)]
pub struct Played {
    pub output: Vec<Vec<f32>>,
    /// For each block: the settings before and after its changes, both with the key and tuning found so far, and the decision at
    /// its end.
    decided: Vec<([Settings; 2], Option<Decision>)>,
}

impl Played {
    /// Whether both runs made equal decisions on notes.
    pub fn agrees(&self, other: &Self) -> bool {
        let notes = |(_, decision): &([Settings; 2], Option<Decision>)| {
            decision.as_ref().map(|decision| (decision.played, decision.begun))
        };
        self.decided.iter().map(notes).eq(other.decided.iter().map(notes))
    }
}

impl Take {
    /// Creates a take with constant settings.
    pub fn new(
        rate: f64,
        channels: impl Into<Vec<Vec<f32>>>,
        controls: impl Into<Controls>,
    ) -> Self {
        let (channels, controls) = (channels.into(), controls.into());
        let kernel = Kernel::best();
        Self { rate, kernel, channels, sidechain: Vec::new(), controls, changes: Vec::new() }
    }

    fn changes(&self, block: usize) -> impl Iterator<Item = Change> {
        let own = self.changes.iter().filter(move |(at, _)| *at == block);
        own.map(|(_, change)| *change)
    }

    pub fn controls_at(&self, block: usize) -> Controls {
        let until = self.changes.iter().filter(|(at, _)| *at <= block);
        let mut controls = until.filter_map(|(_, change)| match change {
            Change::Controls(controls) => Some(*controls),
            Change::Key(_) => None,
        });
        controls.next_back().unwrap_or(self.controls)
    }

    /// Returns number, start and end of each block.
    fn blocks(&self) -> impl Iterator<Item = (usize, [usize; 2])> {
        let frames = self.channels[0].len();
        let starts = (0..frames).step_by(BLOCK);
        starts.map(move |start| [start, frames.min(start + BLOCK)]).enumerate()
    }

    /// Plays the take with the filter.
    pub fn play(&self) -> Played {
        let mut filter = ToneFilter::new(self.rate, &self.controls.settings)
            .unwrap()
            .with_kernel(self.kernel)
            .with_channels(self.channels.len());
        filter.set_routing(self.controls.routing);
        filter.reset();
        let (mut output, mut decided) = (self.channels.clone(), Vec::new());
        for (block, [start, end]) in self.blocks() {
            let found = filter.resolved();
            for change in self.changes(block) {
                match change {
                    Change::Controls(controls) => {
                        filter.set_controls(&controls).unwrap();
                    }
                    Change::Key(event) => filter.play(event),
                }
            }
            let (settings, frames) = (filter.resolved(), filter.decisions().frames);
            let mut channels: Vec<&mut [f32]> =
                output.iter_mut().map(|channel| &mut channel[start..end]).collect();
            let sidechain: Vec<&[f32]> =
                self.sidechain.iter().map(|channel| &channel[start..end]).collect();
            filter.process_events(&mut channels, &sidechain, [], |_, _| ());
            let decisions = filter.decisions();
            let new = (decisions.frames > frames).then(|| {
                let ahead = filter.listener().lookahead() > 0;
                Decision { early: ahead.then(|| early(decisions)), ..decision(decisions) }
            });
            decided.push(([found, settings], new));
        }
        Played { output, decided }
    }

    /// Returns the twin's output for the filter's decisions.
    pub fn truth(&self, played: &Played) -> Vec<Vec<f64>> {
        let mut controls = self.controls;
        let sound = |controls: &Controls, settings: Settings| {
            let found = Controls { settings, ..*controls };
            let follows = controls.settings.follows() || controls.settings.follows_tempo();
            reference::Sound { follows, ..reference::controlled(&found) }
        };
        let mut last = sound(&controls, played.decided[0].0[0]);
        let mut twin = reference::Filter::new(&last, self.rate, self.channels.len());
        let mut outputs = vec![Vec::new(); self.channels.len()];
        for ((block, [start, end]), ([found, settings], decision)) in
            self.blocks().zip(&played.decided)
        {
            let found = sound(&controls, *found);
            if found != last {
                twin.set_found(&found);
            }
            last = found;
            for change in self.changes(block) {
                match change {
                    Change::Controls(new) => controls = new,
                    Change::Key(event) => twin.play(key_event(event)),
                }
            }
            let now = sound(&controls, *settings);
            if now != last {
                twin.set(&now);
                last = now;
            }
            let [channels, sidechain] = [&self.channels, &self.sidechain]
                .map(|all| all.iter().map(|channel| &channel[start..end]).collect::<Vec<&[f32]>>());
            let block = twin.block(&channels, &sidechain, decision.as_ref());
            outputs.iter_mut().zip(block).for_each(|(all, block)| all.extend(block));
        }
        outputs
    }
}

/// Converts the listener's decisions, which are in the order of its notes, to the order of the tones.
fn decision(decisions: &Decisions) -> Decision {
    let of = |tone: usize| to_listener(tone);
    Decision {
        played: std::array::from_fn(|tone| decisions.on[of(tone)]),
        begun: std::array::from_fn(|tone| decisions.begun[of(tone)]),
        level: std::array::from_fn(|tone| decisions.ahead[of(tone)].into()),
        place: std::array::from_fn(|tone| decisions.place[of(tone)].into()),
        early: None,
    }
}

/// Converts the listener's early decisions to those of each tone.
fn early(decisions: &Decisions) -> Early {
    let of = |tone: usize| to_listener(tone);
    Early {
        played: std::array::from_fn(|tone| decisions.early[of(tone)]),
        likely: std::array::from_fn(|tone| decisions.likely[of(tone)]),
        edge: std::array::from_fn(|tone| decisions.edge[of(tone)].map(f64::from)),
    }
}

fn key_event(event: KeyEvent) -> reference::Event {
    use reference::Event;
    match event {
        KeyEvent::Key(note, velocity) => Event::Key(note.into(), velocity.into()),
        KeyEvent::Pressure(note, pressure) => Event::Pressure(note.into(), pressure.into()),
        KeyEvent::Gain(note, gain) => Event::Gain(note.into(), gain.into()),
        KeyEvent::Bend(semitones) => Event::Bend(semitones.into()),
        KeyEvent::Wheel(position) => Event::Wheel(position.into()),
        KeyEvent::Sustain(down) => Event::Sustain(down),
        KeyEvent::ReleaseAll => Event::ReleaseAll,
    }
}

/// Returns the signal-to-noise ratio of all channels together in dB.
pub fn snr(truth: &[Vec<f64>], output: &[Vec<f32>]) -> f64 {
    tone_filter_testkit::signals::snr(&truth.concat(), &output.concat())
}

const _: () = assert!(TONES == reference::TONES && BLOCK == reference::BLOCK);
