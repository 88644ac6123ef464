//! Generator of the manual's page of settings.

use super::{
    MADE,
    shown::{SHOWN, Shown},
};
use std::fmt::Write;
use tone_filter_dsp::{Controls, Setting, Taper};

const INTRODUCTION: &str = "\
# Every setting

This page shows what each setting does and how it sounds. The settings are in the order of the window. The plugin, the command (`--drive 8`),
presets (`\"drive\": 8`) and the library know each setting by the same name, which stands under its heading. On the command line, Keys is called `--key-mode`,
`--tempo auto` takes the place of Sync to, for files, Lookahead is on unless Focus is 0, and Sidechain, MIDI out and MPE do not exist. Presets leave out Bypass, Sidechain, MIDI out and MPE.

The page uses three words:

* A *resonator* is a very narrow filter. It rings when the music has its note, like a piano string that sings along.
* A *band* is one note of the grid with its resonator. There are 77 bands, from E1 to G#7.
* A note is *played* when the plugin has found it in the music. The part of the plugin that finds notes is called the *listener*.

The pictures are spectrograms of the demo tune at a Mix of 100 %. Time goes to the right, pitch goes up from E1, and bright is loud. Orange is left,
blue is right, and white is both. Each picture has several parts, and the line below it names their values from left to right. The thin lines
above the notes are their overtones.

";

const END: &str = "\
## Settings without a slider or a list

You set three more settings with the mouse in the window. The command has flags for them.

* `bands` are the notes that may sound. Click the cells of the grid.
* `custom` are the notes of the scale *Custom*. Click the keyboard under the grid.
* `targets` are the notes to which Map at *Custom* moves each note. Drag a key of the keyboard under the grid to another key.

[All flags](../cli.md#sound-flags) shows how to write them on the command line.
";

/// Returns the page as Markdown.
pub fn page() -> String {
    let mut page = MADE.to_owned() + INTRODUCTION;
    let all = SHOWN.iter().flat_map(|(_, group)| *group);
    let names: Vec<_> = all.map(|shown| link(setting(shown.id).name())).collect();
    page += &names.join(" · ");
    page += "\n";
    for (group, settings) in &SHOWN {
        let _ = write!(page, "\n## {group}{}\n", if *group == "Main" { "" } else { " settings" });
        settings.iter().for_each(|shown| page += &section(shown));
    }
    page + "\n" + END
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase().replace(' ', "-"))
}

fn setting(id: &str) -> Setting {
    Setting::find(id).unwrap_or_else(|| panic!("{id} is no setting"))
}

fn section(shown: &Shown) -> String {
    let (id, setting) = (shown.id, setting(shown.id));
    let range = match setting {
        Setting::Number(spec) => {
            let whole = if spec.taper == Taper::Whole { ", whole numbers" } else { "" };
            let [min, max] = [spec.min, spec.max].map(|end| spec.number(end, spec.decimals));
            let default = spec.format(spec.default());
            format!("{min} to {max} {}{whole}; default {default}", spec.unit)
        }
        Setting::Choice(choice) => {
            let entry = |(id, name): &(&str, &str)| match id.eq_ignore_ascii_case(name) {
                true => (*name).to_owned(),
                false => format!("{name} (`{id}`)"),
            };
            let entries: Vec<_> = choice.entries.iter().map(entry).collect();
            format!("{}; default {}", entries.join(", "), choice.entries[choice.default()].1)
        }
        Setting::Text(_) => panic!("{id} has no section"),
    };
    let (name, help) = (setting.name(), setting.help());
    let mut text = format!("\n### {name}\n\n{help}\n\n`{id}`: {range}.");
    if let Some(reason) = Controls::default().idle(id) {
        let _ = write!(text, " No effect with the defaults: {reason}.");
    }
    let _ = write!(text, "\n\n{}\n", shown.sounds);
    if !shown.values.is_empty() {
        let values = shown.values.iter().map(|value| label(setting, value).unwrap_or_default());
        let values = values.collect::<Vec<_>>().join(" | ");
        let _ = write!(text, "\n![{name}: {values}](pictures/{id}.webp)\n\n*{values}*\n");
    }
    text
}

/// Returns `value` as the plugin displays it; `None` if it is invalid.
fn label(setting: Setting, value: &str) -> Option<String> {
    match setting {
        Setting::Number(spec) => {
            let value = spec.parse(value).filter(|value| spec.check(*value).is_ok())?;
            Some(spec.format(value))
        }
        Setting::Choice(choice) => Some(choice.entries[choice.parse(value)?].1.to_owned()),
        Setting::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_setting_is_shown_once_with_valid_values() {
        let all: Vec<_> = SHOWN.iter().flat_map(|(_, group)| *group).collect();
        let shown: BTreeSet<_> = all.iter().map(|shown| shown.id).collect();
        let known = Setting::all().filter(|setting| !matches!(setting, Setting::Text(_)));
        let known: BTreeSet<_> = known.map(Setting::id).collect();
        assert_eq!(shown, known);
        assert_eq!(all.len(), known.len());
        for shown in all {
            for value in shown.values {
                assert!(label(setting(shown.id), value).is_some(), "{} = {value}", shown.id);
            }
            assert_ne!(shown.values.len(), 1, "{}: one value shows no difference", shown.id);
        }
    }
}
