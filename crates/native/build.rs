//! Gives the library a name of its own, so that a program that is linked with it accepts the one that is preloaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libraddle_native.so");
}
