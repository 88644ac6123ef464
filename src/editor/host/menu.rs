//! The host's menu of a parameter, for hosts that leave it to the plugin to show it.

use crate::editor::theme;
use crate::session::Edits;
use egui::{Button, Checkbox, Id, Key, Popup, PopupKind, Pos2, Response, RichText, Ui};
use plugin_guard::{HostLink, Menu, MenuItem, Place, Request};

/// Requests the host's menu of the setting called `id` if `response` was clicked with the secondary button, or has the
/// focus while Shift+F10 is pressed.
pub fn offer(response: &Response, id: &'static str, edits: &Edits) {
    let ctx = &response.ctx;
    let by_key = response.has_focus()
        && ctx.input(|input| input.modifiers.shift && input.key_pressed(Key::F10));
    if !by_key && !response.secondary_clicked() {
        return;
    }
    let at = response.interact_pointer_pos().unwrap_or(response.rect.left_bottom());
    // Windows are measured in physical pixels, except on macOS.
    let mac = cfg!(target_os = "macos");
    let pixels = if mac { ctx.zoom_factor() } else { ctx.pixels_per_point() };
    let pixel = [at.x, at.y].map(|length| (length * pixels).round() as i32);
    edits.host.request(Request::Menu(Place { id, at: at.into(), pixel }));
}

/// Shows the menu that the host has described, until an entry or something else is clicked.
pub fn show(ui: &Ui, host: &HostLink) {
    let Some(Menu { place, items }) = host.menu() else { return };
    let mut open = true;
    Popup::new(Id::unique("host menu"), ui.ctx().clone(), Pos2::from(place.at), ui.layer_id())
        .kind(PopupKind::Menu)
        .open_bool(&mut open)
        .show(|ui| show_items(ui, &items, place.id, host));
    if !open {
        host.set_menu(None);
    }
}

fn show_items(ui: &mut Ui, items: &[MenuItem], id: &'static str, host: &HostLink) {
    for item in items {
        match item {
            MenuItem::Entry { label, enabled, checked, action } => {
                let clicked = match checked {
                    None => ui.add_enabled(*enabled, Button::new(label)),
                    Some(checked) => {
                        ui.add_enabled(*enabled, Checkbox::new(&mut { *checked }, label))
                    }
                };
                if clicked.clicked() {
                    host.request(Request::Perform { id, action: *action });
                }
            }
            MenuItem::Separator => _ = ui.separator(),
            MenuItem::Title(title) => _ = ui.label(RichText::new(title).color(theme::DIM)),
            MenuItem::Submenu { label, enabled, items } => {
                ui.add_enabled_ui(*enabled, |ui| {
                    ui.menu_button(label, |ui| show_items(ui, items, id, host));
                });
            }
        }
    }
}
