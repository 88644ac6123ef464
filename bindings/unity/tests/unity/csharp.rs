//! The lists in `ToneFilter.cs` are equal to the tables.

use AudioPluginToneFilter::parameters::PARAMETERS;
use std::{env, fmt::Write, fs, path::Path};

/// Environment variable that makes the test write the lists instead of comparing them.
const UPDATE: &str = "UPDATE_CSHARP";

const MARKS: [&str; 2] = ["        // <generated>\n", "        // </generated>\n"];

/// Returns C# constants of the parameters' names, and a table of the entries of lists.
fn lists() -> String {
    let mut text = String::new();
    for parameter in PARAMETERS.iter() {
        let (name, [min, max]) = (parameter.name(), parameter.range());
        let words = name.split(' ').map(|word| word[..1].to_uppercase() + &word[1..]);
        let constant: String = words.collect();
        let help = parameter.description();
        let help =
            if parameter.entries().is_empty() { &help } else { help.split(" 0: ").next().unwrap() };
        let unit = Some(parameter.unit()).filter(|unit| !unit.is_empty());
        let range = match parameter.entries().is_empty() {
            true => {
                format!(" {min} to {max}{}.", unit.map_or(String::new(), |unit| format!(" {unit}")))
            }
            false => String::new(),
        };
        writeln!(text, "        /// <summary>{help}{range}</summary>").unwrap();
        writeln!(text, "        public const string {constant} = \"{name}\";\n").unwrap();
    }
    text.push_str(
        "        /// <summary>The entries of each list, in the order of their numbers.</summary>\n",
    );
    text.push_str("        public static readonly Dictionary<string, string[]> Entries = new Dictionary<string, string[]>\n        {\n");
    for parameter in PARAMETERS.iter().filter(|parameter| !parameter.entries().is_empty()) {
        let entries: Vec<_> = parameter.entries().iter().map(|id| format!("\"{id}\"")).collect();
        let (name, entries) = (parameter.name(), entries.join(", "));
        writeln!(text, "            {{ \"{name}\", new[] {{ {entries} }} }},").unwrap();
    }
    text.push_str("        };\n");
    text
}

#[test]
fn the_lists_are_those_of_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ToneFilter.cs");
    let file = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (before, rest) = file.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let made = [before, MARKS[0], &lists(), MARKS[1], after].concat();
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    assert!(committed == made, "write them with {UPDATE}=1 cargo test -p tone-filter-unity");
}
