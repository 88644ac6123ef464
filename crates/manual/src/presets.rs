//! Generator of the manual's page of presets.

use super::MADE;
use std::{collections::BTreeMap, fmt::Write};
use tone_filter_dsp::{Controls, Setting, Settings};
use tone_filter_presets::{Preset, ids};

const INTRODUCTION: &str = "\
# Every preset

This page has every sound that comes with Tone Filter, played on three bars of the demo tune. To load a preset in the plugin, click the preset's name
in the top bar and choose from the list. On the command line, give the preset's id: `--preset arcade`. Many presets are made for other music than
this tune, so try them on yours.

First listen to the tune [as it is](sounds/before.ogg). In each picture the tune is on the left and the preset is on the right. The pictures are
spectrograms, and [the page on settings](settings.md) explains how to read them.

";

/// Returns the page as Markdown.
pub fn page() -> String {
    let mut page = MADE.to_owned() + INTRODUCTION;
    let all = || ids().filter_map(|id| Some((id, Preset::factory(id)?)));
    let mut categories = BTreeMap::<_, Vec<String>>::new();
    for (_, preset) in all() {
        let category = preset.tags.first().cloned().unwrap_or_default();
        let anchor = preset.name.to_lowercase().replace(' ', "-");
        categories.entry(category).or_default().push(format!("[{}](#{anchor})", preset.name));
    }
    page += "| for | presets |\n|---|---|\n";
    for (category, links) in &categories {
        let _ = writeln!(page, "| {category} | {} |", links.join(" · "));
    }
    for (id, preset) in all() {
        let Preset { name, description, tags, settings, .. } = &preset;
        let _ = write!(
            page,
            "\n## {name}\n\n{description}\n\n`{id}`: {}. [Listen](sounds/{id}.ogg)\n\n\
             ![The demo tune and {name}](pictures/preset-{id}.webp)\n\n{}\n",
            tags.join(", "),
            differences(settings),
        );
    }
    page
}

/// Lists the settings that differ from the default, as a sentence.
fn differences(settings: &Settings) -> String {
    let [controls, default] = [*settings, Settings::default()].map(Controls::from);
    let is_changed = |setting: &Setting| setting.value(&controls) != setting.value(&default);
    let (choices, numbers): (Vec<_>, Vec<_>) = Setting::all()
        .filter(is_changed)
        .partition(|setting| matches!(setting, Setting::Choice(_)));
    let shown = |setting: Setting| {
        let entry = setting.entries().get(setting.value(&controls) as usize);
        let value = entry.map_or_else(|| setting.text(&controls), |entry| entry.1.to_owned());
        format!("{} *{value}*", setting.name())
    };
    let masks = (settings.bands != default.settings.bands).then(|| "some notes muted".to_owned());
    let all: Vec<_> = choices.into_iter().chain(numbers).map(shown).chain(masks).collect();
    match all.is_empty() {
        true => "These are the settings of a new instance.".into(),
        false => format!("Changed from the default: {}.", all.join(", ")),
    }
}
