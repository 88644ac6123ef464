//! Detected notes as messages to a host: as plain MIDI, or as MPE (MIDI Polyphonic Expression 1.0), with a channel for each note.

use crate::{
    Controls, Routing, ToneFilter,
    listener::notes::{Event, Notes},
    notes::{TONES, midi_note, of_listener},
};

/// Number of member channels in the MPE zone: channels 1 to 15. Channel 0 is the master channel.
const MEMBERS: u8 = 15;
/// Range of pitch bends on member channels in semitones, up and down.
const BEND_RANGE: u8 = 48;
/// Value of a MIDI pitch bend without an effect.
const CENTRE: i32 = 8192;
/// Minimum change in semitones for which a pitch bend is sent.
const LEAST_BEND: f32 = 0.01;

/// Message about detected notes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SentEvent {
    /// Note-on. With MPE, an initial pitch bend precedes it.
    On {
        /// MIDI channel, 0..16.
        channel: u8,
        /// MIDI key, 0..128.
        key: u8,
        /// Velocity, 1..128.
        velocity: u8,
        /// Semitones from the key up to the pitch, with MPE.
        bend: Option<f32>,
    },
    /// Note-off.
    Off {
        /// MIDI channel, 0..16.
        channel: u8,
        /// MIDI key, 0..128.
        key: u8,
    },
    /// Pitch bend of a sounding note.
    Bend {
        /// MIDI channel, 0..16.
        channel: u8,
        /// MIDI key, 0..128.
        key: u8,
        /// Semitones from the key up to the pitch.
        semitones: f32,
    },
    /// Start of the MPE zone, sent before its first note, or end of the zone, sent after its last note.
    Zone {
        /// Number of member channels; 0 for the end.
        members: u8,
    },
}

impl SentEvent {
    /// Converts the event to MIDI messages, and passes them to `send`. The initial pitch bend of a note precedes its note-on. A
    /// zone starts with the MPE Configuration Message and the pitch bend range of each member channel. It ends with the MPE
    /// Configuration Message.
    ///
    /// ```
    /// use tone_filter_dsp::SentEvent;
    ///
    /// let mut sent = vec![];
    /// let event = SentEvent::On { channel: 1, key: 69, velocity: 100, bend: Some(-0.5) };
    /// event.midi(|message| sent.push(message));
    /// assert_eq!(sent, [[0xE1, 0x2B, 0x3F], [0x91, 69, 100]]);
    /// ```
    pub fn midi(self, mut send: impl FnMut([u8; 3])) {
        let bend = |channel: u8, semitones: f32| {
            let steps = (semitones * CENTRE as f32 / f32::from(BEND_RANGE)).round() as i32;
            let value = (CENTRE + steps).clamp(0, 2 * CENTRE - 1);
            [0xE0 | channel, (value & 0x7F) as u8, (value >> 7) as u8]
        };
        match self {
            Self::On { channel, key, velocity, bend: semitones } => {
                semitones.into_iter().for_each(|semitones| send(bend(channel, semitones)));
                send([0x90 | channel, key, velocity]);
            }
            Self::Off { channel, key } => send([0x80 | channel, key, 0]),
            Self::Bend { channel, semitones, .. } => send(bend(channel, semitones)),
            Self::Zone { members } => {
                // Registered parameter 6 is the zone, 0 the range of pitch bends.
                let zone = [(0, 6, members)].into_iter();
                let ranges = (1..=members).map(|channel| (channel, 0, BEND_RANGE));
                for (channel, parameter, value) in zone.chain(ranges) {
                    for (controller, value) in [(101, 0), (100, parameter), (6, value)] {
                        send([0xB0 | channel, controller, value]);
                    }
                }
            }
        }
    }
}

/// Form in which notes are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Nothing,
    Plain,
    Mpe,
}

impl Form {
    fn of(routing: &Routing) -> Self {
        match (routing.midi_out && !routing.bypass, routing.mpe) {
            (false, _) => Self::Nothing,
            (true, false) => Self::Plain,
            (true, true) => Self::Mpe,
        }
    }
}

