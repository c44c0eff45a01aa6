//! Attributes of objects in Python.

/// The methods of a class: getters for attributes of an object `it`, and others.
macro_rules! attributes {
    ($class:ident, $it:ident, { $(let $name:ident: $kind:ty = $value:expr;)* }, { $($more:tt)* }) => {
        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $name(&self) -> $kind {
                    let $it = self;
                    $value
                }
            )*

            $($more)*
        }
    };
}
pub(super) use attributes;
