//! Tags and covers. mutagen writes those of the inputs, and reads those of our outputs.

use crate::{Folder, chord, unmixed};
use serde_json::Value;
use std::{collections::BTreeMap, fs};
use tone_filter_offline::options::Options;

/// Python script that adds [`TAGS`] and a cover to the files in its arguments. MP4 gets no custom tags.
const TAGGER: &str = r#"
import base64, json, mutagen, sys
from mutagen import id3
from mutagen.flac import FLAC, Picture
from mutagen.mp4 import MP4, MP4Cover
cover = open("cover.png", "rb").read()
picture = Picture()
picture.type, picture.mime, picture.data = 3, "image/png", cover
tags = json.loads(sys.argv[1])
for name in sys.argv[2:]:
    file = mutagen.File(name)
    if file.tags is None:
        file.add_tags()
    if isinstance(file, MP4):
        for atom, tag in {"nam": "TITLE", "ART": "ARTIST", "alb": "ALBUM", "gen": "GENRE"}.items():
            file["\xa9" + atom] = [tags[tag]]
        file["trkn"], file["tmpo"], file["covr"] = [(7, 0)], [120], [MP4Cover(cover, MP4Cover.FORMAT_PNG)]
    elif hasattr(file.tags, "add"):
        for frame, tag in {"TIT2": "TITLE", "TPE1": "ARTIST", "TALB": "ALBUM", "TCON": "GENRE", "TRCK": "TRACKNUMBER", "TBPM": "BPM"}.items():
            file.tags.add(getattr(id3, frame)(encoding=3, text=[tags[tag]]))
        for tag in ["CURATOR", "DESCRIPTION", "REPLAYGAIN_TRACK_GAIN"]:
            file.tags.add(id3.TXXX(encoding=3, desc=tag, text=[tags[tag]]))
        file.tags.add(id3.APIC(encoding=3, mime="image/png", type=3, desc="", data=cover))
    else:
        for tag in tags:
            file[tag] = tags[tag]
        if isinstance(file, FLAC):
            file.add_picture(picture)
        else:
            file["metadata_block_picture"] = [base64.b64encode(picture.write()).decode()]
    file.save()
"#;

/// Python script that prints JSON: for each file, its tags under their names in FLAC, and the number of its covers.
const READER: &str = r#"
import json, mutagen, sys
from mutagen.flac import FLAC
found = {}
for name in sys.argv[1:]:
    file = mutagen.File(name)
    if isinstance(file, FLAC):
        tags, covers = {key.upper(): value for key, value in file.tags or []}, len(file.pictures)
    else:
        names = {"TIT2": "TITLE", "TPE1": "ARTIST", "TALB": "ALBUM", "TRCK": "TRACKNUMBER", "TCON": "GENRE", "TBPM": "BPM"}
        frames = (file.tags or {}).items()
        own = [(names.get(key, key[5:].upper()), frame) for key, frame in frames if key in names or key.startswith("TXXX:")]
        tags = {key: str(frame.text[0]) for key, frame in own}
        covers = sum(key.startswith("APIC") for key, _ in frames)
    found[name] = [tags, covers]
print(json.dumps(found))
"#;

const TAGS: [(&str, &str); 9] = [
    ("TITLE", "Fugue"),
    ("ARTIST", "Bach"),
    ("ALBUM", "Art"),
    ("GENRE", "Baroque"),
    ("TRACKNUMBER", "7"),
    ("BPM", "120"),
    ("DESCRIPTION", "slow"),
    ("CURATOR", "calm"),
    ("REPLAYGAIN_TRACK_GAIN", "-3 dB"),
];

/// Runs `script` in the tests' Python with `arguments` in `folder`, and returns its output.
fn python(folder: &Folder, script: &str, arguments: &[String]) -> Vec<u8> {
    let python = tone_filter_testkit::target().join("venv/bin/python");
    let mut words = vec![python.to_str().unwrap(), "-c", script];
    words.extend(arguments.iter().map(String::as_str));
    folder.program(&words)
}