/// Member channel of the MPE zone.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// Number of keys that sound on the channel.
    notes: u8,
    /// Value of [`Sounding::time`] when a note last began or ended on the channel.
    used: u64,
    /// Band and key of the note that began last.
    last: Option<(usize, u8)>,
    /// Last bend that was sent, in semitones.
    bend: f32,
}

/// Notes that were sent and have not ended.
#[derive(Debug)]
struct Sounding {
    form: Form,
    /// Key of the note that sounds on each band.
    keys: [Option<u8>; TONES],
    /// Counts of the notes on each sent key.
    held: KeyCounts,
    /// Channel on which each key was sent last.
    channels: [u8; 128],
    members: [Member; MEMBERS as usize],
    /// Number of starts and ends of notes so far.
    time: u64,
}

impl Sounding {
    const fn new() -> Self {
        const UNUSED: Member = Member { notes: 0, used: 0, last: None, bend: 0.0 };
        Self {
            form: Form::Nothing,
            keys: [None; TONES],
            held: KeyCounts::new(),
            channels: [0; 128],
            members: [UNUSED; MEMBERS as usize],
            time: 0,
        }
    }

    /// Ends all notes, and starts to send in `form`.
    fn change(&mut self, form: Form, send: &mut impl FnMut(SentEvent)) {
        (0..TONES).for_each(|band| self.release(band, send));
        if self.form == Form::Mpe && form != Form::Mpe {
            send(SentEvent::Zone { members: 0 });
        }
        if form == Form::Mpe {
            send(SentEvent::Zone { members: MEMBERS });
        }
        self.form = form;
    }

    fn release(&mut self, band: usize, send: &mut impl FnMut(SentEvent)) {
        let Some(key) = self.keys[band].take().filter(|key| self.held.release(*key)) else {
            return;
        };
        let channel = self.channels[usize::from(key)];
        send(SentEvent::Off { channel, key });
        if let Some(member) = self.use_member(channel) {
            member.notes -= 1;
        }
    }

    /// Begins the note of a band, `bend` semitones above `key`.
    fn press(
        &mut self,
        band: usize,
        (key, velocity): (u8, u8),
        bend: impl FnOnce() -> f32,
        send: &mut impl FnMut(SentEvent),
    ) {
        self.keys[band] = Some(key);
        if !self.held.press(key) {
            return;
        }
        let members = (1..).zip(&self.members);
        let free = members.min_by_key(|(_, member)| (member.notes, member.used));
        let channel = free.filter(|_| self.form == Form::Mpe).map_or(0, |(channel, _)| channel);
        let bend = self.use_member(channel).map(|member| {
            let bend = bend();
            *member = Member { notes: member.notes + 1, last: Some((band, key)), bend, ..*member };
            bend
        });
        self.channels[usize::from(key)] = channel;
        send(SentEvent::On { channel, key, velocity, bend });
    }

    /// Counts the start or the end of a note on a channel. Returns its member; `None` for the master channel.
    fn use_member(&mut self, channel: u8) -> Option<&mut Member> {
        self.time += 1;
        let member = self.members.get_mut(usize::from(channel).checked_sub(1)?)?;
        member.used = self.time;
        Some(member)
    }

    /// Sends a pitch bend for the last note of each channel if `bend` returns a new pitch for the band of that note.
    fn bend(&mut self, bend: impl Fn(usize) -> Option<f32>, send: &mut impl FnMut(SentEvent)) {
        for (channel, member) in (1..).zip(&mut self.members) {
            let last = member.last.filter(|(band, key)| self.keys[*band] == Some(*key));
            if let Some((band, key)) = last
                && let Some(semitones) = bend(band)
                && (semitones - member.bend).abs() >= LEAST_BEND
            {
                member.bend = semitones;
                send(SentEvent::Bend { channel, key, semitones });
            }
        }
    }
}

/// Sender of the detected notes. Tracks which notes are on, so that each gets its end.
#[derive(Debug)]
pub struct SentNotes {
    notes: Notes,
    sounding: Sounding,
    /// Listener frame of the last call.
    frame: u64,
    /// Whether the next [`SentNotes::push`] ends all notes first.
    ends_all: bool,
}

