//! Reads JSON values as Jackson does for Spring: hm-dianping accepts text for numbers and numbers for text.

use serde::de::{self, Visitor};
use serde_json::{Error, Number, Value};

/// A value converted to the requested type where Jackson would convert it.
pub(in crate::http) struct JacksonValue(pub(in crate::http) Value);

impl JacksonValue {
    /// Converts to a whole number: parses text, truncates fractions, and raises values below `least` to
    /// `least`.
    fn whole(self, least: i64) -> Value {
        let number = match self.number() {
            Value::Number(number) => number,
            other => return other,
        };
        // A float of 9e15 or more is no id and stays unchanged.
        #[expect(clippy::cast_possible_truncation, reason = "only what fits is taken")]
        let whole = number.as_i64().or_else(|| {
            number.as_f64().filter(|float| number.is_f64() && float.abs() < 9e15).map(|float| float as i64)
        });
        match whole {
            Some(whole) => Value::from(whole.max(least)),
            None => Value::Number(number),
        }
    }

    /// Converts to a number; parses text.
    fn number(self) -> Value {
        let Value::String(text) = &self.0 else { return self.0 };
        let trimmed = text.trim();
        let number = trimmed
            .parse()
            .map(|whole: i64| Number::from(whole))
            .or_else(|_| trimmed.parse().map(|whole: u64| Number::from(whole)))
            .ok()
            .or_else(|| trimmed.parse().ok().and_then(Number::from_f64));
        number.map_or(self.0, Value::Number)
    }

    fn text(self) -> Value {
        match self.0 {
            Value::Number(number) => Value::String(number.to_string()),
            Value::Bool(is) => Value::String(is.to_string()),
            other => other,
        }
    }

    fn truth(self) -> Value {
        match &self.0 {
            Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Value::Bool(true),
            Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Value::Bool(false),
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                Value::Bool(number.as_i64() != Some(0))
            }
            _ => self.0,
        }
    }
}

macro_rules! coerced {
    ($($method:ident by $read:ident($($argument:expr)?);)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$read($($argument)?).$method(visitor)
        }
    )+};
}

impl<'de> de::Deserializer<'de> for JacksonValue {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    coerced! {
        deserialize_i8 by whole(i64::MIN);
        deserialize_i16 by whole(i64::MIN);
        deserialize_i32 by whole(i64::MIN);
        deserialize_i64 by whole(i64::MIN);
        deserialize_u8 by whole(0);
        deserialize_u16 by whole(0);
        deserialize_u32 by whole(0);
        deserialize_u64 by whole(0);
        deserialize_f32 by number();
        deserialize_f64 by number();
        deserialize_str by text();
        deserialize_string by text();
        deserialize_bool by truth();
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, PartialEq, Debug)]
    struct Id(u64);

    fn read<T: for<'de> Deserialize<'de>>(value: Value) -> Option<T> {
        T::deserialize(JacksonValue(value)).ok()
    }

    #[test]
    fn text_is_taken_for_numbers_and_numbers_for_text() {
        assert_eq!(read(json!("7")), Some(7_u64));
        assert_eq!(read(json!(" -7 ")), Some(-7_i64));
        assert_eq!(read(json!(7.9)), Some(7_u32));
        assert_eq!(read(json!(-1)), Some(0_u64));
        assert_eq!(read(json!("120.5")), Some(120.5));
        assert_eq!(read(json!(13_900_000_077_u64)), Some("13900000077".to_owned()));
        assert_eq!(read(json!(u64::MAX)), Some(u64::MAX));
        assert_eq!(read(json!("7")), Some(Some(Id(7))));
        assert_eq!(read(json!(1)), Some(true));
        assert_eq!(read(json!("False")), Some(false));
    }

    #[test]
    fn what_is_no_number_is_still_none() {
        assert_eq!(read::<u64>(json!("seven")), None);
        assert_eq!(read::<u64>(json!("")), None);
        assert_eq!(read::<u8>(json!("300")), None);
        assert_eq!(read::<u64>(json!([7])), None);
        assert_eq!(read::<String>(json!({"a": 1})), None);
        assert_eq!(read::<bool>(json!("maybe")), None);
    }
}
