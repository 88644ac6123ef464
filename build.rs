//! On Linux, keeps the plugin's library in memory once a host has loaded it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // On Linux the window's thread may still be running when a host closes the editor and unloads the library at once. The
    // thread's code must stay in memory until the thread ends.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    }
}
