use super::*;
use crate::{
    Job, Place, Request, construction,
    test_plugin::{CHANGED, TestPlugin},
};
use std::{cell::Cell, ptr, rc::Rc, sync::mpsc, time::Duration};
use tone_filter_testkit::vst3::Host;

fn shim() -> Vst3Shim {
    shim_in(None)
}

/// Creates the plugin like a factory whose host context is `context`.
fn shim_in(context: Option<ComPtr<FUnknown>>) -> Vst3Shim {
    let wrapper = ComWrapper::new(Wrapper::<TestPlugin>::new());
    Vst3Shim::new(&wrapper, construction::take().unwrap(), context).unwrap()
}

fn connect(shim: &impl IEditControllerTrait, handler: Option<ComPtr<IComponentHandler>>) {
    // SAFETY: the test's host outlives the shim.
    let result = unsafe { shim.setComponentHandler(handler.unwrap().as_ptr()) };
    assert_eq!(result, kResultOk);
}

#[test]
fn a_run_loop_is_used_wherever_the_host_offers_it() {
    let host = ComWrapper::new(Host::<true>::default());
    let (context, none) = (host.to_com_ptr::<FUnknown>().unwrap(), ptr::null_mut());
    let handler = host.to_com_ptr::<IComponentHandler>().unwrap();
    // SAFETY: host and context are reference-counted.
    unsafe {
        let in_factory = shim_in(Some(context.clone()));
        assert_eq!((in_factory.initialize(none), host.timers()), (kResultOk, 1));
        assert_eq!((in_factory.terminate(), host.timers()), (kResultOk, 0));

        let in_context = shim();
        assert_eq!((in_context.initialize(context.as_ptr()), host.timers()), (kResultOk, 1));
        assert_eq!(in_context.setComponentHandler(handler.as_ptr()), kResultOk);
        assert_eq!(host.timers(), 1, "once");

        // This host releases the plugin without terminating it.
        drop(in_context);
        assert_eq!(host.timers(), 0);
    }
}

#[test]
fn a_terminated_plugin_does_not_restart() {
    let shim = shim();
    let host = ComWrapper::new(Host::<false>::default());
    connect(&shim, host.to_com_ptr());
    // The last buffer requests a restart, and nice-plug's thread serves the request too late.
    shim.calls.request(HostCall::Restart);
    // SAFETY: this is the main thread.
    assert_eq!(unsafe { shim.terminate() }, kResultOk);
    shim.calls.run();
    assert_eq!(host.restarts(), 0);
}

#[test]
fn an_unchanged_value_does_not_hide_edits() {
    let shim = shim();
    let params = shim.instance.params();
    let (_, id) = shim.ids[0];
    // SAFETY: the arguments are plain values, and `params` owns the parameter.
    unsafe {
        assert_eq!(shim.setProcessing(1), kResultOk);
        assert_eq!(shim.setParamNormalized(id, 0.0), kResultOk);
        params.param_map()[0].1._internal_set_normalized_value(0.5);
        assert_eq!(shim.getParamNormalized(id), 0.5);
    }
}

#[test]
fn a_changed_state_is_reported_on_the_hosts_thread() {
    let shim = shim();
    assert!(!shim.instance.link().request(Request::MarkDirty), "there is no host yet");
    let handler = ComWrapper::new(Host::<true>::default());
    connect(&shim, handler.to_com_ptr());
    // Requests come from the window's own thread.
    let link = shim.instance.link().clone();
    let edits = move || (0..2).all(|_| link.request(Request::MarkDirty));
    assert!(thread::spawn(edits).join().unwrap());
    assert!(handler.dirty().is_empty(), "not on the window's thread");
    handler.idle();
    handler.idle();
    assert_eq!(handler.dirty(), [thread::current().id()], "once");
    // SAFETY: a host passes null at the end.
    assert_eq!(unsafe { shim.setComponentHandler(std::ptr::null_mut()) }, kResultOk);
    assert!(!shim.instance.link().request(Request::MarkDirty));
}

/// Runs `test` on a thread of its own. Fails if `test` panics or takes more than 30 s, as when a lock is held while the host is
/// called.
fn returns(test: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        test();
        sender.send(()).unwrap();
    });
    receiver.recv_timeout(Duration::from_secs(30)).expect("it panics or waits for ever");
}

#[test]
fn a_host_may_call_back_in_its_own_calls() {
    returns(|| {
        let shim = ComWrapper::new(shim()).to_com_ptr::<IEditController>().unwrap();
        let own = shim.clone();
        let depth = Cell::new(0);
        // SAFETY: a host passes null at the end.
        let call_back = move || unsafe {
            if depth.replace(depth.get() + 1) == 0 {
                assert_eq!(own.setComponentHandler(ptr::null_mut()), kResultOk);
            }
            depth.set(depth.get() - 1);
        };
        let handler = ComWrapper::new(Host::<true>::calling_back(call_back));
        connect(&shim, handler.to_com_ptr());
    });
}

#[test]
fn a_host_may_disconnect_during_a_request() {
    returns(|| {
        let shim = ComWrapper::new(shim());
        let own = shim.to_com_ptr::<IEditController>().unwrap();
        // SAFETY: a host passes null at the end.
        let disconnect =
            move || assert_eq!(unsafe { own.setComponentHandler(ptr::null_mut()) }, kResultOk);
        let handler = ComWrapper::new(Host::<true>::calling_back(disconnect));
        connect(&*shim, handler.to_com_ptr());
        assert!(shim.instance.link().request(Request::MarkDirty));
        assert_eq!(handler.dirty(), [thread::current().id()]);
        assert!(!shim.instance.link().request(Request::MarkDirty));
    });
}

#[test]
fn a_parameter_may_be_read_and_set_while_it_changes() {
    returns(|| {
        let shim = ComWrapper::new(shim());
        let own = shim.to_com_ptr::<IEditController>().unwrap();
        let (_, id) = shim.ids[0];
        let (controller, depth) = (own.clone(), Cell::new(0));
        // SAFETY: the arguments are plain values.
        let changed = move || unsafe {
            if depth.replace(depth.get() + 1) == 0 {
                controller.getParamNormalized(id);
                assert_eq!(controller.setParamNormalized(id, 0.5), kResultOk);
            }
            depth.set(depth.get() - 1);
        };
        CHANGED.set(Some(Rc::new(changed)));
        // SAFETY: as above.
        unsafe {
            assert_eq!(own.setParamNormalized(id, 0.25), kResultOk);
            assert_eq!(own.getParamNormalized(id), 0.5);
        }
    });
}

#[test]
fn the_host_s_menu_has_the_editor_s_entries() {
    let shim = shim();
    let host = ComWrapper::new(Host::<true>::default());
    connect(&shim, host.to_com_ptr());
    let own = &["Reset", "Enter value"];
    let place = Place { id: "value", at: [1.0, 2.0], at_pixel: [3, 4], own };
    let link = shim.instance.link();
    assert!(link.request(Request::Menu(place)));
    assert_eq!(host.menu(), None, "not on the window's thread");
    host.idle();
    assert_eq!(host.menu(), Some((shim.ids[0].1, [3, 4], own.map(str::to_owned).to_vec())));
    host.choose("Enter value");
    assert_eq!(link.take_chosen(), [("value", 1)]);
    // SAFETY: as above.
    assert_eq!(unsafe { shim.terminate() }, kResultOk);
}
