//! `cargo xtask verify`: all checks of a release, one after another. Results are kept, so that a run can be continued.

use crate::{
    commands::{Unavailable, output, root},
    debian::on_path,
};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::Instant,
};

pub struct Check {
    /// Verb of `cargo xtask`, or another name.
    pub name: &'static str,
    /// Description for the table in `docs/hosts.md`.
    pub what: &'static str,
    /// Command line for `sh`.
    pub line: String,
}

/// Lines of `docs/hosts.md` around the table.
const TABLE: [&str; 2] = ["<!-- `cargo xtask verify` writes this -->", "<!-- until here -->"];

/// File of the last result of each check. It is committed, so that a run can go on on another computer.
const RESULTS: &str = "docs/verify.json";

/// Runs the `checks` that have not passed on this tree, and writes the table of `docs/hosts.md` after each. `--list` only prints
/// which checks are due, `--only NAME ...` runs only the named checks, and `--again` also runs those that have passed.
/// Prints which of the `programs` are missing; each has a name and a source.
pub fn run(checks: &[Check], programs: &[(&str, &str)], options: &[String]) -> Result<()> {
    let (flags, names): (Vec<_>, Vec<_>) = options.iter().partition(|word| word.starts_with('-'));
    let known = |flag: &&String| ["--list", "--only", "--again"].contains(&flag.as_str());
    if let Some(flag) = flags.iter().find(|flag| !known(flag)) {
        bail!("unknown option {flag}: use --list, --only or --again");
    }
    let has = |name: &str| flags.iter().any(|flag| *flag == name);
    ensure!(has("--only") != names.is_empty(), "--only and the names of checks belong together");
    if let Some(name) = names.iter().find(|name| checks.iter().all(|check| check.name != **name)) {
        bail!("unknown check {name}: `cargo xtask verify --list` lists them");
    }
    for (program, source) in programs.iter().filter(|(program, _)| !on_path(program)) {
        println!("missing: {program} ({source}); a check that needs it will not run");
    }
    let mut results = read_results()?;
    let tree = tree()?;
    let is_due = |results: &Value, check: &Check| {
        let last = &results[check.name];
        last["tree"] != tree || last["result"] != "passed"
    };
    let chosen: Vec<_> = checks
        .iter()
        .filter(|check| names.is_empty() || names.iter().any(|name| *name == check.name))
        .filter(|check| has("--again") || is_due(&results, check))
        .collect();
    let seconds =
        |results: &Value, check: &Check| results[check.name]["seconds"].as_u64().unwrap_or(0);
    if has("--list") {
        for check in checks {
            let Check { name, what, .. } = check;
            let due = if chosen.iter().any(|one| one.name == *name) { "due" } else { "passed" };
            println!("{name:16} {due:7} {:5} s  {what}", seconds(&results, check));
        }
        return Ok(());
    }
    let mut failed = Vec::new();
    for (index, check) in chosen.iter().enumerate() {
        let remaining: u64 = chosen[index..].iter().map(|check| seconds(&results, check)).sum();
        let (name, number, last) = (check.name, index + 1, seconds(&results, check));
        println!("\n=== {name}, {number} of {}: took {last} s last time", chosen.len());
        println!("=== by earlier runs, {remaining} s are left");
        let (result, entry) = result(check, &tree)?;
        println!("=== {name}: {result}");
        if result != "passed" {
            failed.push(format!("{name}: {result}"));
        }
        // Another run may have written results meanwhile.
        results = read_results()?;
        results[name] = entry;
        fs::write(root().join(RESULTS), serde_json::to_string_pretty(&results)? + "\n")?;
        write_table(checks, &results)?;
    }
    let (count, list) = (failed.len(), failed.join("\n"));
    ensure!(count == 0, "{count} of {} not passed:\n{list}", chosen.len());
    let due = checks.iter().filter(|check| is_due(&results, check)).count();
    println!("\n{} of {} checks have passed on this tree.", checks.len() - due, checks.len());
    Ok(())
}

fn read_results() -> Result<Value> {
    let json = fs::read(root().join(RESULTS)).with_context(|| format!("cannot read {RESULTS}"))?;
    serde_json::from_slice(&json).with_context(|| format!("{RESULTS} is invalid"))
}

