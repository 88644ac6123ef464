//! `cargo xtask test-engines`: the library for programs in other languages, as they build and run it.

use crate::{
    c_library, root, run,
    suite::{apt_install, installed, on_path, step},
    target,
};
use anyhow::{Context, Result, bail, ensure};
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter::{
    dsp::{BandState, Keys, ToneFilter, spec},
    presets::{self, Preset},
};

/// Debian's packages, and the programs of them that are needed.
const PACKAGES: [(&str, &str); 5] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("make", "make"),
    ("pkg-config", "pkg-config"),
    ("valgrind", "valgrind"),
];

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

const SANITIZERS: &str = "-fsanitize=address,undefined -fno-sanitize-recover=all -g -O1";

/// How the programs are built: name, flags for C and for C++, whether with the static library.
const BUILDS: [(&str, &str, &str, bool); 4] = [
    ("c99", "-std=c99 -O2", "-std=c++17 -O2", false),
    ("c11", "-std=c11 -O2", "-std=c++17 -O2", false),
    ("static", "-std=c99 -O2", "-std=c++17 -O2", true),
    ("sanitizers", "-std=c99", "-std=c++17", false),
];

/// Checks everything. What cannot be checked is an error.
///
/// # Errors
/// When a tool is missing and cannot be installed, or at the first step that fails.
pub fn test() -> Result<()> {
    step("tools", tools)?;
    step("the crate's tests, the header among them", || {
        run(Command::new("cargo").args(["test", "--package=tone-filter-capi"]))
    })?;
    let folder = target()?.join("engines");
    // Nothing of an earlier run may be tested.
    let _ = fs::remove_dir_all(&folder);
    let c = C { prefix: folder.join("prefix"), folder };
    step("installation", || c_library::install(&c.prefix))?;
    step("the header as C99, C11, C++11 and C++17", || c.header())?;
    for (name, cc, cxx, linked) in BUILDS {
        step(&format!("build, {name}"), || c.build(name, cc, cxx, linked))?;
    }
    step("NULL and garbage", || c.null())?;
    step("tone_filter.c against the library in Rust", || c.render())?;
    step("game.cpp against the library in Rust", || c.game())
}

fn tools() -> Result<()> {
    ensure!(
        cfg!(target_os = "linux"),
        "this verb needs Linux: valgrind, and libraries named as there"
    );
    let debian = on_path("dpkg-query");
    let missing = PACKAGES.into_iter().filter(|(package, program)| {
        if debian { !installed(package) && !on_path(program) } else { !on_path(program) }
    });
    let missing: Vec<_> = missing.map(|(package, _)| package).collect();
    if missing.is_empty() { Ok(()) } else { apt_install(&missing) }
}

/// The installed library, and the programs that are built with it.
struct C {
    prefix: PathBuf,
    /// A folder for each of [`BUILDS`], and for their files.
    folder: PathBuf,
}

