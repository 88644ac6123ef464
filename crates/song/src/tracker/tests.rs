use super::*;
use tone_filter_dsp::Voice;

#[test]
fn a_song_has_the_voice_chip_and_arpeggios() {
    let sound =
        Settings { voice: Voice::Saw, voices: 5.0, lookahead: false, ..Settings::default() };
    assert!(sound.focus > 0.0 && sound.arp == Arp::Off);
    let chip = Settings { voice: Voice::Chip, lookahead: true, ..sound };
    assert_eq!(console::settings(sound), chip);
    assert_eq!(super::settings(sound), Settings { arp: Arp::Fast, ..chip });
    let up = Settings { arp: Arp::Up, ..sound };
    assert_eq!(super::settings(up), Settings { arp: Arp::Up, ..chip });
    let live = Settings { focus: 0.0, lookahead: true, ..sound };
    assert!(!super::settings(live).lookahead && !console::settings(live).lookahead);
}
