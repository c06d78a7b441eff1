//! Deserializes a JSON body into a form. An error names the wrong field and the expected value.
//!
//! A form is an object; plain serde would also accept an array, by position. `null` counts as an absent
//! field, because pages send `null` for fields left empty. In the original profile, fields are read as
//! [`JacksonValue`].

use serde::de::value::StringDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer as _, MapAccess, Visitor};
use serde_json::Value;

use super::coerced::JacksonValue;
use crate::http::response::bad_request::BadRequest;
use crate::http::response::caller::Caller;
use crate::language::{Bilingual, both};

/// Reads the fields of the object in `body` into a struct.
///
/// # Errors
/// [`BadRequest`]: the wrong field and the expected value.
pub(in crate::http) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, BadRequest> {
    if body.trim_ascii().is_empty() {
        return Err(BadRequest::EmptyBody);
    }
    let value = serde_json::from_slice(body).map_err(BadRequest::NotJson)?;
    match value {
        Value::Object(fields) => T::deserialize(Fields { rest: fields.into_iter(), value: None }),
        other => Err(BadRequest::NotAnObject(kind(&other))),
    }
}

fn kind(value: &Value) -> Bilingual {
    match value {
        Value::Null => both("空值", "null"),
        Value::Bool(_) => both("布尔值", "true or false"),
        Value::Number(_) => both("数字", "a number"),
        Value::String(_) => both("文本", "text"),
        Value::Array(_) => both("列表", "a list"),
        Value::Object(_) => both("对象", "an object"),
    }
}

/// The remaining fields, and the value of the key returned last.
struct Fields {
    rest: serde_json::map::IntoIter,
    value: Option<(String, Value)>,
}

impl<'de> de::Deserializer<'de> for Fields {
    type Error = BadRequest;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadRequest> {
        visitor.visit_map(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Fields {
    type Error = BadRequest;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadRequest> {
        let Some((name, value)) = self.rest.find(|(_, value)| !value.is_null()) else { return Ok(None) };
        let key: StringDeserializer<BadRequest> = name.clone().into_deserializer();
        self.value = Some((name, value));
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, BadRequest> {
        let (name, value) = self.value.take().unwrap_or_default();
        let read = if Caller::is_original() {
            seed.deserialize(JacksonValue(value))
        } else {
            seed.deserialize(value)
        };
        read.map_err(|error| BadRequest::in_field(&name, &error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, PartialEq, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Form {
        title: String,
        shop_id: Option<u64>,
        stock: Option<i64>,
        x: Option<f64>,
        gender: Option<bool>,
    }

    #[test]
    fn a_form_is_read_and_null_is_absent() {
        let form: Form =
            read(br#" {"title":"a","shopId":1,"stock":-1,"x":1,"other":[1],"gender":true} "#).unwrap();
        let want =
            Form { title: "a".into(), shop_id: Some(1), stock: Some(-1), x: Some(1.0), gender: Some(true) };
        assert_eq!(form, want);
        assert_eq!(read::<Form>(br#"{"title":null,"shopId":null}"#).unwrap(), Form::default());
    }

    #[test]
    fn what_is_wrong_is_named_in_words() {
        let whole = "a whole number from 0 to 18446744073709551615";
        for (body, want) in [
            ("", "the body is empty: expected a JSON object".to_owned()),
            (" \n", "the body is empty: expected a JSON object".to_owned()),
            ("[]", "the body: expected a JSON object, not a list".to_owned()),
            (r#"["a",1]"#, "the body: expected a JSON object, not a list".to_owned()),
            ("null", "the body: expected a JSON object, not null".to_owned()),
            (r#"{"title":5}"#, "title: expected text, not integer `5`".to_owned()),
            (r#"{"shopId":"1"}"#, format!("shopId: expected {whole}, not string \"1\"")),
            (r#"{"shopId":-1}"#, format!("shopId: expected {whole}, not integer `-1`")),
            (r#"{"stock":1.5}"#, "stock: expected a whole number, not floating point `1.5`".to_owned()),
            (r#"{"x":"east"}"#, "x: expected a number, not string \"east\"".to_owned()),
            (r#"{"gender":1}"#, "gender: expected true or false, not integer `1`".to_owned()),
        ] {
            assert_eq!(read::<Form>(body.as_bytes()).unwrap_err().to_string(), want, "{body}");
        }
        for body in [&b"{"[..], b"\xff", br#"{"title":"\xff"}"#, "[".repeat(100_000).as_bytes()] {
            assert!(read::<Form>(body).unwrap_err().to_string().starts_with("invalid JSON: "));
        }
    }
}
