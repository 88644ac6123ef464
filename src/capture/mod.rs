//! Capture: records notes while a window is open, keeps those of the last ten minutes, and writes them as files.
//!
//! ```text
//! meters -> window -> queue -> worker: filter -> TakeRecorder -> Heard -> roll
//!                                                             -> Take -> files
//! ```
//!
//! The input comes from the window's meter updates, so the audio thread does no extra work. A worker thread runs the input
//! through a second filter, with lookahead and the voice Chip, so that the notes are as good as the command's. The notes stay
//! when the window closes.

use plugin_guard::lock;
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};
use tone_filter_dsp::{Kernel, Settings, ToneFilter, Voice, listener::beats::Beat, notes};
pub use tone_filter_song::take::Format;
use tone_filter_song::{
    console::TICKS,
    take::{Take, TakeRecorder},
    transcribe::Note,
};

/// Duration in seconds of the music that the capture keeps.
pub const SECONDS: usize = 600;
/// Duration in seconds by which the capture may exceed [`SECONDS`] before old notes are removed. Each removal moves all later
/// notes, so removals are rare.
const SPARE: f64 = 60.0;
/// Length of the worker's queue in updates: some 8 s, more than it takes to write a file.
const QUEUE: usize = 512;
/// Longest silence in seconds that stands in for lost sound.
const LONGEST_LOSS: f64 = 2.0;
/// Time in seconds between two updates: first of [`Heard::notes`], then of [`Heard::beats`].
const PERIODS: [f64; 2] = [0.5, 3.0];
/// Length in seconds of the part at the end of the music in which each update detects beats.
const TAIL: f64 = 30.0;
/// Time in seconds after the last known beat. Beats that are newly detected up to then count as known.
const CLOSE: f64 = 0.2;
/// Silence in seconds after which a new song starts while the host is stopped or reports no bars.
const PAUSE: f64 = 2.0;
/// Magnitude up to which samples count as silence: -80 dB full scale.
const QUIET: f32 = 1e-4;

/// Part of the captured music to save.
#[derive(Debug, Clone, PartialEq)]
pub enum Extent {
    /// This many bars at the end. The last one is the bar in which the last note starts.
    Bars(usize),
    /// Everything since the song started: since the host began to play, or since the last long silence.
    Song,
    Everything,
    /// Times on the capture's clock, in seconds.
    Selection(Range<f64>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeardNote {
    pub note: Note,
    /// Whether the lead of the voice Chip (the first pulse) plays the note for more than half of the note's duration.
    pub lead: bool,
}

/// Notes and beats of the last ten minutes, for display. The notes are updated every half second, the beats every three seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heard {
    pub notes: Vec<HeardNote>,
    pub beats: Vec<Beat>,
    /// Tempo of the last [`TAIL`] in beats per minute, and its certainty, 0.01..1.
    pub tempo: Option<(f64, f32)>,
}

impl Heard {
    /// Returns the beat nearest to `time`; without beats, `time` itself.
    pub fn snap(&self, time: f64) -> f64 {
        let far = |beat: &f64| (beat - time).abs();
        let beats = self.beats.iter().map(|beat| beat.time);
        beats.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(time)
    }

    /// Returns the text of a score with the notes in `range` (seconds on the capture's clock); see [`Take::part`]. The score's
    /// time 0 is the start of `range`.
    pub fn score(&self, range: Range<f64>) -> String {
        let notes = self.notes.iter().map(|heard| heard.note).collect();
        let (beats, ticks, key) = Default::default();
        let take = Take { start: 0.0, end: range.end, notes, beats, ticks, key }.part(range);
        let text = take.write(Format::Score, &Settings::default(), String::new());
        String::from_utf8_lossy(&text.unwrap_or_default().0).into_owned()
    }
}

/// Input of one meter update, for the worker.
struct Sound {
    /// Samples of the left and the right channel.
    samples: [Vec<f32>; 2],
    /// Number of samples that were lost between the last update and `samples`.
    lost: u64,
    /// Sample rate in Hz.
    rate: f64,
    /// Whether the host plays a song.
    playing: bool,
    settings: Settings,
}

/// Request for a file with captured notes.
pub struct Request {
    pub format: Format,
    pub extent: Extent,
    pub path: PathBuf,
    pub settings: Settings,
    /// Called on the worker's thread, with a message for the user.
    pub done: Box<dyn FnOnce(String) + Send>,
}

enum Job {
    Hear(Sound),
    Write(Request),
}

#[derive(Default)]
struct Shared {
    recording: Mutex<Recording>,
    heard: Mutex<Heard>,
}

/// Captured music of a plugin instance. It outlives the instance's windows; clones share it.
#[derive(Clone, Default)]
pub struct Capture(Arc<Shared>);

impl Capture {
    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        lock(&self.0.heard)
    }

    pub fn open(&self) -> CaptureInput {
        let closing = Arc::default();
        let capture = self.clone();
        CaptureInput { capture, worker: None, closing, lost: 0, count: 0, rate: 0.0 }
    }
}

