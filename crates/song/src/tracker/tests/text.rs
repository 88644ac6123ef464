//! Strict reader of FamiTracker's text files, with the commands and limits of FamiTracker 0.4.6. Panics at invalid input.

use std::{collections::HashMap, ops::RangeInclusive};

#[derive(Debug, Default)]
pub struct Song {
    /// Title, author, copyright and comment.
    pub texts: Vec<String>,
    /// Macros by kind and index: loop point and values.
    pub macros: HashMap<(usize, i32), (i32, Vec<i32>)>,
    /// Each instrument's macro indices and name.
    pub instruments: Vec<(Vec<i32>, String)>,
    pub rows: usize,
    pub speed: [i32; 2],
    pub orders: Vec<Vec<usize>>,
    /// Cells by pattern, row and channel: note, instrument, volume, effects.
    pub patterns: Vec<Vec<Vec<String>>>,
}

/// Splits a line at white space, except within quotes.
fn words(line: &str) -> Vec<String> {
    let Some((front, text)) = line.split_once('"') else {
        return line.split_whitespace().map(Into::into).collect();
    };
    let text = text.strip_suffix('"').expect("a string ends with a quote");
    assert!(!text.replace("\"\"", "").contains('"'), "{line}");
    words(front).into_iter().chain([text.replace("\"\"", "\"")]).collect()
}

/// Parses all of `words` as numbers within `ranges`.
fn numbers<const N: usize>(words: &[String], ranges: [RangeInclusive<i32>; N]) -> [i32; N] {
    assert_eq!(words.len(), N, "{words:?}");
    let mut words = words.iter();
    ranges.map(|range| {
        let number = words.next().unwrap().parse().unwrap();
        assert!(range.contains(&number), "{number}");
        number
    })
}

fn hex(word: &str, limit: usize) -> usize {
    let number = usize::from_str_radix(word, 16).unwrap_or_else(|_| panic!("{word}"));
    assert!(number < limit, "{word}");
    number
}

pub fn read(text: &str) -> Song {
    assert!(text.is_ascii() && !text.contains('\t'));
    let (mut song, mut columns) = (Song::default(), [0; 5]);
    for line in text.lines() {
        let all = words(line);
        let Some((command, rest)) = all.split_first() else { continue };
        // Words before and behind a colon.
        let colon = rest.iter().position(|word| word == ":").unwrap_or(rest.len());
        let (front, behind) = (&rest[..colon], rest.get(colon + 1..).unwrap_or_default());
        match &**command {
            "#" => {}
            "TITLE" | "AUTHOR" | "COPYRIGHT" | "COMMENT" => {
                assert!(rest.len() == 1 && rest[0].len() < 32, "{line}");
                song.texts.push(rest[0].clone());
            }
            "MACHINE" | "EXPANSION" | "FRAMERATE" => assert_eq!(numbers(rest, [0..=0]), [0]),
            "VIBRATO" => assert_eq!(numbers(rest, [0..=1]), [1]),
            "SPLIT" => assert_eq!(numbers(rest, [0..=255]), [32]),
            "MACRO" => {
                let [kind, index, repeats, release, setting] =
                    numbers(front, [0..=4, 0..=127, -1..=251, -1..=252, 0..=255]);
                assert_eq!((release, setting), (-1, 0));
                let values: Vec<i32> = behind
                    .iter()
                    .flat_map(|word| numbers(std::slice::from_ref(word), [-128..=127]))
                    .collect();
                assert!(values.len() <= 252 && repeats < values.len() as i32);
                assert!(song.macros.insert((kind as usize, index), (repeats, values)).is_none());
            }
            "INST2A03" => {
                let (name, front) = rest.split_last().unwrap();
                let [index, macros @ ..] = numbers(
                    front,
                    [0, 1, 2, 3, 4, 5].map(|at| match at {
                        0 => 0..=63,
                        _ => -1..=127,
                    }),
                );
                assert_eq!(index as usize, song.instruments.len());
                let known =
                    |(kind, index): (usize, &i32)| song.macros.contains_key(&(kind, *index));
                assert!(macros.iter().enumerate().all(|own| *own.1 == -1 || known(own)));
                song.instruments.push((macros.to_vec(), name.clone()));
            }
            "TRACK" => {
                assert_eq!((song.rows, &*rest[3]), (0, ""), "one song");
                // Values below 32 are speeds, others tempi.
                let [rows, speed @ ..] = numbers(&rest[..3], [1..=256, 1..=31, 32..=255]);
                (song.rows, song.speed) = (rows as usize, speed);
            }
            "COLUMNS" => columns = numbers(behind, [(); 5].map(|()| 1..=4)),
            "ORDER" => {
                assert_eq!((front.len(), hex(&front[0], 128)), (1, song.orders.len()));
                assert_eq!(behind.len(), 5, "{line}");
                song.orders.push(behind.iter().map(|word| hex(word, 128)).collect());
            }
            "PATTERN" => {
                assert_eq!((rest.len(), hex(&rest[0], 128)), (1, song.patterns.len()));
                song.patterns.push(Vec::new());
            }
            "ROW" => {
                let pattern = song.patterns.last_mut().expect("a row is in a pattern");
                assert_eq!((front.len(), hex(&front[0], song.rows)), (1, pattern.len()));
                let cells: Vec<&[String]> = behind.split(|word| word == ":").collect();
                let lengths = cells.iter().map(|cell| cell.len() as i32 - 3);
                assert!(lengths.eq(columns), "{line}");
                pattern.push(cells.iter().map(|cell| cell.join(" ")).collect());
            }
            _ => panic!("{line}"),
        }
    }
    assert!(song.patterns.iter().all(|pattern| pattern.len() == song.rows));
    assert!(song.orders.iter().flatten().all(|number| *number < song.patterns.len()));
    song
}
