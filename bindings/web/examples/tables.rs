//! Writes two files of the npm package into a folder: the tables of settings and presets, and their TypeScript types.

use serde::Serialize;
use serde_json::{Value, json};
use std::{env, error::Error, fmt::Write, fs, path::Path};
use tone_filter_dsp::{
    CHOICES, Group, SPECS, TEXTS, TextOf,
    notes::{PUBLISHED, TONES},
};
use tone_filter_presets::{Preset, ids};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let folder = env::args_os().nth(1).ok_or("usage: tables FOLDER")?;
    fs::write(Path::new(&folder).join("tables.js"), tables()?)?;
    Ok(fs::write(Path::new(&folder).join("settings.d.ts"), declarations())?)
}

/// Returns `value` as JSON. A 32-bit number has its shortest form: 0.1, not the digits of the nearest 64-bit number.
fn short(value: &impl Serialize) -> Result<Value> {
    Ok(serde_json::from_str(&serde_json::to_string(value)?)?)
}

/// Returns the tables of settings and presets as JavaScript, with a line for each row.
fn tables() -> Result<String> {
    let numbers = SPECS.iter().map(|spec| {
        let taper = format!("{:?}", spec.taper).to_lowercase();
        Ok(json!({
            "id": spec.id, "name": spec.name, "min": short(&spec.min)?, "max": short(&spec.max)?, "unit": spec.unit,
            "decimals": spec.decimals, "taper": taper, "help": spec.help,
        }))
    });
    let choices = CHOICES.iter().map(|choice| {
        json!({
            "id": choice.id, "name": choice.name, "entries": choice.entries, "help": choice.help,
        })
    });
    let texts = TEXTS.iter().map(|text| {
        let form = form(text.of);
        let of = text.of.to_string();
        json!({ "id": text.id, "name": text.name, "form": form, "of": of, "help": text.help })
    });
    let presets = ids().map(|id| {
        let preset = Preset::factory(id).ok_or("a factory preset")?;
        let settings = short(&preset)?["settings"].take();
        let Preset { name, description, tags, .. } = preset;
        Ok(json!({
            "id": id, "name": name, "description": description, "tags": tags, "settings": settings,
        }))
    });
    let lists = [
        ("numbers", numbers.collect::<Result<Vec<_>>>()?),
        ("choices", choices.collect()),
        ("texts", texts.collect()),
        ("groups", groups()),
        ("presets", presets.collect::<Result<_>>()?),
    ];
    let mut text = String::from("// Made of the library's tables.\n");
    for (name, rows) in lists {
        let rows: Vec<_> = rows.iter().map(Value::to_string).collect();
        write!(text, "\nexport const {name} = [\n  {},\n];\n", rows.join(",\n  "))?;
    }
    Ok(text)
}

fn form(of: TextOf) -> String {
    let digits = |count| format!("(?:[01]\\s*){{{count}}}");
    match of {
        TextOf::Switches(TONES) => format!("^\\s*(?:{}|{})$", digits(TONES), digits(PUBLISHED)),
        TextOf::Switches(count) => format!("^\\s*{}$", digits(count)),
        TextOf::Notes(count) => format!("^\\s*[A-G][#b]?(?:\\s+[A-G][#b]?){{{}}}\\s*$", count - 1),
    }
}

/// Returns the groups in the order of the plugin's window: name, and ids of numbers and choices.
fn groups() -> Vec<Value> {
    let with_one_name = Group::ALL.chunk_by(|one, next| one.name() == next.name());
    let group = |groups: &[Group]| {
        let ids: Vec<_> = groups.iter().flat_map(|group| group.ids()).collect();
        json!({ "name": groups[0].name(), "ids": ids })
    };
    with_one_name.map(group).collect()
}

fn declarations() -> String {
    let mut text = String::from(
        "/** All settings: those of the sound, and `bypass`. */\nexport interface Settings {\n",
    );
    for spec in &SPECS {
        let range = format!("{} to {} {}", spec.min, spec.max, spec.unit);
        field(&mut text, spec.id, "number", &format!("{} {range}.", spec.help));
    }
    for choice in &CHOICES {
        let entries = choice.entries.iter().map(|(id, _)| format!("\"{id}\""));
        let kind = match choice.is_switch() {
            true => "boolean".to_owned(),
            false => entries.collect::<Vec<_>>().join(" | "),
        };
        field(&mut text, choice.id, &kind, choice.help);
    }
    for own in &TEXTS {
        field(&mut text, own.id, "string", &format!("{} {}.", own.help, own.of));
    }
    text.push_str("}\n\n/** The ids of the factory presets. */\nexport type PresetId =");
    for id in ids() {
        write!(text, "\n  | \"{id}\"").expect("a text grows");
    }
    text.push_str(";\n");
    text
}

fn field(text: &mut String, id: &str, kind: &str, help: &str) {
    writeln!(text, "  /** {help} */\n  \"{id}\": {kind};").expect("a text grows");
}