/// Window's end of the capture: passes sound and requests to a worker thread.
pub struct CaptureInput {
    pub capture: Capture,
    /// Queue and thread of the worker; `None` before the first job, and after [`CaptureInput::finish`].
    worker: Option<(SyncSender<Job>, JoinHandle<()>)>,
    /// Whether the window is closing. The worker then skips the sound that still waits, and only writes files.
    closing: Arc<AtomicBool>,
    /// Number of samples that a full queue has refused. The next update reports them as lost.
    lost: u64,
    /// Number of samples so far on the capture's clock, lost ones included.
    count: u64,
    /// Sample rate of the last sound, in Hz.
    rate: f64,
}

impl CaptureInput {
    /// Adds `samples` of left and right at `rate` Hz, which follow after `lost` missing samples. `playing` is whether the host plays a song,
    /// `settings` are the plugin's. Returns the time on the capture's clock after this sound, in seconds.
    pub fn push(
        &mut self,
        samples: [Vec<f32>; 2],
        lost: u64,
        rate: f64,
        playing: bool,
        settings: &Settings,
    ) -> f64 {
        if samples[0].is_empty() || rate <= 0.0 {
            return self.count as f64 / self.rate.max(1.0);
        }
        if self.worker.is_none() {
            self.count = lock(&self.capture.0.recording).count(rate);
        } else if self.rate != rate {
            self.count = 0;
        }
        self.rate = rate;
        let lost = (lost + self.lost).min((LONGEST_LOSS * rate) as u64);
        let count = lost + samples[0].len() as u64;
        self.count += count;
        let sound = Sound { samples, lost, rate, playing, settings: *settings };
        self.lost = if self.send(Job::Hear(sound)) { 0 } else { count };
        self.count as f64 / rate
    }

    /// Requests a file, which the worker's thread writes. A full queue drops the request.
    pub fn write(&mut self, request: Request) {
        self.send(Job::Write(request));
    }

    /// Sends a job, or drops it if the queue is full. Returns whether it was sent.
    fn send(&mut self, job: Job) -> bool {
        let shared = &self.capture.0;
        let (queue, _) = self.worker.get_or_insert_with(|| {
            let (queue, jobs) = sync_channel(QUEUE);
            let (shared, closing) = (shared.clone(), self.closing.clone());
            (queue, thread::spawn(move || work(&jobs, &shared, &closing)))
        });
        queue.try_send(job).is_ok()
    }

    /// Ends the worker, and waits until it has done all jobs. A panic of the worker has been reported already.
    pub fn finish(&mut self) {
        if let Some((queue, thread)) = self.worker.take() {
            drop(queue);
            let _ = thread.join();
        }
    }
}

impl Default for CaptureInput {
    fn default() -> Self {
        Capture::default().open()
    }
}

impl Drop for CaptureInput {
    /// Waits for the worker, whose code may be unloaded after the window.
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        self.finish();
    }
}

fn work(jobs: &Receiver<Job>, shared: &Shared, closing: &AtomicBool) {
    for job in jobs {
        let mut recording = lock(&shared.recording);
        match job {
            Job::Hear(_) if closing.load(Ordering::Relaxed) => {}
            Job::Hear(sound) => recording.hear(sound, &shared.heard),
            Job::Write(request) => {
                let message = recording.write(&request);
                (request.done)(message);
            }
        }
    }
}

/// The second filter, and the notes that it has detected. Times are seconds on the capture's clock.
#[derive(Default)]
struct Recording {
    /// `None` before the first sound.
    filter: Option<ToneFilter>,
    /// The plugin's settings.
    settings: Settings,
    recorder: TakeRecorder,
    /// Number of samples so far.
    count: u64,
    /// Whether the host was playing a song in the last update.
    playing: bool,
    /// End of the last update that had samples above [`QUIET`].
    sounded: f64,
    /// Start of the current song; see [`Extent::Song`].
    started: f64,
    /// Times of the next updates of [`Heard::notes`] and [`Heard::beats`].
    due: [f64; 2],
}

impl Recording {
    /// Returns the number of samples so far; 0 if the sample rate has changed, as the recording then starts again.
    fn count(&self, rate: f64) -> u64 {
        let same = self.filter.as_ref().is_some_and(|filter| filter.sample_rate() == rate);
        if same { self.count } else { 0 }
    }