/// Rows of the manual's table of formats, each with files of that format: codings, by ffmpeg's names, and extensions.
const TABLE: [(&str, &str); 9] = [
    ("WAV, RIFX, RF64, BW64", "pcm_u8 wav, pcm_s16le wav, pcm_s24le wav, pcm_f64le wav"),
    (
        "WAV with mu-law, A-law, MS or IMA ADPCM, or MP3",
        "pcm_mulaw wav, pcm_alaw wav, adpcm_ms wav, adpcm_ima_wav wav, libmp3lame wav",
    ),
    ("AIFF, AIFF-C", "pcm_s16be aiff, pcm_s24be aif, pcm_f32be aifc"),
    ("CAF", "pcm_s16be caf, pcm_s32le caf, alac caf"),
    ("FLAC, also in Ogg", "flac flac, flac oga"),
    ("MP4 with ALAC (m4a)", "alac m4a"),
    ("MP4 with AAC (m4a, m4b, mp4, mov)", "aac m4a, aac mp4, aac mov"),
    ("MP3", "libmp3lame mp3"),
    ("Ogg Vorbis", "vorbis -strict -2 -ac 2 ogg"),
];

#[test]
fn the_manuals_table_of_formats_is_true_of_tags_and_covers() {
    let manual = tone_filter_testkit::root().join("docs/manual/command-line.md");
    let manual = fs::read_to_string(manual).unwrap();
    let (_, table) =
        manual.split_once("| format | what is read | what is kept |\n|---|---|---|\n").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), TABLE.map(|(row, _)| row));
    let folder = chord(20_000);
    // A red picture of 8 x 8 pixels.
    folder.tool("ffmpeg -v error -f lavfi -i color=red:s=8x8 -frames:v 1 cover.png");
    let tags = serde_json::json!(BTreeMap::from(TAGS)).to_string();
    let (mut files, mut tagged) = (vec![], vec![tags]);
    for (row, (_, codings)) in rows.iter().zip(TABLE) {
        let is_kept = row[2].starts_with("tags and covers");
        assert!(is_kept || row[2] == "nothing", "{row:?}");
        for (index, file) in codings.split(", ").enumerate() {
            let (coding, extension) = file.rsplit_once(' ').unwrap();
            let name = format!("{}{index}.{extension}", row[0].replace([' ', '/'], "-"));
            let line = format!("ffmpeg -v error -i in.wav -map_metadata -1 -c:a {coding} {name}");
            folder.tool(&line);
            if is_kept {
                tagged.push(name.clone());
            }
            files.push((name, is_kept));
        }
    }
    python(&folder, TAGGER, &tagged);
    let mut made = vec![];
    for (name, is_kept) in files {
        for to in ["wav", "flac"] {
            let out = format!("{name}.{to}");
            folder.render(&name, &out, &unmixed());
            made.push((out, is_kept));
        }
    }
    let bare = Options { strip_metadata: true, ..unmixed() };
    for to in ["bare.wav", "bare.flac"] {
        folder.render(&tagged[1], to, &bare);
        made.push((to.into(), false));
    }
    let names: Vec<String> = made.iter().map(|(name, _)| name.clone()).collect();
    let found: Value = serde_json::from_slice(&python(&folder, READER, &names)).unwrap();
    for (name, is_kept) in made {
        let (tags, covers) = (&found[&name][0], &found[&name][1]);
        assert_eq!(*covers, usize::from(is_kept), "{name}");
        for (tag, value) in TAGS {
            // mutagen writes no custom tags to MP4. ReplayGain is always left out: it describes the old samples.
            let has_tag = match tag {
                "CURATOR" | "DESCRIPTION" => is_kept && !name.starts_with("MP4"),
                "REPLAYGAIN_TRACK_GAIN" => false,
                _ => is_kept,
            };
            let expected = if has_tag { value.into() } else { Value::Null };
            assert_eq!(tags[tag], expected, "{name}: {tags}");
        }
    }
}

#[test]
fn titles_of_wav_are_kept_where_the_output_has_tags() {
    let folder = chord(3000);
    folder.tool("ffmpeg -v error -i in.wav -metadata title=Fugue -metadata artist=Bach info.wav");
    folder.render("info.wav", "out.flac", &unmixed());
    let found = python(&folder, READER, &["out.flac".into()]);
    let found: Value = serde_json::from_slice(&found).unwrap();
    assert_eq!(found["out.flac"][0]["TITLE"], "Fugue");
    assert_eq!(found["out.flac"][0]["ARTIST"], "Bach");
}
