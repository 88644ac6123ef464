//! Tests of the description by LV2's validators, and of the plugin in a host with lilv, which nearly all hosts use.

use anyhow::{Context, Result, ensure};
use std::{fs, path::Path, process::Command};
use tone_filter_dsp::ToneFilter;
use tone_filter_lv2::{ports::VARIANTS, turtle};
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{Signal, programs::run, root, wav};

/// Returns a command that finds only this bundle and LV2's own.
pub fn command(program: &str, bundle: &Path) -> Result<Command> {
    let folder = bundle.parent().context("a bundle lies in a folder")?;
    let mut command = Command::new(program);
    command.env("LV2_PATH", format!("{}:/usr/lib/lv2", folder.display()));
    Ok(command)
}

/// Returns the output of `command`, whether it succeeds or not.
fn printed(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Checks the bundle's description with LV2's validator and lilv's programs.
///
/// # Errors
/// If one of the programs finds a fault.
pub fn validate(bundle: &Path) -> Result<()> {
    let mut validator = command("lv2_validate", bundle)?;
    validator.args(turtle::files().map(|(name, _)| bundle.join(name)));
    let found = printed(validator)?;
    println!("{}", found.trim());
    ensure!(found.contains("Found 0 errors among"), "lv2_validate finds faults");
    let listed = printed(command("lv2ls", bundle)?)?;
    for variant in &VARIANTS {
        let uri = variant.uri.to_str()?;
        ensure!(listed.lines().any(|line| line == uri), "lv2ls does not list {uri}:\n{listed}");
        let mut info = command("lv2info", bundle)?;
        info.arg(uri);
        let info = printed(info)?;
        let ports = info.lines().filter(|line| line.trim_start().starts_with("Port ")).count();
        let expected = variant.ports().count();
        ensure!(ports == expected, "lv2info shows {ports} of {expected} ports:\n{info}");
        for id in ids() {
            let name = Preset::factory(id).context("a factory preset")?.name;
            ensure!(info.contains(&name), "lv2info does not show the preset {name}:\n{info}");
        }
    }
    Ok(())
}

/// Runs every preset in a host in C, and compares the sound with the library's.
///
/// # Errors
/// If the host finds a fault, or a sample differs.
pub fn host(bundle: &Path, folder: &Path) -> Result<()> {
    let program = folder.join("host");
    let flags = printed_by("pkg-config", &["--cflags", "--libs", "lilv-0", "lv2"])?;
    run(Command::new("gcc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"])
        .args([&program, &root().join("bindings/lv2/tests/programs/host.c")])
        .args(flags.split_whitespace()))?;
    let (input, sounds) = (folder.join("in.f32"), folder.join("presets"));
    fs::create_dir_all(&sounds)?;
    let (mut tune, rate) = wav::read(&root().join("assets/demo.wav"))?;
    tune.iter_mut().for_each(|channel| drop(channel.drain(4 * rate as usize..)));
    fs::write(&input, interleaved(&tune))?;
    run(command(program.to_str().context("a path")?, bundle)?.args([&input, &sounds]))?;
    for preset in ids().filter_map(Preset::factory) {
        let mut expected = tune.clone();
        let mut channels: Vec<_> = expected.iter_mut().map(|channel| &mut channel[..]).collect();
        ToneFilter::new(f64::from(rate), &preset.settings)?.process(&mut channels);
        let written = fs::read(sounds.join(&preset.name).with_extension("f32"))?;
        ensure!(written == interleaved(&expected), "{} sounds otherwise", preset.name);
    }
    Ok(())
}

fn printed_by(program: &str, args: &[&str]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(args);
    printed(command)
}

/// Returns the bytes of two channels, interleaved.
fn interleaved(signal: &Signal) -> Vec<u8> {
    let pairs = signal[0].iter().zip(&signal[1]);
    pairs.flat_map(|(left, right)| [left, right]).flat_map(|sample| sample.to_ne_bytes()).collect()
}
