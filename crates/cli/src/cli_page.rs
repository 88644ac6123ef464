//! Test that `docs/cli.md` equals the page generated from the parser. If [`UPDATE`] is set, the test writes the page instead.

use super::{Cli, sound::Sound};
use clap::{Arg, ArgAction, Args, Command, CommandFactory};
use std::{collections::BTreeMap, env, fs, path::Path};

/// Environment variable that makes the test write the page.
const UPDATE: &str = "UPDATE_CLI";

/// Heading of the flags that several verbs share.
const SOUND: &str = "Sound flags";

const INTRODUCTION: &str = "\
<!-- Made of the parser by `UPDATE_CLI=1 cargo test -p tone-filter-cli --bin tone-filter`; with `--features app`, play and app are, too. -->

# All flags

Every command, argument and flag of `tone-filter`, as the program itself knows them. [The guide](manual/command-line.md) shows how to use them.
";

const SOUND_INTRODUCTION: &str = "
For `render`, `bands`, `chip` and `play`. They start from `--preset`, or from the sound of a new instance (`chip` from `sound-chip`), and a flag wins over the preset.
Numbers may have a unit, as in `--tone 8kHz`. What is on or off may stand alone, `--auto`, or with its state, `--auto=off`.
[What each setting sounds like](manual/settings.md).
";

#[test]
fn the_page_is_that_of_the_parser() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let committed = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let (known, mut made) = (sections(&committed), made());
    let names = ["render", SOUND, "bands", "chip", "play", "app", "presets", "bench"];
    let mut page = INTRODUCTION.to_owned();
    for name in names.into_iter().chain(["completions", "man"]) {
        // Sections of verbs that this build lacks stay as they are.
        let section = made.remove(name).or_else(|| known.get(name).cloned());
        page += &section.unwrap_or_else(|| panic!("build it with {name}"));
    }
    assert!(made.is_empty(), "no place for {:?}", made.keys());
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, page).unwrap();
        return;
    }
    let changed = page.lines().zip(committed.lines()).find(|(made, committed)| made != committed);
    assert!(page == committed, "write it as its first line says: {changed:?}");
}

fn sections(page: &str) -> BTreeMap<String, String> {
    let sections = page.split("\n## ").skip(1);
    sections
        .map(|text| {
            let name = text.lines().next().unwrap_or_default().to_owned();
            (name, format!("\n## {}\n", text.trim_end_matches('\n')))
        })
        .collect()
}

/// Returns whether this build has `verb`. Without their features, `play` and `app` are stubs that print an install command.
fn is_here(verb: &str) -> bool {
    verb != "help"
        && (verb != "play" || cfg!(feature = "play"))
        && (verb != "app" || cfg!(feature = "app"))
}

/// Generates the sections from the parser. Returns their texts by their headings.
fn made() -> BTreeMap<String, String> {
    let mut cli = Cli::command();
    cli.build();
    let verbs = cli.get_subcommands().filter(|verb| is_here(verb.get_name()));
    let mut made: BTreeMap<_, _> = verbs
        .map(|verb| (verb.get_name().to_owned(), format!("\n## {}", verb_text(verb))))
        .collect();
    let mut text = format!("\n## {SOUND}\n{SOUND_INTRODUCTION}\n");
    text += &table(Sound::augment_args(Command::new("")).get_arguments());
    made.insert(SOUND.into(), text);
    made
}

/// Returns the section of a verb without its `## `.
fn verb_text(verb: &Command) -> String {
    let name = verb.get_name();
    let usage = verb.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{name}\n\n{about}.\n\n```text\n{usage}\n```\n");
    let arguments = || verb.get_arguments().filter(|arg| !is_sound(arg) && arg.get_id() != "help");
    if arguments().next().is_some() {
        text += "\n";
        text += &table(arguments());
    }
    text += &shared(verb);
    for inner in verb.get_subcommands().filter(|inner| inner.get_name() != "help") {
        text += &format!("\n### {name} {}", verb_text(inner));
    }
    for block in verb.get_after_help().map(ToString::to_string).unwrap_or_default().split("\n\n") {
        let (first, rest) = block.split_once('\n').unwrap_or((block, ""));
        let lines: Vec<_> = rest.lines().map(str::trim_start).collect();
        text += &match block {
            "" => String::new(),
            _ if first.starts_with("Example") => format!("\n```sh\n{}\n```\n", lines.join("\n")),
            _ if rest.is_empty() => format!("\n{block}\n"),
            _ => format!("\n```text\n{block}\n```\n"),
        };
    }
    text
}

