//! Test of callbacks on several threads at once, as Unity's main and audio threads call them.

use crate::host::{Instance, function, music};
use std::{
    ffi::{c_char, c_int},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};
use tone_filter_testkit::{Draws, controls};

/// Instance number of this test's filter.
const NUMBER: c_int = 50;

#[test]
fn parameters_scripts_and_displays_do_not_disturb_the_sound() {
    let effect = Instance::new();
    effect.set("Instance", NUMBER as f32);
    let (state, done) = (&effect, AtomicBool::new(false));
    type Score = unsafe extern "C" fn(c_int, *const u8, c_int) -> *const c_char;
    type Key = extern "C" fn(c_int, c_int, f32) -> *const c_char;
    type Seek = extern "C" fn(c_int, f64, f64, f64) -> *const c_char;
    let set_score: Score = function("tone_filter_unity_set_score");
    let key: Key = function("tone_filter_unity_key");
    let seek: Seek = function("tone_filter_unity_seek");
    thread::scope(|scope| {
        for thread in 0..2 {
            let done = &done;
            scope.spawn(move || {
                let draws = &mut Draws::seeded(thread);
                for step in 0.. {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    state.set_all(&controls(draws));
                    if step % 8 == 0 {
                        state.reset();
                        assert_eq!(state.read("Bands", 80).unwrap().len(), 80);
                    }
                }
            });
        }
        let done_ = &done;
        scope.spawn(move || {
            for step in 0.. {
                if done_.load(Ordering::Relaxed) {
                    break;
                }
                let score = format!("tone-filter-score 1\n0 2 {}\n", 60 + step % 12);
                let length = score.len() as c_int;
                // SAFETY: `score` has `length` bytes.
                assert!(unsafe { set_score(NUMBER, score.as_ptr(), length) }.is_null());
                assert!(key(NUMBER, 60 + step % 12, (step % 2) as f32).is_null());
                assert!(seek(NUMBER, f64::from(step % 3), f64::NAN, 0.7).is_null());
            }
        });
        let input = music(2, 1024);
        let mut output = vec![9.0; input.len()];
        for _ in 0..300 {
            assert_eq!(state.process_shared(&input, &mut output), 0);
            assert!(output.iter().all(|sample| sample.abs() < 16.0), "not finite, or wild");
        }
        done.store(true, Ordering::Relaxed);
    });
}
