//! Strict reader of FamiTracker's text files, with the commands and limits of the importer of FamiTracker 0.4.6. It panics at what the importer
//! refuses.

/// Cell: note, instrument, volume and effects as written.
pub type Cell = (String, Option<usize>, Option<u8>, Vec<String>);

/// Song.
#[derive(Debug, Default)]
pub struct Song {
    pub title: String,
    pub author: String,
    /// Sequences: kind, index, place to which it goes back, values.
    pub macros: Vec<(usize, usize, i32, Vec<i32>)>,
    /// Indices of an instrument's sequences, and its name.
    pub instruments: Vec<([i32; 5], String)>,
    pub rows: usize,
    pub speed: [usize; 2],
    pub orders: Vec<[usize; 5]>,
    /// Rows of each pattern, of all channels.
    pub patterns: Vec<Vec<Vec<Cell>>>,
}

/// Words of a line; those in quotes are one.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let end = if rest.starts_with('"') {
            let mut letters = rest.char_indices().skip(1).peekable();
            loop {
                match letters.next().expect("a string ends with a quote") {
                    (_, '"') if letters.peek().is_some_and(|next| next.1 == '"') => {
                        letters.next();
                    }
                    (end, '"') => break end + 1,
                    _ => {}
                }
            }
        } else {
            rest.find(' ').unwrap_or(rest.len())
        };
        let word = &rest[..end];
        words.push(match word.strip_prefix('"') {
            Some(text) => text[..text.len() - 1].replace("\"\"", "\""),
            None => word.to_owned(),
        });
        rest = rest[end..].trim_start();
    }
    words
}

fn number(word: &str, range: std::ops::RangeInclusive<i32>) -> i32 {
    let number = word.parse().unwrap_or_else(|_| panic!("{word} is no number"));
    assert!(range.contains(&number), "{number}");
    number
}

fn hex(word: &str, limit: usize) -> usize {
    let number = usize::from_str_radix(word, 16).unwrap_or_else(|_| panic!("{word}"));
    assert!(number < limit, "{word}");
    number
}

/// Reads a song.
pub fn read(text: &str) -> Song {
    assert!(text.is_ascii() && text.lines().all(|line| !line.contains('\t')));
    let mut song = Song::default();
    let mut columns = [0; 5];
    for line in text.lines() {
        let all = words(line);
        let Some((command, rest)) = all.split_first() else { continue };
        let int = |index: usize, range| number(&rest[index], range);
        let end = |count: usize| assert_eq!(rest.len(), count, "{line}");
        let colon = |index: usize| assert_eq!(rest[index], ":", "{line}");
        match &**command {
            "#" => {}
            "TITLE" | "AUTHOR" | "COPYRIGHT" | "COMMENT" => {
                end(1);
                assert!(rest[0].len() < 32, "{line}");
                match &**command {
                    "TITLE" => song.title.clone_from(&rest[0]),
                    "AUTHOR" => song.author.clone_from(&rest[0]),
                    _ => {}
                }
            }
            "MACHINE" | "EXPANSION" => assert_eq!((int(0, 0..=0), rest.len()), (0, 1)),
            "FRAMERATE" => assert_eq!((int(0, 0..=800), rest.len()), (0, 1)),
            "VIBRATO" => assert_eq!((int(0, 0..=1), rest.len()), (1, 1)),
            "SPLIT" => assert_eq!((int(0, 0..=255), rest.len()), (32, 1)),
            "MACRO" => {
                let [kind, index] = [int(0, 0..=4), int(1, 0..=127)].map(|own| own as usize);
                let repeats = int(2, -1..=252);
                assert_eq!((int(3, -1..=252), int(4, 0..=255)), (-1, 0));
                colon(5);
                let values: Vec<i32> =
                    (6..rest.len()).map(|index| int(index, -128..=127)).collect();
                assert!(values.len() <= 252 && repeats < values.len() as i32);
                song.macros.push((kind, index, repeats, values));
            }
            "INST2A03" => {
                end(7);
                assert_eq!(int(0, 0..=63) as usize, song.instruments.len());
                let macros = std::array::from_fn(|kind| int(1 + kind, -1..=127));
                for (kind, index) in macros.iter().enumerate() {
                    let own = |own: &&(usize, usize, i32, Vec<i32>)| {
                        own.0 == kind && own.1 as i32 == *index
                    };
                    assert_eq!(song.macros.iter().filter(own).count(), usize::from(*index >= 0));
                }
                song.instruments.push((macros, rest[6].clone()));
            }
            "TRACK" => {
                end(4);
                assert_eq!(song.rows, 0, "one song");
                song.rows = int(0, 1..=256) as usize;
                // Speeds are below the split, tempi are not.
                song.speed = [int(1, 1..=31), int(2, 32..=255)].map(|own| own as usize);
            }
            "COLUMNS" => {
                end(6);
                colon(0);
                columns = std::array::from_fn(|channel| int(1 + channel, 1..=4) as usize);
            }
            "ORDER" => {
                end(7);
                assert_eq!(hex(&rest[0], 128), song.orders.len());
                colon(1);
                song.orders.push(std::array::from_fn(|channel| hex(&rest[2 + channel], 128)));
            }
            "PATTERN" => {
                end(1);
                assert_eq!(hex(&rest[0], 128), song.patterns.len());
                song.patterns.push(Vec::new());
            }
            "ROW" => {
                let pattern = song.patterns.last_mut().expect("a row is in a pattern");
                assert_eq!(hex(&rest[0], song.rows), pattern.len());
                let mut left = rest[1..].iter();
                let cells = columns.iter().enumerate().map(|(channel, count)| {
                    assert_eq!(left.next().unwrap(), ":");
                    let mut word = || left.next().unwrap_or_else(|| panic!("{line}")).clone();
                    let note = word();
                    assert!(is_note(&note, channel), "{note} in channel {channel}");
                    let instrument = match &*word() {
                        ".." => None,
                        other => Some(hex(other, song.instruments.len())),
                    };
                    let volume = match &*word() {
                        "." => None,
                        other => Some(hex(other, 16) as u8),
                    };
                    let effects: Vec<String> = (0..*count).map(|_| word()).collect();
                    let effects = effects.into_iter().filter(|effect| effect != "...");
                    let effects = effects.inspect(|effect| {
                        assert!(effect.len() == 3 && "FBCD".contains(&effect[..1]), "{effect}");
                        hex(&effect[1..], 256);
                    });
                    (note, instrument, volume, effects.collect())
                });
                let cells: Vec<Cell> = cells.collect();
                assert!(left.next().is_none(), "{line}");
                pattern.push(cells);
            }
            _ => panic!("{line}"),
        }
    }
    assert!(song.patterns.iter().all(|pattern| pattern.len() == song.rows));
    for order in &song.orders {
        assert!(order.iter().all(|number| *number < song.patterns.len()));
    }
    song
}

fn is_note(note: &str, channel: usize) -> bool {
    if ["...", "---"].contains(&note) {
        return true;
    }
    let letters: Vec<char> = note.chars().collect();
    let [name, sign, octave] = letters[..] else { return false };
    match channel {
        3 => name.is_ascii_hexdigit() && (sign, octave) == ('-', '#'),
        _ => {
            let sharp = sign == '#' && "CDFGA".contains(name);
            (sharp || sign == '-' && "CDEFGAB".contains(name)) && ('0'..='7').contains(&octave)
        }
    }
}