fn is_sound(arg: &Arg) -> bool {
    arg.get_help_heading() == Some("Sound")
}

/// Returns a sentence about the sound flags of a verb. It names the flags that the verb lacks, and its defaults that differ
/// from the shared list.
fn shared(verb: &Command) -> String {
    let flags: BTreeMap<_, _> =
        verb.get_arguments().filter(|arg| is_sound(arg)).map(|arg| (arg.get_id(), arg)).collect();
    if flags.is_empty() {
        return String::new();
    }
    let all = Sound::augment_args(Command::new(""));
    let all = || all.get_arguments().filter(|arg| is_sound(arg));
    let missing: Vec<_> = all().filter(|arg| !flags.contains_key(arg.get_id())).map(long).collect();
    let other = all().filter_map(|arg| {
        let [shared, values] = [arg, flags.get(arg.get_id())?].map(|arg| parts(arg).0);
        let default = values.rsplit_once("default ").filter(|_| shared != values)?.1;
        Some(format!("{} {default}", long(arg)))
    });
    let other: Vec<_> = other.collect();
    let mut text = "\nAnd the [sound flags](#sound-flags)".to_owned();
    if !missing.is_empty() {
        text += &format!(", but for {}", missing.join(", "));
    }
    if !other.is_empty() {
        text += &format!(". Other defaults: {}", other.join(", "));
    }
    text + ".\n"
}

fn long(arg: &Arg) -> String {
    format!("`--{}`", arg.get_long().unwrap_or_default())
}

/// Returns a Markdown table with a row for each of `args`.
fn table<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let rows = args.map(|arg| {
        let (range, help) = parts(arg);
        format!("| `{}` | {range} | {help} |\n", cell(&signature(arg)))
    });
    "| argument or flag | values | meaning |\n|---|---|---|\n".to_owned()
        + &rows.collect::<String>()
}

/// Returns a flag with the name of its value, as in `-o, --out OUT`.
fn signature(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ");
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let many =
        if arg.get_num_args().is_some_and(|count| count.max_values() > 1) { "..." } else { "" };
    let Some(long) = arg.get_long() else { return value + many };
    let short = arg.get_short().map_or(String::new(), |short| format!("-{short}, "));
    let value = match (takes, arg.get_num_args().is_some_and(|count| count.min_values() == 0)) {
        (false, _) => String::new(),
        (true, true) => format!("[={value}]"),
        (true, false) => format!(" {value}"),
    };
    format!("{short}--{long}{value}{many}")
}

/// Splits the help of an argument into two texts: the range of its values with the default, and the rest.
fn parts(arg: &Arg) -> (String, String) {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('\n', " ");
    let (help, range) = match help.strip_suffix(']').and_then(|help| help.rsplit_once(" [")) {
        Some((help, range)) => (help.to_owned(), range.replace("default: ", "default ")),
        None => (help, String::new()),
    };
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let possible = arg.get_possible_values().into_iter().filter(|_| takes);
    let possible: Vec<_> = possible.map(|value| value.get_name().to_owned()).collect();
    let default =
        arg.get_default_values().iter().filter(|_| takes && !arg.is_hide_default_value_set());
    let default = default.map(|value| format!("default {}", value.to_string_lossy()));
    let all = [range, possible.join(", ")].into_iter().filter(|part| !part.is_empty());
    let all: Vec<_> = all.chain(default).collect();
    (cell(&all.join(", ")), cell(&help))
}

/// Escapes `text` for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
