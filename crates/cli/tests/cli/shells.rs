//! Completions, tested in bash, zsh and fish.

use crate::Folder;
use std::{fs, process::Command};

/// Returns the completions that `shell` offers after each of `lines`. `script` is run with these arguments: the file with the
/// completions, and the lines.
fn offered(shell: &str, script: &str, lines: &[&str]) -> Vec<Vec<String>> {
    let folder = Folder::new();
    let completions = folder.command(&format!("completions {shell}")).output().unwrap().stdout;
    fs::write(folder.path("_tone-filter"), completions).unwrap();
    let mut command = Command::new(shell);
    if shell == "bash" {
        command.args(["--norc", "--noprofile"]);
    }
    let run = command.arg("-c").arg(script).arg("completions").arg(folder.path("_tone-filter"));
    let output = run.args(lines).env("HOME", folder.path("")).output();
    let output = output.unwrap_or_else(|error| {
        panic!("{shell}: {error}; this test needs it: apt-get install {shell}")
    });
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let answers = said.split("--next--\n").take(lines.len());
    answers.map(|answer| answer.lines().map(str::to_owned).collect()).collect()
}

/// Lines to complete, each with words that must be among those that are offered.
const LINES: [(&str, &[&str]); 8] = [
    ("tone-filter ", &["render", "bands", "chip", "presets"]),
    ("tone-filter render --pres", &["--preset"]),
    ("tone-filter render --preset ", &["extreme-8-bit", "organ", "reference"]),
    ("tone-filter bands --preset ext", &["extreme-8-bit"]),
    ("tone-filter render --voice ", &["square", "chip", "pulse12"]),
    ("tone-filter render --scale m", &["major", "minor-pentatonic", "mixolydian"]),
    ("tone-filter bands --kernel ", &["scalar", "portable"]),
    ("tone-filter render --key-mode ", &["hold", "hold-any"]),
];

fn check(shell: &str, script: &str) {
    let lines = LINES.map(|(line, _)| line);
    let answers = offered(shell, script, &lines);
    assert_eq!(answers.len(), LINES.len());
    for ((line, expected), answer) in LINES.iter().zip(answers) {
        for word in *expected {
            assert!(answer.iter().any(|got| got == word), "{shell}, {line}: {word} in {answer:?}");
        }
    }
}

#[test]
fn bash_completes() {
    let script = r#"source "$1"; shift
        complete=$(complete -p tone-filter); complete=${complete#*-F }; complete=${complete%% *}
        for line in "$@"; do
            read -ra COMP_WORDS <<< "$line"; [[ $line == *" " ]] && COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
            $complete tone-filter "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\n' "${COMPREPLY[@]}"; echo --next--
        done"#;
    check("bash", script);
}

#[test]
fn zsh_loads_them() {
    let script = r#"autoload -Uz compinit; compinit -u -d "$HOME/dump"; source "$1"
        print $_comps[tone-filter]"#;
    assert_eq!(offered("zsh", script, &["", ""])[0], ["_tone-filter"]);
}

#[test]
fn fish_completes() {
    check(
        "fish",
        r#"source $argv[2]; for line in $argv[3..]
            complete -C $line | string split -f 1 \t; echo --next--
        end"#,
    );
}