impl Default for SentNotes {
    fn default() -> Self {
        Self::new()
    }
}

impl SentNotes {
    /// Creates the state without notes.
    pub const fn new() -> Self {
        Self { notes: Notes::live(), sounding: Sounding::new(), frame: 0, ends_all: false }
    }

    /// Ends all notes at the next [`SentNotes::push`].
    pub fn clear(&mut self) {
        self.ends_all = true;
    }

    /// Passes the notes of the filter's last block of 64 samples to `send`. Must be called after each block. Notes on one key are
    /// sent as one note; see [`KeyCounts`]. Without [`Routing::midi_out`](crate::Routing::midi_out), or with a bypass, all notes
    /// end. Does not allocate.
    ///
    /// With [`Routing::mpe`](crate::Routing::mpe), each note gets the member channel that has been free for the longest time.
    /// With more than 15 notes, notes share channels, and a channel follows the pitch of its last note. Key and bend together
    /// give the pitch for an A4 of 440 Hz.
    ///
    /// ```
    /// use tone_filter_dsp::{Routing, SentNotes, Settings, ToneFilter};
    ///
    /// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
    /// filter.set_routing(Routing { midi_out: true, ..Routing::default() });
    /// filter.detect_notes(true);
    /// let mut notes = SentNotes::new();
    /// filter.process_with(&mut [&mut [0.0; 512]], |_, filter| {
    ///     notes.push(filter, |event| panic!("{event:?} in silence"));
    /// });
    /// # Ok::<(), tone_filter_dsp::Error>(())
    /// ```
    pub fn push(&mut self, filter: &ToneFilter, mut send: impl FnMut(SentEvent)) {
        let Self { notes, sounding, frame, ends_all } = self;
        let Controls { settings, routing } = *filter.timeline.now;
        let form = Form::of(&routing);
        if *ends_all || form != sounding.form {
            sounding.change(form, &mut send);
            (*notes, *ends_all) = (Notes::live(), false);
        }
        if form == Form::Nothing {
            return;
        }
        let (shift, offsets) = (settings.pitch_shift(), filter.offsets());
        filter.report_notes(notes, |Event { note, velocity, .. }| {
            let Some(band) = of_listener(note) else { return };
            sounding.release(band, &mut send);
            if let Some(velocity) = velocity {
                // A note outside the MIDI range has no key.
                let note = midi_note(band, shift) + i32::from(offsets[band]);
                if let Some(key) = u8::try_from(note).ok().filter(|key| *key < 128) {
                    let bend = || filter.bend(band).unwrap_or_else(|| filter.nominal_bend());
                    sounding.press(band, (key, velocity), bend, &mut send);
                }
            }
        });
        let now = filter.decisions().frames;
        if *frame != now {
            *frame = now;
            sounding.bend(|band| filter.bend(band), &mut send);
        }
    }
}

/// Note counts per MIDI key, for notes that are sent. Notes that [`Map`](crate::Map) moves to one key are sent as one note, from
/// the first start to the last end: with two note-ons, the first note-off would end both.
///
/// ```
/// use tone_filter_dsp::KeyCounts;
///
/// let mut keys = KeyCounts::new();
/// assert!(keys.press(60) && !keys.press(60));
/// assert!(!keys.release(60) && keys.release(60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCounts([u32; 128]);

impl Default for KeyCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyCounts {
    /// Creates counts of 0.
    pub const fn new() -> Self {
        Self([0; 128])
    }

    /// Adds a note on `key` (0..128). Returns whether it is the only one, so that a note-on is due.
    pub fn press(&mut self, key: u8) -> bool {
        let notes = self.notes(key);
        *notes += 1;
        *notes == 1
    }

    /// Removes a note from `key` (0..128), if there is one. Returns whether it was the last, so that a note-off is due.
    pub fn release(&mut self, key: u8) -> bool {
        let notes = self.notes(key);
        let before = *notes;
        *notes = before.saturating_sub(1);
        before == 1
    }

    fn notes(&mut self, key: u8) -> &mut u32 {
        &mut self.0[usize::from(key & 0x7F)]
    }
}
