//! Requests of the editor. The shim passes a new size to the host's frame, and all others to the host's component handler.

use super::view::Views;
use crate::{HostLink, Job, Menu, Place, Request};
use nice_plug::wrapper::vst3::vst3::{
    Class, ComPtr, ComWrapper,
    Steinberg::{Vst::*, *},
};
use std::{
    mem,
    sync::{Arc, atomic::Ordering},
};

pub struct Requests {
    pub link: HostLink,
    pub views: Arc<Views>,
    /// Ids of the plugin's own parameters, each with its VST3 number.
    pub ids: Arc<[(String, ParamID)]>,
    pub handler: ComPtr<IComponentHandler>,
    pub marking: Option<ComPtr<IComponentHandler2>>,
    pub menus: Option<ComPtr<IComponentHandler3>>,
}

impl Job for Requests {
    /// Serves all requests. Must be called on the host's main thread; in a host without a timer, on the window's thread.
    fn run(&self) {
        let mut requests = self.link.take_requests();
        // Of consecutive requests of one kind, only the last one counts.
        requests.reverse();
        requests.dedup_by_key(|request| mem::discriminant(request));
        for request in requests.into_iter().rev() {
            // SAFETY: the handlers are reference-counted. Refusals have no remedy.
            unsafe {
                match request {
                    Request::MarkDirty => {
                        self.marking.iter().for_each(|host| _ = host.setDirty(1));
                    }
                    Request::ReadValues => {
                        let flags = RestartFlags_::kParamValuesChanged as int32;
                        self.handler.restartComponent(flags);
                    }
                    Request::Resize(size) => self.link.answer_resize(self.views.resize(size)),
                    Request::Menu(place) => {
                        if !self.pop_up(place) {
                            self.link.set_menu(Some(Menu { place, items: vec![] }));
                        }
                    }
                    // Not requested in VST3: the host shows its menu itself, and performs the entries.
                    Request::Perform { .. } => {}
                }
            }
        }
    }
}

impl Requests {
    /// Shows the host's menu of a parameter, with the editor's entries. Returns false if the host shows none, or has no timer.
    ///
    /// # Safety
    /// Must be called on the host's main thread.
    unsafe fn pop_up(&self, place: Place) -> bool {
        let number = self.ids.iter().find_map(|(id, number)| (id == place.id).then_some(*number));
        // Without a timer, this may not be the host's main thread, where alone a menu may be opened.
        let has_timer = self.views.calls.has_timer.load(Ordering::Relaxed);
        let (Some(number), Some(menus)) = (number, self.menus.as_ref().filter(|_| has_timer))
        else {
            return false;
        };
        let target = ComWrapper::new(Target { link: self.link.clone(), id: place.id });
        let Some(target) = target.to_com_ptr::<IContextMenuTarget>() else { return false };
        // SAFETY: guaranteed by the caller; the host counts menu and target, and zeros are an empty name.
        unsafe {
            let menu = menus.createContextMenu(self.views.shown(), &number);
            let Some(menu) = ComPtr::from_raw(menu) else { return false };
            for (tag, name) in place.own.iter().enumerate() {
                let mut item: IContextMenuItem = mem::zeroed();
                super::fill(&mut item.name, name);
                item.tag = tag as int32;
                menu.addItem(&item, target.as_ptr());
            }
            let [x, y] = place.at_pixel;
            menu.popup(x, y) == kResultOk
        }
    }
}

/// Receiver of the user's choice among the editor's entries in the host's menu.
struct Target {
    link: HostLink,
    id: &'static str,
}

impl Class for Target {
    type Interfaces = (IContextMenuTarget,);
}

impl IContextMenuTargetTrait for Target {
    unsafe fn executeMenuItem(&self, tag: int32) -> tresult {
        let Ok(index) = usize::try_from(tag) else { return kResultFalse };
        self.link.choose(self.id, index);
        kResultOk
    }
}
