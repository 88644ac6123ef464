//! Python attributes of a filter, one for each setting.

use crate::{filter::ToneFilter, settings::Keyword};
use pyo3::{
    prelude::*,
    types::{PyCFunction, PyDict, PyTuple, PyType},
};

/// Adds an attribute for each setting to `class`, which must be the class of [`ToneFilter`].
pub fn add_attributes(class: &Bound<PyType>) -> PyResult<()> {
    let py = class.py();
    let property = py.import("builtins")?.getattr("property")?;
    for setting in Keyword::all() {
        let get = move |args: &Bound<PyTuple>, _: Option<&Bound<PyDict>>| {
            let (filter,) = args.extract::<(Bound<ToneFilter>,)>()?;
            let controls = filter.get().controls(args.py());
            Ok::<_, PyErr>(setting.get(&controls, args.py())?.unbind())
        };
        let set = move |args: &Bound<PyTuple>, _: Option<&Bound<PyDict>>| {
            let (filter, value) = args.extract::<(Bound<ToneFilter>, Bound<PyAny>)>()?;
            filter.get().change(args.py(), |controls| setting.set(controls, &value))
        };
        let get = PyCFunction::new_closure(py, None, None, get)?;
        let set = PyCFunction::new_closure(py, None, None, set)?;
        class.setattr(setting.name(), property.call1((get, set, py.None(), setting.doc(py)?))?)?;
    }
    Ok(())
}
