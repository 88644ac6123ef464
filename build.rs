//! Keeps the plugin's library in memory once a host has loaded it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // On Linux the window's thread may still be on its way out when a host that has closed the editor
    // unloads the library at once, and would go on in code that is no longer there.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    }
}
