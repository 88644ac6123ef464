//! Writes a C# file, named by the first argument: constants with the names of the parameters, and a table of the lists'
//! entries.

use AudioPluginToneFilter::parameters::PARAMETERS;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let file = env::args_os().nth(1).expect("usage: unity_lists FILE");
    let mut text = "// Made of the filter's tables.\n\nusing System.Collections.Generic;\n\nnamespace ToneFilterUnity\n{\n    \
                    public sealed partial class ToneFilter\n    {\n"
        .to_owned();
    for parameter in PARAMETERS.iter() {
        let (name, [min, max]) = (parameter.name(), parameter.range());
        let words = name.split(' ').map(|word| word[..1].to_uppercase() + &word[1..]);
        let constant: String = words.collect();
        let help = parameter.description();
        // Lists have their entries in the table below.
        let help = match help.split_once(" 0: ") {
            Some((help, _)) => help.to_owned(),
            None => {
                format!("{help} {}.", format!("{min} to {max} {}", parameter.unit()).trim_end())
            }
        };
        text += &format!("        /// <summary>{help}</summary>\n");
        text += &format!("        public const string {constant} = \"{name}\";\n\n");
    }
    text += "        /// <summary>The entries of each list, in the order of their numbers.</summary>\n        \
             public static readonly Dictionary<string, string[]> Entries = new Dictionary<string, string[]>\n        {\n";
    for parameter in PARAMETERS.iter().filter(|parameter| !parameter.entries().is_empty()) {
        let entries: Vec<_> = parameter.entries().iter().map(|id| format!("\"{id}\"")).collect();
        let (name, entries) = (parameter.name(), entries.join(", "));
        text += &format!("            {{ \"{name}\", new[] {{ {entries} }} }},\n");
    }
    fs::write(file, text + "        };\n    }\n}\n")
}