    fn hear(&mut self, sound: Sound, heard: &Mutex<Heard>) {
        let Sound { mut samples, lost, rate, playing, settings } = sound;
        let before = self.count(rate);
        if before == 0 {
            let Some(filter) = listening(&settings, rate) else { return };
            *self = Self { filter: Some(filter), settings, ..Self::default() };
            *lock(heard) = Heard::default();
        }
        let Self { filter: Some(filter), recorder, .. } = self else { return };
        if self.settings != settings {
            self.settings = settings;
            // Never fails, as the plugin's settings are in range.
            let _ = filter.set_settings(&detecting(settings));
        }
        let is_loud = samples.iter().flatten().any(|sample| sample.abs() > QUIET);
        for [left, right] in [&mut [(); 2].map(|()| vec![0.0; lost as usize]), &mut samples] {
            self.count += left.len() as u64;
            filter.process_with(&mut [left, right], |_, filter| recorder.push(filter));
        }
        if before == 0 {
            recorder.reserve(SECONDS as f64 + SPARE);
        }
        let [before, now] = [before, self.count].map(|count| count as f64 / rate);
        if playing && !self.playing || is_loud && !playing && before - self.sounded >= PAUSE {
            self.started = before;
        }
        self.playing = playing;
        if is_loud {
            self.sounded = now;
        }
        self.show(now, heard);
        let start = now - SECONDS as f64;
        if start - self.recorder.start() >= SPARE {
            self.recorder.forget(start);
        }
    }

    fn take(&self, now: f64, beats: bool) -> Take {
        self.recorder.take(now, beats, &self.settings)
    }

    /// Updates the notes and the beats of `heard`, each only when due.
    fn show(&mut self, now: f64, heard: &Mutex<Heard>) {
        let [notes, beats] = self.due.map(|due| now >= due);
        if notes {
            self.due[0] = now + PERIODS[0];
            let take = self.take(now, false);
            let shift = detecting(self.settings).pitch_shift();
            let notes = take.notes.iter().map(|note| HeardNote {
                note: *note,
                lead: is_lead(note, &take, self.settings.tuning, shift),
            });
            let notes = notes.collect();
            lock(heard).notes = notes;
        }
        if beats {
            self.due[1] = now + PERIODS[1];
            let new = self.recorder.beats(now - TAIL, now);
            let certain = new.as_ref().filter(|new| new.certainty >= 0.01);
            let heard = &mut *lock(heard);
            heard.tempo = certain.and_then(|new| Some((new.tempo()?, new.certainty as f32)));
            let new = new.map_or(Vec::new(), |new| new.beats);
            let oldest = now - SECONDS as f64;
            // Earlier beats stay, as they were detected with more music after them.
            heard.beats.retain(|beat| (oldest..now - 0.5 * TAIL).contains(&beat.time));
            let last = heard.beats.last().map_or(f64::NEG_INFINITY, |beat| beat.time + CLOSE);
            heard.beats.extend(new.into_iter().filter(|beat| beat.time > last));
        }
    }

    /// Writes a file. Returns a message for the user.
    fn write(&self, request: &Request) -> String {
        let rate = self.filter.as_ref().map_or(1.0, ToneFilter::sample_rate);
        let now = self.count as f64 / rate;
        let take = self.take(now, true);
        let range = match &request.extent {
            Extent::Bars(count) => take.last_bars(*count).unwrap_or_default(),
            Extent::Song => self.started..take.end,
            Extent::Everything => take.start..take.end,
            Extent::Selection(range) => range.clone(),
        };
        let settings = request.format.settings(request.settings);
        let name =
            |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let shown = request.path.display();
        match take.part(range).write(request.format, &settings, name(&request.path)) {
            Ok((_, 0)) => "There are no notes to save yet".to_owned(),
            Err(error) => format!("{error} Choose fewer bars."),
            Ok((file, count)) => match fs::write(&request.path, file) {
                Ok(()) => format!("{count} notes saved: {shown}"),
                Err(error) => format!("{shown} cannot be written: {error}"),
            },
        }
    }
}

/// Creates the second filter; `None` if the sample rate is out of range.
fn listening(settings: &Settings, rate: f64) -> Option<ToneFilter> {
    let filter = ToneFilter::new(rate, &detecting(*settings)).ok()?;
    // As in the plugin, an unknown kernel name is ignored.
    let kernel = Kernel::from_environment().unwrap_or_else(|_| Kernel::best());
    let mut filter = filter.with_kernel(kernel);
    filter.detect_notes(true);
    filter.reset();
    Some(filter)
}

/// Returns the plugin's `settings`, with changes for the detection: the voice Chip also finds drums and the lead.
fn detecting(settings: Settings) -> Settings {
    Settings { voice: Voice::Chip, lookahead: true, freeze: false, ..settings }
}

/// Whether the first pulse of the voice Chip plays `note` for more than half of the note's duration.
fn is_lead(note: &Note, take: &Take, tuning: f32, shift: f32) -> bool {
    let index = |time: f64| ((time - take.start).max(0.0) * f64::from(TICKS)) as usize;
    let ticks = index(note.start).min(take.ticks.len())..index(note.end).min(take.ticks.len());
    let hertz =
        notes::frequency(note.tone, f64::from(tuning), f64::from(shift) + f64::from(note.offset));
    // Within half a semitone.
    let is_near = |frequency: f32| (f64::from(frequency) / hertz - 1.0).abs() < 0.029;
    let count =
        take.ticks[ticks.clone()].iter().filter(|tick| is_near(tick.pulses[0].frequency)).count();
    2 * count > ticks.len()
}

#[cfg(test)]
mod tests;
