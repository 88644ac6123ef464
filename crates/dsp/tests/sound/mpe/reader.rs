//! Strict reader of MPE (MIDI Polyphonic Expression) 1.0, with a lower zone of 15 member channels.

/// Number of member channels, from channel 1 on. Channel 0 is the master channel.
const MEMBERS: u8 = 15;
/// Required pitch bend range in semitones.
const RANGE: u8 = 48;

#[derive(Debug, Clone, Default)]
struct Member {
    /// Last pitch bend in semitones; `None` before the first one. A note needs a bend first.
    bend: Option<f64>,
    /// Pitch bend range in semitones, once it is set.
    range: Option<u8>,
    keys: Vec<u8>,
    /// Index of the channel's last note-on or note-off among all messages.
    used: usize,
}

/// Validator of a sender's MPE messages. It panics at messages that this sender must not send.
#[derive(Debug, Clone, Default)]
pub struct Mpe {
    /// Whether the sender has set up the zone.
    pub zone: bool,
    /// Members by channel; the first is the master channel.
    members: [Member; MEMBERS as usize + 1],
    /// Received part of a registered parameter: values of the controllers 101, 100 and 6.
    parameter: Vec<u8>,
    channel: u8,
    /// Channel of the previous message, if it was a pitch bend.
    bent: Option<u8>,
    /// Number of messages so far.
    count: usize,
    /// Number of note-ons so far.
    pub notes: usize,
}

impl Mpe {
    /// Validates the next message.
    pub fn read(&mut self, message: [u8; 3]) {
        self.count += 1;
        let [status, first, second] = message;
        assert!(first < 128 && second < 128, "{message:?}");
        let channel = status & 15;
        let is_free = self.sounding().count() < usize::from(MEMBERS);
        let oldest = self.members[1..].iter().filter(|member| member.keys.is_empty());
        let oldest = oldest.map(|member| member.used).min();
        let bent = self.bent.take();
        let count = self.count;
        assert!(status & 0xF0 == 0xB0 || self.parameter.is_empty(), "{message:?} in a parameter");
        assert!(status & 0xF0 == 0xB0 || self.zone && channel > 0, "{message:?} outside the zone");
        let member = &mut self.members[usize::from(channel)];
        match status & 0xF0 {
            0x90 => {
                assert!(second > 0, "{message:?} ends a note by a velocity of 0");
                assert_eq!(bent, Some(channel), "{message:?} without a bend before it");
                assert!(!member.keys.contains(&first), "{message:?} sounds already");
                assert!(!is_free || member.keys.is_empty(), "{message:?} on a used channel");
                assert!(!is_free || Some(member.used) == oldest, "{message:?} on a recent channel");
                (member.used, self.notes) = (count, self.notes + 1);
                member.keys.push(first);
            }
            0x80 => {
                let at = member.keys.iter().position(|key| *key == first);
                member.keys.remove(at.unwrap_or_else(|| panic!("{message:?} ends no note")));
                member.used = count;
            }
            0xE0 => {
                assert_eq!(member.range, Some(RANGE), "{message:?} without a range");
                let value = f64::from(first) + 128.0 * f64::from(second) - 8192.0;
                member.bend = Some(value / 8192.0 * f64::from(RANGE));
                self.bent = Some(channel);
            }
            0xB0 => self.control(channel, first, second),
            _ => panic!("{message:?} is no message of a zone"),
        }
    }

    fn control(&mut self, channel: u8, controller: u8, value: u8) {
        let expected = [101, 100, 6][self.parameter.len()];
        assert_eq!(controller, expected, "a parameter has the controllers 101, 100 and 6");
        assert!(self.parameter.is_empty() || channel == self.channel, "in one channel");
        self.channel = channel;
        self.parameter.push(value);
        match self.parameter[..] {
            [0, 6, members] => {
                assert_eq!(channel, 0, "the master channel of the lower zone is 0");
                assert!(members == MEMBERS || members == 0 && self.zone, "{members} members");
                assert_eq!(self.sounding().count(), 0, "notes sound while the zone changes");
                *self = Self { zone: members > 0, notes: self.notes, ..Self::default() };
            }
            [0, 0, range] => {
                assert!(self.zone && channel > 0, "a range outside the zone");
                self.members[usize::from(channel)].range = Some(range);
                self.parameter.clear();
            }
            [_, _, _] => panic!("{:?} is unknown", self.parameter),
            _ => {}
        }
    }

    /// Returns the sounding notes: channel, key, and bent pitch as a fractional MIDI note.
    pub fn sounding(&self) -> impl Iterator<Item = (usize, u8, f64)> {
        let keys = |(channel, member): (usize, &Member)| {
            let bend = member.bend.unwrap_or(f64::NAN);
            let keys = member.keys.clone();
            keys.into_iter().map(move |key| (channel, key, f64::from(key) + bend))
        };
        self.members.iter().enumerate().flat_map(keys)
    }
}
