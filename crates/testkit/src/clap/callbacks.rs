//! Host callbacks: functions of the host that the plugin calls.

use crate::locked;
use clack_extensions::{
    context_menu::*, gui::*, latency::*, note_name::*, params::*,
    preset_discovery::preset_data::Location, preset_discovery::*, state::*, tail::*, track_info::*,
};
use clack_host::{extensions::prelude::*, prelude::*, utils::Color};
use std::{
    ffi::CStr,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
};

/// Marker type. Its implementation of [`HostHandlers`] tells `clack` the types of the host's handlers.
pub struct Callbacks;

/// Extensions that a host offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extensions {
    /// No extension.
    None,
    /// All extensions of this host. An extension that has a draft id is offered under this id alone, as in older hosts.
    Draft,
    /// All extensions of this host.
    All,
}

/// Extension `E` under its draft id alone. `clack` lists this id second.
#[derive(Clone, Copy)]
pub struct Draft<E>(pub E);

// SAFETY: an extension has the same type under both ids.
unsafe impl<E: Extension> Extension for Draft<E> {
    const IDENTIFIERS: &'static [&'static CStr] = &[E::IDENTIFIERS[1]];
    type ExtensionSide = E::ExtensionSide;

    unsafe fn from_raw(raw: RawExtension<Self::ExtensionSide>) -> Self {
        // SAFETY: guaranteed by the caller.
        Self(unsafe { E::from_raw(raw) })
    }
}

// SAFETY: as above.
unsafe impl<H, E: ExtensionImplementation<H>> ExtensionImplementation<H> for Draft<E> {
    const IMPLEMENTATION: RawExtensionImplementation = E::IMPLEMENTATION;
}

/// Kind of call from the plugin to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Request of a restart: deactivation and activation.
    Restart,
    /// Request to flush the parameters.
    Flush,
    /// Notification of changed parameters.
    Rescan,
    /// Notification of a changed latency.
    Latency,
    /// Notification of a changed tail.
    Tail,
    /// Notification of changed key names.
    Names,
}

impl Call {
    pub(super) const ALL: [Self; 6] =
        [Self::Restart, Self::Flush, Self::Rescan, Self::Latency, Self::Tail, Self::Names];
}

/// Name and colour (red, green, blue) of a track.
pub type Track = (&'static str, [u8; 3]);

/// Record of the calls from the plugin, and the values that the host answers with. Any thread may write to it.
pub struct Requests {
    /// Extensions that the host offers.
    pub extensions: Extensions,
    /// The host's main thread.
    main: ThreadId,
    /// Whether the plugin has requested a call on the main thread.
    pub callback: AtomicBool,
    /// Whether activation is in progress.
    pub activating: AtomicBool,
    /// Whether a call came on the wrong thread, or a latency was reported outside of `activate`.
    pub misplaced: AtomicBool,
    /// Number of calls of each kind since this number was last read.
    pub counts: [AtomicUsize; Call::ALL.len()],
    /// Calls about presets, context menus and the state, as text.
    pub log: Mutex<Vec<String>>,
    /// Track that the plugin is on.
    pub track: Mutex<Option<Track>>,
    /// Whether the host shows context menus itself when the plugin asks for it.
    pub pops_up: AtomicBool,
}

impl Requests {
    /// Creates an empty record. The current thread becomes the host's main thread.
    pub fn new(extensions: Extensions) -> Self {
        Self {
            extensions,
            main: thread::current().id(),
            callback: AtomicBool::new(false),
            activating: AtomicBool::new(false),
            misplaced: AtomicBool::new(false),
            counts: Default::default(),
            log: Mutex::default(),
            track: Mutex::default(),
            pops_up: AtomicBool::new(false),
        }
    }

    fn count(&self, call: Call) {
        self.counts[call as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Sets `misplaced` unless this is the main thread. For calls that CLAP allows only there.
    fn check_thread(&self) {
        if thread::current().id() != self.main {
            self.misplaced.store(true, Ordering::Relaxed);
        }
    }

    fn count_on_main(&self, call: Call) {
        self.check_thread();
        self.count(call);
    }

    fn log(&self, call: String) {
        self.check_thread();
        locked(&self.log).push(call);
    }
}

pub(super) fn opaque([red, green, blue]: [u8; 3]) -> Color {
    Color { alpha: 255, red, green, blue }
}

/// Converts a C string of the plugin for the log; `none` stands for a missing one.
pub(super) fn text(text: Option<&CStr>) -> String {
    text.map_or("none".into(), |text| text.to_string_lossy().into_owned())
}

/// Describes a location of presets: returns its path, or `plugin` for the plugin itself.
pub(super) fn describe(location: Location) -> String {
    location.file_path().map_or("plugin".into(), |path| text(Some(path)))
}

/// Callbacks on the main thread.
pub struct MainThread<'a>(pub &'a Requests);

/// Callbacks on the audio thread.
pub struct AudioThread<'a>(pub &'a Requests);

impl HostHandlers for Callbacks {
    type Shared<'a> = Requests;
    type MainThread<'a> = MainThread<'a>;
    type AudioProcessor<'a> = AudioThread<'a>;

    fn declare_extensions(builder: &mut HostExtensions<Self>, requests: &Requests) {
        match requests.extensions {
            Extensions::None => return,
            Extensions::Draft => builder
                .register::<Draft<HostContextMenu>>()
                .register::<Draft<HostPresetLoad>>()
                .register::<Draft<HostTrackInfo>>(),
            Extensions::All => builder
                .register::<HostContextMenu>()
                .register::<HostPresetLoad>()
                .register::<HostTrackInfo>(),
        };
        builder
            .register::<HostGui>()
            .register::<HostLatency>()
            .register::<HostNoteName>()
            .register::<HostParams>()
            .register::<HostState>()
            .register::<HostTail>();
    }
}

impl SharedHandler<'_> for Requests {
    fn request_restart(&self) {
        self.count(Call::Restart);
    }
    fn request_process(&self) {}
    fn request_callback(&self) {
        self.callback.store(true, Ordering::Relaxed);
    }
}