/// Runs `check`, passing on what it prints. Returns its result in words and its entry in the file of results.
fn result(check: &Check, tree: &str) -> Result<(&'static str, Value)> {
    let started = Instant::now();
    let mut shell = Command::new("sh");
    let child = shell.arg("-c").arg(&check.line).current_dir(root()).stdout(Stdio::piped()).spawn();
    let mut child = child.context("cannot start a check")?;
    let [mut passed, mut failed] = [0; 2];
    for line in BufReader::new(child.stdout.take().context("no output")?).split(b'\n') {
        let line = line?;
        std::io::stdout().write_all(&line)?;
        println!();
        let [passes, faults] = counts(&String::from_utf8_lossy(&line));
        passed += passes;
        failed += faults;
    }
    let result = match child.wait()?.code() {
        Some(0) => "passed",
        Some(code) if code == i32::from(Unavailable::STATUS) => "not run",
        _ => "failed",
    };
    let entry = json!({
        "tree": tree,
        "result": result,
        "tests": [passed, failed],
        "seconds": started.elapsed().as_secs(),
        "date": output(Command::new("date").args(["-u", "+%F"]))?,
        "commit": commit()?,
        "cpu": cpu(),
    });
    Ok((result, entry))
}

/// Returns the numbers of passed and failed tests in a summary of libtest or pytest; zeros if `line` is no summary.
fn counts(line: &str) -> [u64; 2] {
    let libtest = line.starts_with("test result:");
    let pytest = line.contains(" passed") && line.contains(" in ");
    if !libtest && !pytest {
        return [0; 2];
    }
    let words: Vec<_> = line.split([' ', ';', ',']).filter(|word| !word.is_empty()).collect();
    ["passed", "failed"].map(|kind| {
        let index = words.iter().position(|word| *word == kind);
        index.and_then(|index| words[index - 1].parse().ok()).unwrap_or(0)
    })
}

/// Arguments of git that select the files on which a result depends. The docs are left out, as [`run`] writes its table there.
const CHECKED: [&str; 4] = ["--", ".", ":!docs", ":!CHANGELOG.md"];

/// Returns the short hash of the commit, with `-dirty` if the working tree differs from it in files that are [`CHECKED`].
fn commit() -> Result<String> {
    let hash = output(Command::new("git").args(["rev-parse", "--short=8", "HEAD"]))?;
    let changes = output(Command::new("git").args(["diff", "HEAD", "--stat"]).args(CHECKED))?;
    Ok(if changes.is_empty() { hash } else { hash + "-dirty" })
}

/// Returns a hash of the [`CHECKED`] files that git tracks, as they are in the working tree.
fn tree() -> Result<String> {
    let files = output(Command::new("git").args(["ls-files", "--stage"]).args(CHECKED))?;
    let changes = output(Command::new("git").arg("diff").args(CHECKED))?;
    let mut hash = Command::new("git");
    let hash = hash.args(["hash-object", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut hash = hash.spawn().context("cannot start git")?;
    hash.stdin.take().context("no input")?.write_all((files + &changes).as_bytes())?;
    Ok(String::from_utf8(hash.wait_with_output()?.stdout)?.trim().to_owned())
}

/// Returns the name of this computer's CPU, where Linux tells it.
fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned())
}

/// Writes a row for each of the `checks` into `docs/hosts.md`.
fn write_table(checks: &[Check], results: &Value) -> Result<()> {
    let path = root().join("docs/hosts.md");
    let page = fs::read_to_string(&path)?;
    let [begin, end] = TABLE;
    let (before, rest) = page.split_once(begin).context("docs/hosts.md lacks the table's begin")?;
    let (_, after) = rest.split_once(end).context("docs/hosts.md lacks the table's end")?;
    let rows: String = checks.iter().map(|check| row(check, &results[check.name])).collect();
    let table =
        format!("{begin}\n\n| check | what it runs | last result |\n|---|---|---|\n{rows}\n{end}");
    Ok(fs::write(&path, format!("{before}{table}{after}"))?)
}

fn row(check: &Check, last: &Value) -> String {
    let text = |key: &str| last[key].as_str().unwrap_or_default();
    let tests = match [0, 1].map(|index| last["tests"][index].as_u64().unwrap_or(0)) {
        [0, 0] => String::new(),
        [passed, failed] => format!(", {passed} of {} tests passed", passed + failed),
    };
    let [result, date, commit, cpu] = ["result", "date", "commit", "cpu"].map(text);
    let result = match last["seconds"].as_u64() {
        Some(seconds) => format!("{result}{tests}, in {seconds} s on {date} ({commit}), {cpu}"),
        None => "not run".to_owned(),
    };
    format!("| `{}` | {} | {result} |\n", check.name, check.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_in_lines_of_libtest_and_pytest() {
        for (line, expected) in [
            (
                "test result: ok. 69 passed; 0 failed; 0 ignored; 0 measured; finished in 2 s",
                [69, 0],
            ),
            ("test result: FAILED. 19 passed; 20 failed; 0 ignored", [19, 20]),
            ("======= 2 failed, 138 passed in 12.3s =======", [138, 2]),
            ("the test passed in 2 s", [0, 0]),
        ] {
            assert_eq!(counts(line), expected, "{line}");
        }
    }
}
