//! Handle and window of an open editor, for nice-plug on any thread.
//!
//! On Linux, nice-plug 0.4.2 passes new values to an open editor on a thread of its own, while the main thread owns the window.
//! Therefore handle and window are `Sync` here, and `shared` makes `patches/fragile` share them between threads.

use fragile::Fragile;
use nice_plug::editor::{
    EditorHandle, Modifiers, ParentWindowHandle, SpawnedEditor, VirtualKeyCode, dpi::NativeSize,
};

/// Handle of an open editor, for any thread.
pub struct Handle<H>(H);

/// Window of an open editor. Methods that use the window must be called on its own thread.
pub struct Window<W: 'static>(Fragile<W>);

/// Makes handle and window of an open editor available to all threads.
pub fn shared<H>(spawned: SpawnedEditor<H>) -> SpawnedEditor<Handle<H>>
where
    H: EditorHandle + Sync,
    SpawnedEditor<Handle<H>>: Sync,
{
    fragile::share::<SpawnedEditor<Handle<H>>>();
    let SpawnedEditor { handle, window } = spawned;
    SpawnedEditor { handle: Handle(handle), window: Window(Fragile::new(window)) }
}

/// Implements methods that call the inner handle's methods of the same names. After a semicolon, `window` is passed, too.
macro_rules! pass_on {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(; $window:ident)?) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type,)* $($window: &Self::Window)?) -> $result {
            self.0.$name($($argument,)* $($window.0.get())?)
        })*
    };
}

impl<H: EditorHandle> EditorHandle for Handle<H> {
    type Window = Window<H::Window>;
    type Error = H::Error;

    fn run_until_closed(window: Self::Window) -> Result<(), Self::Error> {
        match window.0.try_into_inner() {
            Ok(window) => H::run_until_closed(window),
            // On another thread than the window's, the window cannot be run. It stays open.
            Err(_) => Ok(()),
        }
    }

    /// Does nothing on another thread than the window's. In a VST3 host without a run loop, nice-plug calls this on its own thread.
    fn host_main_thread_callback(&self, window: &Self::Window) {
        if let Some(window) = window.0.try_get() {
            self.0.host_main_thread_callback(window);
        }
    }

    pass_on! {
        fn set_parent(parent: ParentWindowHandle; window) -> Result<(), Self::Error>;
        fn show(; window) -> Result<(), Self::Error>;
        fn hide(; window) -> Result<(), Self::Error>;
        fn set_size(size: NativeSize<u32>; window) -> Result<(), Self::Error>;
        fn adjust_size(size: NativeSize<u32>; window) -> Option<NativeSize<u32>>;
        fn set_fallback_scale_factor(scale: f64; window) -> Result<(), Self::Error>;
        fn on_virtual_key_from_host(
            key: VirtualKeyCode, is_down: bool, modifiers: Modifiers
        ) -> bool;
        fn state_changed() -> ();
        fn param_value_changed(id: &str, value: f32) -> ();
        fn param_modulation_changed(id: &str, offset: f32) -> ();
    }
}
