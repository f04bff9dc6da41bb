//! Types with a form in JSON. Each is written and read from one list of its fields, so that the two
//! directions cannot differ.

use super::{Json, ReadError};

/// A type with a form in JSON.
pub(crate) trait Data: Sized {
    /// Returns the value as JSON.
    fn to_json(&self) -> Json;

    /// Reads the value from JSON.
    fn from_json(json: &Json) -> Result<Self, ReadError>;
}

impl Json {
    /// Reads the field of an object; a missing one reads like `null`.
    pub(crate) fn field<T: Data>(&self, name: &str) -> Result<T, ReadError> {
        let Json::Object(_) = self else { return Err(expected("an object")) };
        T::from_json(self.get(name).unwrap_or(&Json::Null)).map_err(|error| error.within(name))
    }

    /// Returns an object with the field `kind`, which determines its other fields.
    pub(crate) fn of_kind(kind: impl Into<String>, mut fields: Vec<(&'static str, Json)>) -> Json {
        fields.insert(0, ("kind", Json::text(kind)));
        Json::object(fields)
    }
}

pub(crate) fn expected(what: &'static str) -> ReadError {
    ReadError::Value { path: String::new(), expected: what }
}

/// Implements [`Data`] for structs: an object with a field for each field.
macro_rules! object {
    ($($type:ident { $($field:ident $(: $name:literal)?),* $(,)? })*) => { $(
        impl $crate::json::Data for $type {
            fn to_json(&self) -> $crate::Json {
                let $type { $($field),* } = self;
                $crate::Json::object(vec![$(
                    ($crate::json::object!(@name $field $($name)?), $field.to_json())
                ),*])
            }

            fn from_json(json: &$crate::Json) -> Result<$type, $crate::ReadError> {
                Ok($type { $($field: json.field($crate::json::object!(@name $field $($name)?))?),* })
            }
        }
    )* };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
}

/// Implements [`Data`] for enums: an object whose `kind` names the variant, with a field for each field.
macro_rules! variants {
    ($($type:ident {
        $($kind:literal = $variant:ident $(($value:ident))? $({ $($field:ident),* $(,)? })?),* $(,)?
    })*) => { $(
        impl $crate::json::Data for $type {
            fn to_json(&self) -> $crate::Json {
                match self {
                    $($type::$variant $(($value))? $({ $($field),* })? => $crate::Json::of_kind(
                        $kind,
                        vec![
                            $((stringify!($value), $value.to_json()))?
                            $($((stringify!($field), $field.to_json())),*)?
                        ],
                    )),*
                }
            }

            fn from_json(json: &$crate::Json) -> Result<$type, $crate::ReadError> {
                match &json.field::<String>("kind")?[..] {
                    $($kind => Ok($type::$variant
                        $((json.field(stringify!($value))?))?
                        $({ $($field: json.field(stringify!($field))?),* })?
                    ),)*
                    _ => Err($crate::json::unknown("kind")),
                }
            }
        }
    )* };
}

/// Implements [`Data`] for enums without fields: a string.
macro_rules! words {
    ($($type:ident { $($word:literal = $variant:ident),* $(,)? })*) => { $(
        impl $crate::json::Data for $type {
            fn to_json(&self) -> $crate::Json {
                $crate::Json::text(match self {
                    $($type::$variant => $word),*
                })
            }

            fn from_json(json: &$crate::Json) -> Result<$type, $crate::ReadError> {
                match json.as_text() {
                    $(Some($word) => Ok($type::$variant),)*
                    _ => Err($crate::json::expected("a known word")),
                }
            }
        }
    )* };
}

pub(crate) use {object, variants, words};

/// Returns the error for a field with an unknown word.
pub(crate) fn unknown(field: &str) -> ReadError {
    expected("a known word").within(field)
}

impl Data for bool {
    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }

    fn from_json(json: &Json) -> Result<bool, ReadError> {
        if let Json::Bool(value) = json { Ok(*value) } else { Err(expected("true or false")) }
    }
}

impl Data for u64 {
    fn to_json(&self) -> Json {
        Json::Number(*self)
    }

    fn from_json(json: &Json) -> Result<u64, ReadError> {
        if let Json::Number(value) = json { Ok(*value) } else { Err(expected("a whole number")) }
    }
}

impl Data for u32 {
    fn to_json(&self) -> Json {
        Json::Number(u64::from(*self))
    }

    fn from_json(json: &Json) -> Result<u32, ReadError> {
        u32::try_from(u64::from_json(json)?).map_err(|_| expected("a number below 2^32"))
    }
}

impl Data for f64 {
    fn to_json(&self) -> Json {
        Json::Fraction(*self)
    }

    /// JSON has no infinity: `null` stands for it.
    fn from_json(json: &Json) -> Result<f64, ReadError> {
        match json {
            Json::Fraction(value) => Ok(*value),
            Json::Number(value) => Ok(*value as f64),
            Json::Null => Ok(f64::INFINITY),
            Json::Bool(_) | Json::Text(_) | Json::List(_) | Json::Object(_) => {
                Err(expected("a number"))
            }
        }
    }
}

impl Data for String {
    fn to_json(&self) -> Json {
        Json::text(self)
    }

    fn from_json(json: &Json) -> Result<String, ReadError> {
        json.as_text().map(str::to_owned).ok_or(expected("a string"))
    }
}

impl<T: Data> Data for Option<T> {
    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::to_json)
    }

    fn from_json(json: &Json) -> Result<Option<T>, ReadError> {
        if *json == Json::Null { Ok(None) } else { T::from_json(json).map(Some) }
    }
}

impl<T: Data> Data for Vec<T> {
    fn to_json(&self) -> Json {
        Json::List(self.iter().map(T::to_json).collect())
    }

    fn from_json(json: &Json) -> Result<Vec<T>, ReadError> {
        let Json::List(items) = json else { return Err(expected("a list")) };
        let item = |(at, item): (usize, &Json)| {
            T::from_json(item).map_err(|error| error.within(&at.to_string()))
        };
        items.iter().enumerate().map(item).collect()
    }
}

impl<T: Data + Copy, const N: usize> Data for [T; N] {
    fn to_json(&self) -> Json {
        self.to_vec().to_json()
    }

    fn from_json(json: &Json) -> Result<[T; N], ReadError> {
        Vec::from_json(json)?.try_into().map_err(|_| expected("a list of another length"))
    }
}