impl HostParamsImplShared for Requests {
    fn request_flush(&self) {
        self.count(Call::Flush);
    }
}

impl HostGuiImpl for Requests {
    fn resize_hints_changed(&self) {}
    fn request_resize(&self, _: GuiSize) -> Result<(), HostError> {
        Ok(())
    }
    fn request_show(&self) -> Result<(), HostError> {
        Ok(())
    }
    fn request_hide(&self) -> Result<(), HostError> {
        Ok(())
    }
    fn closed(&self, _: bool) {}
}

impl<'a> MainThreadHandler<'a> for MainThread<'a> {}

/// Returns the id of the parameter that a context menu belongs to; 0 if it belongs to none.
fn parameter(target: ContextMenuTarget) -> u32 {
    if let ContextMenuTarget::Param(id) = target { id.get() } else { 0 }
}

/// Context menus of the host. They have items of all kinds.
impl HostContextMenuImpl for MainThread<'_> {
    fn populate(
        &self,
        target: ContextMenuTarget,
        builder: &mut ContextMenuBuilder,
    ) -> Result<(), HostError> {
        self.0.log(format!("populate {}", parameter(target)));
        let entry = |label, enabled, id| Item::Entry { label, enabled, action_id: ClapId::new(id) };
        let (label, action_id) = (c"Follow automation", ClapId::new(8));
        for item in [
            Item::Title { title: c"Mix", enabled: true },
            entry(c"Learn controller", true, 7),
            Item::Separator,
            Item::CheckEntry { label, enabled: true, checked: true, action_id },
            Item::BeginSubmenu { label: c"Automation", enabled: true },
            entry(c"Clear", false, 9),
            Item::EndSubmenu,
        ] {
            assert!(builder.supports(item.kind()), "{item:?}");
            builder.add_item(&item)?;
        }
        assert!(builder.add_item(&Item::EndSubmenu).is_err(), "no submenu is open");
        Ok(())
    }

    fn perform(&self, target: ContextMenuTarget, action: ClapId) -> Result<(), HostError> {
        self.0.log(format!("perform {} {}", parameter(target), action.get()));
        Ok(())
    }

    fn can_popup(&self) -> bool {
        self.0.pops_up.load(Ordering::Relaxed)
    }

    fn popup(
        &self,
        target: ContextMenuTarget,
        screen: i32,
        x: i32,
        y: i32,
    ) -> Result<(), HostError> {
        self.0.log(format!("popup {} on {screen} at {x} {y}", parameter(target)));
        Ok(())
    }
}

impl HostLatencyImpl for MainThread<'_> {
    fn changed(&self) {
        self.0.count_on_main(Call::Latency);
        if !self.0.activating.load(Ordering::Relaxed) {
            self.0.misplaced.store(true, Ordering::Relaxed);
        }
    }
}

impl HostParamsImplMainThread for MainThread<'_> {
    fn rescan(&self, _: ParamRescanFlags) {
        self.0.count_on_main(Call::Rescan);
    }
    fn clear(&self, _: ClapId, _: ParamClearFlags) {}
}

impl HostPresetLoadImpl for MainThread<'_> {
    fn on_error(&self, at: Location, key: Option<&CStr>, code: i32, message: Option<&CStr>) {
        self.0.log(format!("error {} {} {code}: {}", describe(at), text(key), text(message)));
    }
    fn loaded(&self, at: Location, key: Option<&CStr>) {
        self.0.log(format!("loaded {} {}", describe(at), text(key)));
    }
}

impl HostTrackInfoImpl for MainThread<'_> {
    fn get<'a>(&'a self, writer: &mut TrackInfoWriter<'_, 'a>) {
        if let Some((name, colour)) = *locked(&self.0.track) {
            let (name, colour) = (Some(name.as_bytes()), Some(opaque(colour)));
            writer.set(&TrackInfo::new().with_name(name).with_color(colour));
        }
    }
}

impl<'a> AudioProcessorHandler<'a> for AudioThread<'a> {}

impl HostTailImpl for AudioThread<'_> {
    fn changed(&mut self) {
        self.0.count(Call::Tail);
    }
}

impl HostNoteNameImpl for MainThread<'_> {
    fn changed(&self) {
        self.0.count_on_main(Call::Names);
    }
}

impl HostStateImpl for MainThread<'_> {
    fn mark_dirty(&self) {
        self.0.log("dirty".into());
    }
}
