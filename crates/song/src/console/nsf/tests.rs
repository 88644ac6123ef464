//! Tests of NSF files against the specification, and of the player on an emulated processor.

use super::{super::registers::Write, *};
use mos6502::{cpu::CPU, instruction::Ricoh2a03, memory::Bus, registers::StackPointer};

fn word(file: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([file[at], file[at + 1]])
}

/// Memory of an NSF player: RAM with the stack, and the banks of a file.
struct Memory {
    ram: [u8; 0x200],
    banks: [u8; 8],
    /// Contents of the file, from the start of the first bank.
    rom: Vec<u8>,
    written: Vec<Write>,
}

impl Bus for Memory {
    fn get_byte(&mut self, address: u16) -> u8 {
        let address = usize::from(address);
        match address {
            ..0x200 => self.ram[address],
            0x8000.. => {
                let bank = usize::from(self.banks[address / BANK - 8]);
                self.rom[bank * BANK + address % BANK]
            }
            _ => panic!("nothing to read at {address:#X}"),
        }
    }

    fn set_byte(&mut self, address: u16, value: u8) {
        match address {
            ..0x200 => self.ram[usize::from(address)] = value,
            0x4000..0x4018 => self.written.push([address as u8, value]),
            0x5FF8.. => self.banks[usize::from(address - 0x5FF8)] = value,
            _ => panic!("nothing to write at {address:#X}"),
        }
    }
}

struct Console(CPU<Memory, Ricoh2a03>);

impl Console {
    fn new(file: &[u8]) -> Self {
        let mut rom = vec![0; usize::from(word(file, 0x08)) % BANK];
        rom.extend(&file[0x80..]);
        let banks = file[0x70..0x78].try_into().unwrap();
        Self(CPU::new(Memory { ram: [0xEE; 0x200], banks, rom, written: Vec::new() }, Ricoh2a03))
    }

    /// Calls the routine at `address`. Returns its writes to the sound chip.
    fn call(&mut self, address: u16) -> Vec<Write> {
        const BACK: u16 = 0x4100;
        let Self(cpu) = self;
        // The stack has the address of the last byte of the call.
        cpu.memory.ram[0x1FE..].copy_from_slice(&(BACK - 1).to_le_bytes());
        cpu.registers.stack_pointer = StackPointer(0xFD);
        cpu.registers.program_counter = address;
        for _ in 0..10_000 {
            if cpu.registers.program_counter == BACK {
                return std::mem::take(&mut cpu.memory.written);
            }
            assert!(cpu.single_step(), "{:?}", cpu.registers);
        }
        panic!("the routine at {address:#X} does not return");
    }
}

/// Returns a song of `count` ticks with 0 to 16 writes each. All values of a byte occur.
fn song(count: usize, repeat: Option<usize>) -> Song {
    let tick = |tick: usize| {
        let write = |write| [(write % 0x18) as u8, (tick + write) as u8];
        (0..tick % 17).map(write).collect()
    };
    Song { ticks: (0..count).map(tick).collect(), repeat, notes: 0 }
}

#[test]
fn the_header_says_where_the_player_is() {
    let tags =
        Tags { title: "A title of more than 31 letters, Tōkyō".into(), author: "Tōkyō".into() };
    let file = nsf(&song(4, None), &tags).unwrap();
    assert_eq!(&file[..8], b"NESM\x1A\x01\x01\x01");
    assert_eq!(&file[0x0E..0x2E], b"A title of more than 31 letters\0");
    assert_eq!(&file[0x2E..0x34], b"T?ky?\0");
    assert_eq!(word(&file, 0x6E), 16_666, "microseconds a tick");
    assert_eq!(file[0x70..0x78], [0, 1, 0, 0, 0, 0, 0, 0]);
    assert!(file[0x78..0x80].iter().all(|byte| *byte == 0), "NTSC, no other chips");
    // The player is at the end of the first bank.
    assert_eq!(usize::from(word(&file, 0x08)) + PLAYER.len(), 0x9000);
}

#[test]
fn the_player_writes_what_the_song_has_tick_for_tick() {
    // Songs of a few hundred bytes and of about 20 banks.
    for (count, repeat) in
        [(40, None), (40, Some(0)), (40, Some(39)), (5000, None), (5000, Some(3000))]
    {
        let song = song(count, repeat);
        let file = nsf(&song, &Tags::default()).unwrap();
        let mut console = Console::new(&file);
        let (init, play) = (word(&file, 0x0A), word(&file, 0x0C));
        assert!(console.call(init).is_empty());
        for (tick, writes) in song.ticks.iter().enumerate() {
            assert_eq!(&console.call(play), writes, "{tick} of {count}");
        }
        let silence = [const { Vec::new() }];
        let after = repeat.map_or(&silence[..], |start| &song.ticks[start..]);
        for writes in after.iter().cycle().take(3 * after.len()) {
            assert_eq!(&console.call(play), writes, "after {count}, from {repeat:?}");
        }
        // `init` restarts the song.
        console.call(init);
        assert_eq!(console.call(play), song.ticks[0]);
    }
}

#[test]
fn a_song_fills_all_banks_and_no_more() {
    let last = [[0x15, 0]];
    // Of `bytes`, the jump at the end needs five, and the last tick three.
    let song = |bytes: usize| {
        let mut ticks = vec![Vec::new(); bytes - 8];
        ticks.push(last.to_vec());
        Song { ticks, repeat: None, notes: 0 }
    };
    let file = nsf(&song(255 * 4096), &Tags::default()).unwrap();
    assert_eq!(file.len(), 0x80 + PLAYER.len() + 255 * 4096);
    let mut console = Console::new(&file);
    console.call(word(&file, 0x0A));
    let play = word(&file, 0x0C);
    let writes: Vec<_> = (0..255 * 4096).flat_map(|_| console.call(play)).collect();
    assert_eq!(writes, last);
    assert_eq!(nsf(&song(255 * 4096 + 1), &Tags::default()), None);
}
