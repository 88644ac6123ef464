//! Context menus of parameters: the editor requests the host's menu and adds its own entries.

use super::super::{
    ffi::{c_string, rust_string, without_panic},
    shim::{ClapShim, shim},
};
use crate::{Menu, MenuItem, Place, host_link::lock};
use clap_sys::{ext::context_menu::*, id::clap_id, plugin::clap_plugin};
use std::{cell::RefCell, ffi::c_void};

pub static EXTENSION: clap_plugin_context_menu =
    clap_plugin_context_menu { populate: Some(populate), perform: Some(choose) };

/// Returns the editor's last menu request, if it is for `target`.
///
/// # Safety
/// `plugin` must come from [`ClapShim::create`], `target` must be valid or null, and the caller must be on the main thread.
unsafe fn requested(
    plugin: *const clap_plugin,
    target: *const clap_context_menu_target,
) -> Option<Place> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let shim = shim(plugin);
        let target =
            target.as_ref().filter(|target| target.kind == CLAP_CONTEXT_MENU_TARGET_KIND_PARAM)?;
        let place = (*lock(&shim.menu))?;
        (shim.clap_id(place.id) == Some(target.id)).then_some(place)
    }
}

unsafe extern "C" fn populate(
    plugin: *const clap_plugin,
    target: *const clap_context_menu_target,
    builder: *const clap_context_menu_builder,
) -> bool {
    // SAFETY: the host guarantees the arguments, and calls this on its main thread.
    without_panic(false, || unsafe {
        let Some((add, place)) = (*builder).add_item.zip(requested(plugin, target)) else {
            return false;
        };
        place.own.iter().enumerate().all(|(index, name)| {
            let label = c_string(name);
            let entry = clap_context_menu_entry {
                label: label.as_ptr(),
                is_enabled: true,
                action_id: index as clap_id,
            };
            add(builder, CLAP_CONTEXT_MENU_ITEM_ENTRY, (&raw const entry).cast())
        })
    })
}

unsafe extern "C" fn choose(
    plugin: *const clap_plugin,
    target: *const clap_context_menu_target,
    action: clap_id,
) -> bool {
    // SAFETY: the host guarantees the arguments, and calls this on its main thread.
    without_panic(false, || unsafe {
        let place = requested(plugin, target);
        place.iter().for_each(|place| {
            shim(plugin).instance.link().choose(place.id, action as usize);
        });
        place.is_some()
    })
}

/// Makes the host show its menu of a parameter. If the host cannot, passes the menu's items to the editor.
///
/// # Safety
/// Must be called on the main thread.
pub unsafe fn open(shim: &ClapShim, place: Place) {
    // SAFETY: guaranteed by the caller; the builder and its context live until the call returns.
    unsafe {
        let Some(parameter) = shim.clap_id(place.id) else { return };
        *lock(&shim.menu) = Some(place);
        if shim.host.popup(parameter, place.at_pixel) {
            return;
        }
        let building = RefCell::new(Building::default());
        let builder = clap_context_menu_builder {
            ctx: (&raw const building).cast_mut().cast(),
            add_item: Some(add_item),
            supports: Some(supports),
        };
        if shim.host.populate(parameter, &builder) {
            let items = building.into_inner().items;
            shim.instance.link().set_menu((!items.is_empty()).then_some(Menu { place, items }));
        }
    }
}

/// Makes the host perform the entry `action` of its menu for the parameter called `id`.
///
/// # Safety
/// Must be called on the main thread.
pub unsafe fn perform(shim: &ClapShim, id: &str, action: clap_id) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(parameter) = shim.clap_id(id) {
            shim.host.perform(parameter, action);
        }
    }
}

/// Menu that the host builds by calls of [`add_item`].
#[derive(Default)]
struct Building {
    /// Open submenus, outermost first: label, whether enabled, and the items of the parent menu so far.
    outer: Vec<(String, bool, Vec<MenuItem>)>,
    /// Items of the innermost open menu so far.
    items: Vec<MenuItem>,
}

impl Building {
    fn end(&mut self) -> bool {
        let Some((label, enabled, outer)) = self.outer.pop() else { return false };
        let items = std::mem::replace(&mut self.items, outer);
        self.items.push(MenuItem::Submenu { label, enabled, items });
        true
    }

    /// Adds an item, or begins or ends a submenu. Returns false if `data` is invalid or `kind` unknown.
    ///
    /// # Safety
    /// `data` must be null or point to CLAP's struct for `kind`.
    unsafe fn add(&mut self, kind: clap_context_menu_item_kind, data: *const c_void) -> bool {
        /// # Safety
        /// `data` must be null or point to a `T`.
        unsafe fn of<'a, T>(data: *const c_void) -> Option<&'a T> {
            // SAFETY: guaranteed by the caller.
            unsafe { data.cast::<T>().as_ref() }
        }
        // SAFETY: the types are CLAP's for each kind, and their strings are zero-terminated.
        let item = unsafe {
            match kind {
                CLAP_CONTEXT_MENU_ITEM_ENTRY => {
                    of::<clap_context_menu_entry>(data).map(|entry| MenuItem::Entry {
                        label: rust_string(entry.label),
                        enabled: entry.is_enabled,
                        checked: None,
                        action: entry.action_id,
                    })
                }
                CLAP_CONTEXT_MENU_ITEM_CHECK_ENTRY => of::<clap_context_menu_check_entry>(data)
                    .map(|entry| MenuItem::Entry {
                        label: rust_string(entry.label),
                        enabled: entry.is_enabled,
                        checked: Some(entry.is_checked),
                        action: entry.action_id,
                    }),
                CLAP_CONTEXT_MENU_ITEM_SEPARATOR => Some(MenuItem::Separator),
                CLAP_CONTEXT_MENU_ITEM_TITLE => of::<clap_context_menu_item_title>(data)
                    .map(|title| MenuItem::Title(rust_string(title.title))),
                CLAP_CONTEXT_MENU_ITEM_BEGIN_SUBMENU => {
                    let Some(submenu) = of::<clap_context_menu_submenu>(data) else { return false };
                    let outer = std::mem::take(&mut self.items);
                    self.outer.push((rust_string(submenu.label), submenu.is_enabled, outer));
                    return true;
                }
                CLAP_CONTEXT_MENU_ITEM_END_SUBMENU => return self.end(),
                _ => None,
            }
        };
        let known = item.is_some();
        self.items.extend(item);
        known
    }
}

unsafe extern "C" fn add_item(
    builder: *const clap_context_menu_builder,
    kind: clap_context_menu_item_kind,
    data: *const c_void,
) -> bool {
    // SAFETY: `open` made the builder with a `RefCell<Building>` as context; CLAP promises data of the given kind.
    without_panic(false, || unsafe {
        let building = &*(*builder).ctx.cast::<RefCell<Building>>();
        building.borrow_mut().add(kind, data)
    })
}

unsafe extern "C" fn supports(
    _builder: *const clap_context_menu_builder,
    kind: clap_context_menu_item_kind,
) -> bool {
    kind <= CLAP_CONTEXT_MENU_ITEM_TITLE
}