impl C {
    fn pkg_config(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new("pkg-config");
        let command = command.env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"));
        let output = command.args(arguments).arg("tone_filter").output()?;
        ensure!(output.status.success(), "pkg-config: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// Compiles the header alone.
    fn header(&self) -> Result<()> {
        let header = self.prefix.join("include/tone_filter.h");
        for (compiler, language, standards) in
            [("gcc", "c", ["c99", "c11"]), ("g++", "c++", ["c++11", "c++17"])]
        {
            for standard in standards {
                let mut command = Command::new(compiler);
                let command = command.args(WARNINGS).arg(format!("-std={standard}"));
                run(command.args(["-fsyntax-only", "-x", language]).arg(&header))?;
            }
        }
        Ok(())
    }

    /// Builds the examples by their Makefile, and the test of NULL with the same flags.
    fn build(&self, name: &str, cc: &str, cxx: &str, linked: bool) -> Result<()> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        let more = if name == "sanitizers" { SANITIZERS } else { "" };
        let mut libs =
            format!("{} -Wl,-rpath,{}/lib", self.pkg_config(&["--libs"])?, self.prefix.display());
        if linked {
            let all = self.pkg_config(&["--static", "--libs"])?;
            libs = all.replace("-ltone_filter", "-l:libtone_filter.a");
        }
        run(Command::new("make")
            .arg("--directory=examples/c")
            .env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"))
            .arg(format!("BUILD={}", folder.display()))
            .arg(format!("CFLAGS={cc} {more}"))
            .arg(format!("CXXFLAGS={cxx} {more}"))
            .arg(format!("LIBS={libs}")))?;
        let flags = format!("{cc} {more} {} capi/tests/null.c", self.pkg_config(&["--cflags"])?);
        run(Command::new("gcc")
            .args(WARNINGS)
            .args(flags.split_whitespace())
            .arg("-o")
            .arg(folder.join("null"))
            .args(libs.split_whitespace()))
    }

    /// Every way to run the program `name`: its name, and the command.
    fn ways(&self, name: &str) -> Vec<(&'static str, Command)> {
        let program = |build: &str| self.folder.join(build).join(name);
        let mut ways: Vec<_> =
            BUILDS.iter().map(|(build, ..)| (*build, Command::new(program(build)))).collect();
        let mut valgrind = Command::new("valgrind");
        valgrind
            .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
            .arg("--errors-for-leak-kinds=definite,indirect,possible")
            .arg(program("c99"));
        ways.push(("valgrind", valgrind));
        ways
    }

    fn null(&self) -> Result<()> {
        let header = fs::read_to_string(self.prefix.join("include/tone_filter.h"))?;
        let source = fs::read_to_string(root().join("capi/tests/null.c"))?;
        let functions = functions(&header);
        ensure!(functions.len() > 20, "no functions found in the header");
        for function in functions {
            ensure!(source.contains(&format!("{function}(")), "null.c does not call {function}");
        }
        for (way, mut command) in self.ways("null") {
            run(&mut command).context(way)?;
        }
        Ok(())
    }

    /// Renders with every preset, and files of one to six channels.
    fn render(&self) -> Result<()> {
        let mut demo = WavReader::open(root().join("assets/demo.wav"))?;
        let tune: Vec<f32> = demo
            .samples::<i16>()
            .map(|sample| Ok(f32::from(sample?) / 32_768.0))
            .collect::<hound::Result<_>>()?;
        // The second bar of the tune, and less than the latency of lookahead.
        let inputs =
            [(1, 20_000), (2, 80_000), (2, 1000), (6, 20_000)].map(|(channels, samples)| {
                (
                    channels,
                    tune[160_000..]
                        .iter()
                        .copied()
                        .take(samples * usize::from(channels))
                        .collect::<Vec<_>>(),
                )
            });
        let mut compared = 0;
        for (channels, input) in &inputs {
            let path = self.folder.join("in.wav");
            write(&path, *channels, input)?;
            for preset in presets::ids() {
                let slow = preset == "sound-chip" || preset == "tone-filter";
                for (way, mut command) in self.ways("tone_filter") {
                    if way != "c99" && !(slow && input.len() < 150_000) {
                        continue;
                    }
                    let out = self.folder.join("out.wav");
                    let _ = fs::remove_file(&out);
                    run(command.arg(preset).args([&path, &out])).context(way)?;
                    let output = read(&out)?;
                    // Valgrind's CPU has other vectors, and no flush-to-zero.
                    if way != "valgrind" {
                        let expected = rendered(preset, (*channels).into(), input)?;
                        ensure!(
                            bits(&output) == bits(&expected),
                            "{preset}, {channels} channels, {way}: other bits"
                        );
                        compared += 1;
                    }
                    ensure!(output.len() == input.len(), "{preset}, {way}: another length");
                }
            }
        }
        println!("{compared} files are equal, bit for bit");
        self.faults()
    }

    /// What the program says to wrong files and names.
    fn faults(&self) -> Result<()> {
        let (good, bad) = (self.folder.join("in.wav"), self.folder.join("bad.wav"));
        fs::write(&bad, &fs::read(&good)?[..1000])?;
        let out = self.folder.join("none.wav");
        for (preset, path, reason) in [
            ("nonsense", &good, "no factory preset has the id \"nonsense\""),
            ("organ", &self.folder.join("missing.wav"), "cannot be read"),
            ("organ", &bad, "ends too early"),
        ] {
            for (way, mut command) in self.ways("tone_filter") {
                let output = command.arg(preset).args([path, &out]).output()?;
                let said = String::from_utf8_lossy(&output.stderr);
                ensure!(output.status.code() == Some(1) && said.contains(reason), "{way}: {said}");
                ensure!(!out.exists(), "{way}: a file of an error");
            }
        }
        Ok(())
    }

    /// Runs the game, and plays the same here.
    fn game(&self) -> Result<()> {
        let (expected, meter) = game()?;
        let path = self.folder.join("game.raw");
        for (way, mut command) in self.ways("game") {
            let output = command.arg(&path).output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            ensure!(
                output.status.success() && said == meter,
                "{way}: the meter is\n{said}and not\n{meter}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let sound = fs::read(&path)?;
            ensure!(way == "valgrind" || sound == expected, "{way}: other bits");
        }
        println!("{meter}");
        Ok(())
    }
}

/// The functions that a header declares.
fn functions(header: &str) -> Vec<&str> {
    let declarations = header.lines().filter(|line| !line.trim_start().starts_with('*'));
    let names = declarations.filter_map(|line| {
        let start = line.find("tf_").filter(|_| line.contains('('))?;
        let name = line[start..].split('(').next()?;
        name.rsplit([' ', '*']).next().filter(|name| name.starts_with("tf_"))
    });
    names.collect()
}

/// What `tone_filter.c` does: the sound without the latency, as long as the input.
fn rendered(preset: &str, channels: usize, input: &[f32]) -> Result<Vec<f32>> {
    let settings = Preset::factory(preset).context("a factory preset")?.settings;
    let mut filter = ToneFilter::new(RATE.into(), &settings)?.with_channels(channels);
    let latency = filter.latency();
    let channel = |c| {
        let samples = input.iter().skip(c).step_by(channels).copied();
        samples.chain(std::iter::repeat_n(0.0, latency)).collect()
    };
    let mut sound: Vec<Vec<f32>> = (0..channels).map(channel).collect();
    let mut slices: Vec<&mut [f32]> = sound.iter_mut().map(Vec::as_mut_slice).collect();
    filter.process(&mut slices);
    Ok((0..input.len()).map(|i| sound[i % channels][latency + i / channels]).collect())
}

/// What `game.cpp` does: the left channel as bytes, and the meter.
fn game() -> Result<(Vec<u8>, String)> {
    let mut settings = Preset::factory("sound-chip").context("a factory preset")?.settings;
    let mut filter = ToneFilter::new(48_000.0, &settings)?;
    let morph = spec("morph").context("a setting")?;
    let (mut bytes, mut meter) = (Vec::new(), String::new());
    for count in 0..300_usize {
        morph.set(&mut settings, count.min(100) as f32);
        if count == 200 {
            settings.keys = Keys::Hold;
            filter.key(69, 0.75);
        }
        filter.set_settings(&settings)?;
        let square = |frame: usize, frequency: usize| {
            if frame * frequency % 48_000 < 24_000 { 0.125 } else { -0.125 }
        };
        let music =
            (count * 480..).map(|frame| [440, 523, 659].map(|f| square(frame, f)).iter().sum());
        let mut left: Vec<f32> = music.take(480).collect();
        let mut right = left.clone();
        filter.process(&mut [&mut left, &mut right]);
        bytes.extend(left.iter().flat_map(|sample| sample.to_le_bytes()));
        if count % 100 == 99 {
            let may_sound = filter.sounding_bands();
            for (tone, band) in filter.bands().bands.iter().enumerate() {
                meter.push(match band.state {
                    BandState::Sounding if may_sound.contains(tone) => 'o',
                    BandState::Saturated if may_sound.contains(tone) => '#',
                    _ => '.',
                });
                meter.push(if tone % 12 == 11 { '\n' } else { ' ' });
            }
            meter.push('\n');
        }
    }
    Ok((bytes, meter))
}

/// Hz.
const RATE: u32 = 44_100;

fn write(path: &Path, channels: u16, samples: &[f32]) -> Result<()> {
    let spec = WavSpec {
        channels,
        sample_rate: RATE,
        bits_per_sample: 32,
        sample_format: SampleFormat::Float,
    };
    let mut file = WavWriter::create(path, spec)?;
    samples.iter().try_for_each(|sample| file.write_sample(*sample))?;
    Ok(file.finalize()?)
}

fn read(path: &Path) -> Result<Vec<f32>> {
    let mut file = WavReader::open(path)?;
    if file.spec().sample_rate != RATE {
        bail!("{}: another sample rate", path.display());
    }
    Ok(file.samples().collect::<hound::Result<_>>()?)
}

fn bits(samples: &[f32]) -> Vec<u32> {
    samples.iter().map(|sample| sample.to_bits()).collect()
}
