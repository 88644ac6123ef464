//! Names, roles, values and actions of controls for screen readers, beyond egui's own widgets.

use egui::{
    Context, Id, Response, Ui,
    accesskit::{Action, ActionData, Live, Role},
    accesskit_root_id,
};
use nice_plug::prelude::{FloatParam, Param};
use tone_filter_dsp::Spec;

/// Describes the slider `response` to screen readers: range, value `plain` in the unit of `spec`, the same value as text, step,
/// and actions. `step` is a fraction of the normalised range.
pub fn slider(response: &Response, spec: &Spec, param: &FloatParam, plain: f32, step: f32) {
    response.ctx.accesskit_node_builder(response.id, |node| {
        let now = param.preview_normalized(plain);
        let next = param.preview_plain(if now + step <= 1.0 { now + step } else { now - step });
        node.set_min_numeric_value(f64::from(spec.min));
        node.set_max_numeric_value(f64::from(spec.max));
        node.set_numeric_value_step(f64::from((next - plain).abs()));
        node.set_value(spec.format(plain));
        for action in [Action::SetValue, Action::Increment, Action::Decrement] {
            node.add_action(action);
        }
    });
}

/// Returns a screen reader's requests for the slider `response`: the steps to move by, and the value to set in the slider's unit.
pub fn wanted(ui: &Ui, response: &Response) -> (f32, Option<f32>) {
    ui.input(|input| {
        let count = |action| input.num_accesskit_action_requests(response.id, action) as f32;
        let values = input.accesskit_action_requests(response.id, Action::SetValue);
        let values = values.filter_map(|request| match &request.data {
            Some(ActionData::NumericValue(value)) => Some(*value as f32),
            _ => None,
        });
        let value = values.filter(|value| value.is_finite()).last();
        (count(Action::Increment) - count(Action::Decrement), value)
    })
}

/// Has the text of the label `response` read out when it appears or changes, without interrupting the screen reader.
pub fn announce_label(response: &Response) {
    response.ctx.accesskit_node_builder(response.id, |node| node.set_live(Live::Polite));
}

/// Names the window for screen readers, and has `text` read out when it changes. `text` should also be visible in the window.
pub fn announce(ctx: &Context, text: impl FnOnce() -> String) {
    ctx.accesskit_node_builder(accesskit_root_id(), |node| node.set_label("Tone Filter"));
    ctx.accesskit_node_builder(Id::unique("announcement"), |node| {
        node.set_role(Role::Status);
        node.set_live(Live::Polite);
        node.set_label(text());
    });
}
