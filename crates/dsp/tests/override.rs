//! Environment variable that selects the kernel. The test has a process of its own, because it sets the variable.

use tone_filter_dsp::{Kernel, Settings, ToneFilter};

#[test]
fn the_variable_names_the_kernel_and_a_wrong_name_is_an_error() {
    let set = |name: &str| {
        // SAFETY: this is the only test of its process, and no other thread reads the environment.
        unsafe { std::env::set_var(Kernel::VARIABLE, name) }
    };
    let chosen = || ToneFilter::new(48_000.0, &Settings::default()).unwrap().kernel();

    for kernel in Kernel::available() {
        set(kernel.name());
        assert_eq!(Kernel::from_environment(), Ok(kernel));
        assert_eq!(
            chosen(),
            Kernel::best(),
            "the library does what it is told, not what is set around it"
        );
    }

    for wrong in ["", "mmx", "AVX2"] {
        set(wrong);
        let message = Kernel::from_environment().unwrap_err().to_string();
        assert!(message.contains(&format!("'{wrong}'")), "{message}");
        assert!(message.contains("scalar, portable"), "{message}");
    }

    // SAFETY: as above.
    unsafe { std::env::remove_var(Kernel::VARIABLE) };
    assert_eq!(Kernel::from_environment(), Ok(Kernel::best()));
    assert_eq!(chosen(), Kernel::best());
}
