//! Which settings belong together where people see them: in the editor, and in hosts that show groups.

/// A group of settings, which hosts and the editor show under its name.
#[derive(Debug)]
pub struct Group {
    /// Name for people.
    pub name: &'static str,
    /// Ids of its settings, in the order of the editor.
    pub ids: &'static [&'static str],
}

/// The settings that the editor always shows: those that everybody wants, in the order of the editor.
pub static STRIP: Group =
    Group { name: "Main", ids: &["mix", "voice", "sensitivity", "tone", "output"] };

/// The setting with a button in the editor's header; hosts show it with [`STRIP`].
pub const BYPASS: &str = "bypass";

/// The settings that the editor shows under More, in the order of the signal flow. A group may have any number of them.
pub static GROUPS: [Group; 5] = [
    Group {
        name: "Listening",
        ids: &[
            "auto",
            "focus",
            "lookahead",
            "listener",
            "listen",
            "tuning",
            "auto-tuning",
            "transpose",
        ],
    },
    Group { name: "Notes", ids: &["voices", "octave", "glide", "vibrato", "keys", "freeze"] },
    Group {
        name: "Resonators",
        ids: &["ring", "release", "sync", "threshold", "ceiling", "floor", "stereo", "drive"],
    },
    Group { name: "Chip", ids: &["arp", "duty", "attack", "decay"] },
    Group { name: "Output", ids: &["morph", "midi-out"] },
];

/// The settings of the notes that may sound, which the editor shows below the bands.
pub static NOTES: Group = Group { name: "Notes", ids: &["root", "scale", "range", "map"] };

/// The name of the group that `id` is in.
pub fn group_name(id: &str) -> &'static str {
    let mut groups = GROUPS.iter().chain([&NOTES]);
    groups.find(|group| group.ids.contains(&id)).unwrap_or(&STRIP).name
}
