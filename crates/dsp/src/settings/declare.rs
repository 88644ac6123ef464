//! The macro `settings!`, which generates structs and tables from the declared settings.

/// Expands to the second value if there is one, else to the first.
macro_rules! last {
    ($reference:expr) => {
        $reference
    };
    ($reference:expr, $default:expr) => {
        $default
    };
}

/// Generates the structs from a list of fields, each preceded by the name of its struct.
macro_rules! structs {
    ([$($sound:tt)*] [$($routing:tt)*] settings $field:tt $($rest:tt)*) => {
        structs! { [$($sound)* $field] [$($routing)*] $($rest)* }
    };
    ([$($sound:tt)*] [$($routing:tt)*] routing $field:tt $($rest:tt)*) => {
        structs! { [$($sound)*] [$($routing)* $field] $($rest)* }
    };
    (
        [$({ $(#[$doc:meta])* $field:ident: $type:ty = $reference:expr, $default:expr })*]
        [$({ $(#[$other_doc:meta])* $other:ident: $other_type:ty = $other_value:expr, $_:expr })*]
    ) => {
        /// Settings of the sound; the connections are in [`Routing`]. `Default` is the sound of a new instance,
        /// [`Settings::REFERENCE`] the sound of the published filter.
        ///
        /// The crate `tone-filter-presets` reads and writes them in JSON and other formats.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Settings {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Settings {
            /// Sound of the published filter at any sample rate, without auto level and focus. `docs/dsp.md` derives the numbers.
            pub const REFERENCE: Self = Self { $($field: $reference,)* };
        }

        impl Default for Settings {
            /// Returns the sound of a new instance.
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        /// Connections of a filter. No preset changes them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Routing {
            $($(#[$other_doc])* pub $other: $other_type,)*
        }

        impl Default for Routing {
            fn default() -> Self {
                Self { $($other: $other_value,)* }
            }
        }
    };
}

/// Generates `Settings`, `Routing` and a table for each kind of setting. A missing default equals the reference.
macro_rules! settings {
    (
        numbers {$(
            $(#[$number_doc:meta])*
            $number:ident {
                name: $number_name:literal, range: $min:literal..=$max:literal, unit: $unit:literal,
                decimals: $decimals:literal, taper: $taper:ident, group: $number_group:ident $number_place:literal,
                $(random: $number_random:literal,)?
                reference: $number_reference:expr, $(default: $number_default:expr,)?
                help: $number_help:literal
            }
        )*}
        choices {$(
            $(#[$choice_doc:meta])*
            $scope:ident $choice:ident: $choice_type:ty {
                id: $choice_id:literal, name: $choice_name:literal, group: $choice_group:ident $choice_place:literal,
                $(random: $choice_random:literal,)?
                reference: $choice_reference:expr, $(default: $choice_default:expr,)?
                help: $choice_help:literal
            }
        )*}
        texts {$(
            $(#[$text_doc:meta])*
            $text:ident: $text_type:ty { name: $text_name:literal, before: $before:literal, reference: $text_reference:expr, help: $text_help:literal }
        )*}
    ) => {
        structs! { [] []
            $(settings {
                $(#[$number_doc])*
                #[doc = concat!("\n\nFrom ", stringify!($min), " to ", stringify!($max), " ", $unit, ".")]
                $number: f32 = $number_reference, last!($number_reference $(, $number_default)?)
            })*
            $($scope {
                $(#[$choice_doc])*
                $choice: $choice_type = $choice_reference, last!($choice_reference $(, $choice_default)?)
            })*
            $(settings { $(#[$text_doc])* $text: $text_type = $text_reference, $text_reference })*
        }

        /// The settings that are numbers.
        pub static SPECS: [Spec; [$(stringify!($number)),*].len()] = [$(
            Spec {
                id: stringify!($number), name: $number_name, min: $min, max: $max, unit: $unit, decimals: $decimals,
                taper: Taper::$taper, group: Group::$number_group, place: $number_place, help: $number_help,
                random: last!(false $(, $number_random)?),
                field: |settings| &mut settings.$number,
            }
        ),*];

        /// The settings that are a choice from a list.
        pub static CHOICES: [Choice; [$($choice_id),*].len()] = [$(
            Choice {
                id: $choice_id, name: $choice_name, entries: <$choice_type as Listed>::ENTRIES,
                group: Group::$choice_group, place: $choice_place, help: $choice_help,
                random: last!(false $(, $choice_random)?),
                routing: matches!(stringify!($scope).as_bytes(), b"routing"),
                get: |controls| controls.$scope.$choice.index(),
                set: |controls, index| controls.$scope.$choice = Listed::at(index),
            }
        ),*];

        /// The settings that are a text.
        pub static TEXTS: [Text; [$(stringify!($text)),*].len()] = [$(
            Text {
                id: stringify!($text), name: $text_name, help: $text_help, before: $before, of: <$text_type as TextValue>::OF,
                get: |settings| settings.$text.to_string(),
                set: |settings, text| text.parse().map(|value| settings.$text = value).map_err(|error: BadText| error.to_string()),
                bits: |settings| TextValue::to_bits(settings.$text),
                set_bits: |settings, bits| settings.$text = TextValue::from_bits(bits),
            }
        ),*];
    };
}
