//! A few minutes of the session that `cargo xtask soak` runs for two hours.

use tone_filter_testkit::{plugin::library, soak::session::session};

#[test]
fn a_session_of_many_instances_restores_every_state() {
    let session = session(&library().0, 50, 200, 20).unwrap();
    assert_eq!(session.states, 200);
    assert_eq!(session.editors, if cfg!(target_os = "linux") { 10 } else { 0 });
}
