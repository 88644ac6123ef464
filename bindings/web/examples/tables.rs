//! Writes two files of the npm package into a folder: the tables of settings and presets, and their TypeScript types.

use serde::Serialize;
use serde_json::{Value, json};
use std::{env, error::Error, fmt::Write, fs, path::Path};
use tone_filter_dsp::{
    CHOICES, Choice, Group, SPECS, Setting, Spec, TEXTS, Text, TextOf,
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
    let choices = CHOICES.iter().map(|Choice { id, name, entries, help, .. }| {
        json!({ "id": id, "name": name, "entries": entries, "help": help })
    });
    let texts = TEXTS.iter().map(|Text { id, name, of, help, .. }| {
        json!({ "id": id, "name": name, "form": form(*of), "of": of.to_string(), "help": help })
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

/// Returns the types of the settings and of the presets' ids in TypeScript.
fn declarations() -> String {
    let mut text = String::from(
        "/** All settings: those of the sound, and `bypass`. */\nexport interface Settings {\n",
    );
    for setting in Setting::all() {
        let (kind, range) = match setting {
            Setting::Number(Spec { min, max, unit, .. }) => {
                ("number".to_owned(), format!(" {min} to {max} {unit}."))
            }
            Setting::Choice(choice) if choice.is_switch() => ("boolean".to_owned(), String::new()),
            Setting::Choice(choice) => {
                let entries: Vec<_> = choice.entries.iter().map(|(id, _)| quoted(id)).collect();
                (entries.join(" | "), String::new())
            }
            Setting::Text(text) => ("string".to_owned(), format!(" {}.", text.of)),
        };
        let (id, help) = (setting.id(), setting.help());
        text += &format!("  /** {help}{range} */\n  {}: {kind};\n", quoted(id));
    }
    let presets = ids().map(|id| format!("\n  | {}", quoted(id))).collect::<String>();
    text + "}\n\n/** The ids of the factory presets. */\nexport type PresetId =" + &presets + ";\n"
}

fn quoted(id: &str) -> String {
    format!("\"{id}\"")
}
