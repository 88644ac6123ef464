//! Measurements for docs/listening.md.

use anyhow::{Result, ensure};
use tone_filter_presets::ids;
use tone_filter_testkit::{
    songs::{Accuracy, RATE, Song, Tool, accuracy, latencies, loudness, songs},
    wav,
};

/// Values of Mix at which the loudness is measured, in percent.
const MIXES: [&str; 4] = ["25", "50", "75", "100"];

/// Prints how well the command `program` detects the notes of the songs, and how loud the songs are when it renders them.
/// `flags` are added to every run of the command.
pub fn report(program: &str, flags: &[String]) -> Result<()> {
    let tool = Tool::new(program)?;
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let songs = songs()?;
    print_accuracy(&tool, &songs, &flags)?;
    print_loudness(&tool, &songs, &flags)
}

fn print_accuracy(tool: &Tool, songs: &[Song], flags: &[&str]) -> Result<()> {
    println!("\nFrame F1 (precision, recall) and note F1:\n");
    println!("| song | lookahead | without | in the wet sound |\n|---|---|---|---|");
    let cell = |accuracy: &Accuracy| {
        let Accuracy { precision, recall, frames, onsets } = accuracy;
        format!("{frames:.3} ({precision:.2}, {recall:.2}), {onsets:.3}")
    };
    let mut rows = Vec::new();
    let mut late = [Vec::new(), Vec::new()];
    for song in songs {
        let seconds = wav::read(&song.wav)?.0[0].len() as f64 / f64::from(RATE);
        let (wet, _) = tool.render(&song.wav, &[&["--mix", "100"], flags].concat())?;
        let without: &[&str] = &["--lookahead=off"];
        let mut accuracies = Vec::new();
        for (index, (wav, extra)) in
            [(&song.wav, &[][..]), (&song.wav, without), (&wet, &[][..])].into_iter().enumerate()
        {
            let found = tool.notes(wav, &[flags, extra].concat())?;
            accuracies.push(accuracy(&found, &song.notes, seconds));
            if let Some(late) = late.get_mut(index) {
                late.extend(latencies(&found, &song.notes));
            }
        }
        println!(
            "| {} | {} |",
            song.name,
            accuracies.iter().map(cell).collect::<Vec<_>>().join(" | ")
        );
        rows.push(accuracies);
    }
    let mean = |column: usize| {
        let mean = |value: fn(&Accuracy) -> f64| {
            rows.iter().map(|row| value(&row[column])).sum::<f64>() / rows.len() as f64
        };
        cell(&Accuracy {
            precision: mean(|accuracy| accuracy.precision),
            recall: mean(|accuracy| accuracy.recall),
            frames: mean(|accuracy| accuracy.frames),
            onsets: mean(|accuracy| accuracy.onsets),
        })
    };
    println!("| mean | {} | {} | {} |", mean(0), mean(1), mean(2));
    for (mut late, name) in late.into_iter().zip(["With lookahead", "Without"]) {
        late.sort_by(f64::total_cmp);
        ensure!(!late.is_empty(), "no note was found");
        let [median, upper] = [late.len() / 2, late.len() * 9 / 10].map(|at| 1000.0 * late[at]);
        println!("\n{name}, notes start {median:.0} ms late (median), 90 % up to {upper:.0} ms.");
    }
    Ok(())
}

fn print_loudness(tool: &Tool, songs: &[Song], flags: &[&str]) -> Result<()> {
    println!(
        "\nLoudness against the song's, least to greatest, in LU, and the greatest change of its range:\n"
    );
    println!(
        "| preset | {} |\n|---|---|---|---|---|",
        MIXES.map(|mix| format!("{mix} %")).join(" | ")
    );
    let before = songs.iter().map(|song| loudness(&wav::read(&song.wav)?.0));
    let before = before.collect::<Result<Vec<_>>>()?;
    for id in ids() {
        let mut cells = Vec::new();
        for mix in MIXES {
            let (mut least, mut greatest, mut range) = (f64::INFINITY, f64::NEG_INFINITY, 0f64);
            for (song, before) in songs.iter().zip(&before) {
                let flags = [&["--preset", id, "--mix", mix], flags].concat();
                let after = loudness(&tool.render(&song.wav, &flags)?.1)?;
                let change = after.integrated - before.integrated;
                (least, greatest) = (least.min(change), greatest.max(change));
                range = range.max((after.range - before.range).abs());
            }
            cells.push(format!("{least:+.1} to {greatest:+.1}, {range:.1}"));
        }
        println!("| {id} | {} |", cells.join(" | "));
    }
    Ok(())
}
