//! Writer of NSF files: a program for the console's processor that plays a song stored in banks of 4 kB.

use super::{Song, Tags};

/// Address at which the current bank of data is visible.
const WINDOW: usize = 0x9000;
/// Length of a bank in bytes.
const BANK: usize = 0x1000;
/// Maximum number of banks of data; one of the 256 banks has the player.
const BANKS: usize = 255;
/// Address of the player: the end of the first bank, directly before the data.
const LOAD: usize = WINDOW - PLAYER.len();
/// Address of the player's routine that starts the song.
const INIT: usize = LOAD;
/// Address of the player's routine that plays a tick.
const PLAY: usize = LOAD + 0x10;
/// Value of a tick's number of writes that marks a jump. The bank and the address of the next tick follow.
const JUMP: u8 = 0xFF;
/// Microseconds per tick. By convention, this value stands for the console's frame rate of 60.1 Hz.
const SPEED: u16 = 16_666;

/// Machine code of the player, which plays one tick per call.
///
/// The data of a tick are a count, and as many pairs of register and value. Zero page: $00 and $01 have the address of the next
/// byte, $02 its bank, $03 a counter.
#[rustfmt::skip]
const PLAYER: [u8; 0x60] = [
    // init: go to the start of bank 1
    0xA9, 0x01,       // 8FA0  lda #1
    0x85, 0x02,       // 8FA2  sta $02
    0x8D, 0xF9, 0x5F, // 8FA4  sta $5FF9    the bank at $9000
    0xA9, 0x00,       // 8FA7  lda #$00
    0x85, 0x00,       // 8FA9  sta $00
    0xA9, 0x90,       // 8FAB  lda #$90
    0x85, 0x01,       // 8FAD  sta $01
    0x60,             // 8FAF  rts
    // play
    0x20, 0xE4, 0x8F, // 8FB0  jsr next
    0xA8,             // 8FB3  tay
    0x30, 0x14,       // 8FB4  bmi jump
    0x85, 0x03,       // 8FB6  sta $03
    // write: repeat as often as $03 says
    0xC6, 0x03,       // 8FB8  dec $03
    0x30, 0x0D,       // 8FBA  bmi done
    0x20, 0xE4, 0x8F, // 8FBC  jsr next
    0xA8,             // 8FBF  tay
    0x20, 0xE4, 0x8F, // 8FC0  jsr next
    0x99, 0x00, 0x40, // 8FC3  sta $4000,y
    0x4C, 0xB8, 0x8F, // 8FC6  jmp write
    // done
    0x60,             // 8FC9  rts
    // jump: to the bank and the address that follow
    0x20, 0xE4, 0x8F, // 8FCA  jsr next
    0x85, 0x03,       // 8FCD  sta $03
    0x20, 0xE4, 0x8F, // 8FCF  jsr next
    0xA8,             // 8FD2  tay
    0x20, 0xE4, 0x8F, // 8FD3  jsr next
    0x85, 0x01,       // 8FD6  sta $01
    0x84, 0x00,       // 8FD8  sty $00
    0xA5, 0x03,       // 8FDA  lda $03
    0x85, 0x02,       // 8FDC  sta $02
    0x8D, 0xF9, 0x5F, // 8FDE  sta $5FF9
    0x4C, 0xB0, 0x8F, // 8FE1  jmp play
    // next: the next byte into A; changes X
    0xA2, 0x00,       // 8FE4  ldx #0
    0xA1, 0x00,       // 8FE6  lda ($00,x)
    0xE6, 0x00,       // 8FE8  inc $00
    0xD0, 0x13,       // 8FEA  bne same
    0xE6, 0x01,       // 8FEC  inc $01
    0xA6, 0x01,       // 8FEE  ldx $01
    0xE0, 0xA0,       // 8FF0  cpx #$A0     the end of the bank
    0xD0, 0x0B,       // 8FF2  bne same
    0xA2, 0x90,       // 8FF4  ldx #$90
    0x86, 0x01,       // 8FF6  stx $01
    0xE6, 0x02,       // 8FF8  inc $02
    0xA6, 0x02,       // 8FFA  ldx $02
    0x8E, 0xF9, 0x5F, // 8FFC  stx $5FF9
    // same
    0x60,             // 8FFF  rts
];

/// Returns `song` as an NSF file; `None` if it needs more than 255 banks. After a song that does not repeat, silence follows.
pub fn nsf(song: &Song, tags: &Tags) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let mut repeat = None;
    for (index, writes) in song.ticks.iter().enumerate() {
        if song.repeat == Some(index) {
            repeat = Some(data.len());
        }
        data.push(writes.len() as u8);
        data.extend(writes.as_flattened());
    }
    let start = repeat.unwrap_or_else(|| {
        // Repeats an empty tick.
        data.push(0);
        data.len() - 1
    });
    let [low, high] = ((WINDOW + start % BANK) as u16).to_le_bytes();
    data.extend([JUMP, (1 + start / BANK) as u8, low, high]);
    (data.len() <= BANKS * BANK).then(|| [&header(tags)[..], &PLAYER, &data].concat())
}

fn header(tags: &Tags) -> [u8; 0x80] {
    let mut header = [0; 0x80];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    // Version 1, with one song; the first song is number 1.
    put(0x00, b"NESM\x1A\x01\x01\x01");
    for (at, address) in [(0x08, LOAD), (0x0A, INIT), (0x0C, PLAY)] {
        put(at, &(address as u16).to_le_bytes());
    }
    put(0x0E, &text(&tags.title));
    put(0x2E, &text(&tags.author));
    put(0x4E, &text("Tone Filter"));
    put(0x6E, &SPEED.to_le_bytes());
    // Initial banks at $8000 and $9000: the player, and the first bank of data.
    put(0x70, &[0, 1]);
    header
}

/// Maximum number of letters in a title or an author.
const LETTERS: usize = 31;

impl Tags {
    /// Returns whether [`nsf`] stores the tags in full: at most 31 letters each, and only ASCII.
    pub fn fit_in_nsf(&self) -> bool {
        [&self.title, &self.author].iter().all(|text| text.is_ascii() && text.len() <= LETTERS)
    }
}

/// Returns the first 31 letters of `text`, with `?` for letters outside ASCII.
fn text(text: &str) -> Vec<u8> {
    let ascii = |letter: char| u8::try_from(letter).ok().filter(u8::is_ascii).unwrap_or(b'?');
    text.chars().take(LETTERS).map(ascii).collect()
}

#[cfg(test)]
mod tests;
