//! Writes the C header, made of the library's doc comments, into the file of the first argument.

fn main() {
    let file = std::env::args_os().nth(1).expect("usage: c_header FILE");
    let made =
        cbindgen::generate(env!("CARGO_MANIFEST_DIR")).expect("the library's source is valid");
    made.write_to_file(file);
}
