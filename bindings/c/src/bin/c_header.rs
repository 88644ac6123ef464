//! Writes the C header, made of the library's items and their doc comments, into the file that the first argument names.

fn main() {
    let file = std::env::args_os().nth(1).expect("usage: c_header FILE");
    let made =
        cbindgen::generate(env!("CARGO_MANIFEST_DIR")).expect("the library's source is valid");
    made.write_to_file(file);
}
