//! The committed header is equal to the one that cbindgen generates from the source.

use std::{env, fs, path::Path};

/// Environment variable that makes the test write the header instead of comparing it.
const UPDATE: &str = "UPDATE_HEADER";

#[test]
fn the_header_is_that_of_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_crate(root)
        .generate()
        .unwrap()
        .write(&mut made);
    let (made, path) = (String::from_utf8(made).unwrap(), root.join("include/tone_filter.h"));
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    assert!(committed == made, "write it with {UPDATE}=1 cargo test -p tone-filter-capi");
}
