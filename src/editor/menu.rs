//! Context menu of a parameter: the host's, or else the plugin's (in hosts without menus, with MIDI learn). Both have [`OWN`].

use super::theme;
use crate::{params::Control, session::Edits};
use egui::{Button, Checkbox, Id, Key, Popup, PopupKind, Pos2, Response, RichText, Ui};
use plugin_guard::{Menu, MenuItem, Place, Request};
use tone_filter_dsp::Controls;

// Actions in the plugin's own menu.
const LEARN: u32 = 0;
const CANCEL: u32 = 1;
const FORGET: u32 = 2;

/// Names of the plugin's entries in every menu. The menu of a choice has only the first one.
const OWN: [&str; 2] = ["Reset", "Enter value"];

/// Returns the key under which egui's memory has the id of the setting whose text field must open in the next frame.
pub fn to_enter() -> Id {
    Id::unique("value to enter")
}

/// Opens the menu of the setting called `id` after a secondary click on its control `response`, or after Shift+F10 while that
/// control has the focus.
pub fn offer(response: &Response, id: &'static str, edits: &Edits) {
    let ctx = &response.ctx;
    let by_key = response.has_focus()
        && ctx.input(|input| input.modifiers.shift && input.key_pressed(Key::F10));
    if !by_key && !response.secondary_clicked() {
        return;
    }
    let at = response.interact_pointer_pos().unwrap_or(response.rect.left_bottom());
    // The host expects physical pixels, except on macOS, where it expects logical ones.
    let mac = cfg!(target_os = "macos");
    let pixels = if mac { ctx.zoom_factor() } else { ctx.pixels_per_point() };
    let at_pixel = [at.x, at.y].map(|length| (length * pixels).round() as i32);
    let is_number = matches!(edits.params.control(id), Some(Control::Number(..)));
    let own = &OWN[..if is_number { 2 } else { 1 }];
    let place = Place { id, at: at.into(), at_pixel, own };
    if !edits.host.request(Request::Menu(place)) {
        edits.host.set_menu(Some(Menu { place, items: own_items(id, edits) }));
    }
}

fn own_items(id: &'static str, edits: &Edits) -> Vec<MenuItem> {
    let controllers = &edits.params.controllers;
    let entry = |label: &str, action| {
        let label = label.to_owned();
        MenuItem::Entry { label, enabled: true, checked: None, action }
    };
    let learn = match controllers.is_learning(id) {
        true => entry("Stop learning", CANCEL),
        false => entry("Learn a MIDI controller", LEARN),
    };
    let forget = |controller| entry(&format!("Forget controller {controller}"), FORGET);
    [learn].into_iter().chain(controllers.of(id).map(forget)).collect()
}

fn perform(id: &'static str, action: u32, edits: &mut Edits) {
    match action {
        LEARN => edits.learn(id),
        CANCEL => edits.params.controllers.learn(None),
        _ => edits.forget_controller(id),
    }
}

/// Performs entry `index` of [`OWN`].
fn perform_own(ui: &Ui, id: &'static str, index: usize, edits: &mut Edits) {
    match (index, edits.params.control(id)) {
        (0, Some(control)) => edits.set_once(id, control.normalized(&Controls::default())),
        _ => _ = ui.data_mut(|data| data.insert_temp(to_enter(), id)),
    }
    ui.ctx().request_repaint();
}

pub fn show(ui: &Ui, edits: &mut Edits) {
    for (id, index) in edits.host.take_chosen() {
        perform_own(ui, id, index, edits);
    }
    let Some(Menu { place, items }) = edits.host.menu() else { return };
    let mut open = true;
    Popup::new(Id::unique("host menu"), ui.ctx().clone(), Pos2::from(place.at), ui.layer_id())
        .kind(PopupKind::Menu)
        .open_bool(&mut open)
        .show(|ui| {
            show_items(ui, &items, place.id, edits);
            if !items.is_empty() {
                ui.separator();
            }
            for (index, name) in place.own.iter().enumerate() {
                if ui.button(*name).clicked() {
                    perform_own(ui, place.id, index, edits);
                }
            }
        });
    if !open {
        edits.host.set_menu(None);
    }
}

fn show_items(ui: &mut Ui, items: &[MenuItem], id: &'static str, edits: &mut Edits) {
    for item in items {
        match item {
            MenuItem::Entry { label, enabled, checked, action } => {
                let (enabled, action) = (*enabled, *action);
                let response = match checked {
                    None => ui.add_enabled(enabled, Button::new(label)),
                    Some(on) => ui.add_enabled(enabled, Checkbox::new(&mut { *on }, label)),
                };
                if response.clicked() && !edits.host.request(Request::Perform { id, action }) {
                    perform(id, action, edits);
                }
            }
            MenuItem::Separator => _ = ui.separator(),
            MenuItem::Title(title) => _ = ui.label(RichText::new(title).color(theme::DIM)),
            MenuItem::Submenu { label, enabled, items } => {
                ui.add_enabled_ui(*enabled, |ui| {
                    ui.menu_button(label, |ui| show_items(ui, items, id, edits));
                });
            }
        }
    }
}
