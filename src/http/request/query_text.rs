//! Deserializes a query string in the syntax of the pages.
//!
//! Pages start the query with `&`, send empty values (`?typeId=&current=1`), and leave Chinese unescaped. An
//! empty value counts as absent for an optional parameter, and as empty text for a text.

use std::borrow::Cow;

use serde::de::value::CowStrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, Visitor};

use crate::http::response::bad_request::{BadRequest, Expected};
use crate::http::response::caller::Caller;

/// Reads the parameters of `query` into a struct.
///
/// # Errors
/// [`BadRequest`]: the wrong parameter and the expected value.
pub(in crate::http) fn read<T: DeserializeOwned>(query: &str) -> Result<T, BadRequest> {
    T::deserialize(Pairs { rest: query, value: None })
}

/// The remaining query, and the value of the key returned last.
struct Pairs<'a> {
    rest: &'a str,
    value: Option<(Cow<'a, str>, &'a str)>,
}

impl<'de> de::Deserializer<'de> for Pairs<'de> {
    type Error = BadRequest;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadRequest> {
        visitor.visit_map(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = BadRequest;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadRequest> {
        while !self.rest.is_empty() {
            let (pair, rest) = self.rest.split_once('&').unwrap_or((self.rest, ""));
            self.rest = rest;
            if pair.is_empty() {
                continue;
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = unescaped(name);
            self.value = Some((name.clone(), value));
            return seed.deserialize(CowStrDeserializer::new(name)).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, BadRequest> {
        let (name, value) = self.value.take().unwrap_or_default();
        seed.deserialize(Value(unescaped(value))).map_err(|wrong| wrong.of(&name))
    }
}

/// One value, not yet parsed.
struct Value<'a>(Cow<'a, str>);

impl<'de> IntoDeserializer<'de, BadRequest> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident $type:ident;)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadRequest> {
            let text = self.0.trim();
            match text.parse::<$type>() {
                Ok(number) => visitor.$visit(number),
                // A page below 1 is the first page, and no object has an id below 1, as in hm-dianping.
                Err(_) if Caller::is_original() && is_negative(text) => visitor.$visit(<$type>::default()),
                Err(_) => Err(BadRequest::value(Expected::of(stringify!($type)))),
            }
        }
    )+};
}

impl<'de> de::Deserializer<'de> for Value<'de> {
    type Error = BadRequest;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadRequest> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    numbers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadRequest> {
        match truth(self.0.trim()) {
            Some(is) => visitor.visit_bool(is),
            None => Err(BadRequest::value(Expected::TrueOrFalse)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadRequest> {
        if self.0.is_empty() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, BadRequest> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadRequest> {
        visitor.visit_enum(Word(self.0))
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

/// Returns whether the text is a whole number below 0.
fn is_negative(text: &str) -> bool {
    text.parse().is_ok_and(|number: i64| number < 0)
}

/// Parses a boolean; the original profile accepts all of Spring's words.
pub(in crate::http) fn truth(text: &str) -> Option<bool> {
    /// Pairs of true and false, case-insensitive.
    const SPRINGS: [(&str, &str); 4] = [("true", "false"), ("on", "off"), ("yes", "no"), ("1", "0")];
    if !Caller::is_original() {
        return match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
    }
    let is = |word: &str| word.eq_ignore_ascii_case(text);
    SPRINGS.iter().find_map(|(yes, no)| if is(yes) { Some(true) } else { is(no).then_some(false) })
}

/// A value from a list of words.
struct Word<'a>(Cow<'a, str>);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = BadRequest;
    type Variant = OnlyAWord;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, OnlyAWord), BadRequest> {
        Ok((seed.deserialize(CowStrDeserializer::new(self.0))?, OnlyAWord))
    }
}

/// A unit variant: no content follows the word.
struct OnlyAWord;

impl<'de> de::VariantAccess<'de> for OnlyAWord {
    type Error = BadRequest;

    fn unit_variant(self) -> Result<(), BadRequest> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, BadRequest> {
        Err(BadRequest::value(Expected::Text))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, BadRequest> {
        Err(BadRequest::value(Expected::Text))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, BadRequest> {
        Err(BadRequest::value(Expected::Text))
    }
}

/// Decodes a query value: `+` is a space, the rest as in a path.
fn unescaped(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        Cow::Owned(path_text(&text.replace('+', " ")).into_owned())
    } else {
        path_text(text)
    }
}

/// Decodes percent-escapes: `%E7` is a byte. Invalid UTF-8 becomes replacement characters, and a `%` without
/// two hexadecimal digits stays.
pub(in crate::http) fn path_text(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'%', [high, low, beyond @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(digit(*high) << 4 | digit(*low));
                rest = beyond;
            }
            _ => bytes.push(first),
        }
    }
    Cow::Owned(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

fn digit(hex: u8) -> u8 {
    match hex {
        b'0'..=b'9' => hex - b'0',
        _ => (hex | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, PartialEq, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Asked {
        type_id: Option<u64>,
        current: Option<u32>,
        x: Option<f64>,
        name: String,
        sort_by: Option<Sort>,
        up: bool,
    }

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(rename_all = "lowercase")]
    enum Sort {
        Comments,
        Score,
    }

    #[test]
    fn what_pages_write_is_understood() {
        let asked: Asked = read("&typeId=1&current=2").unwrap();
        assert_eq!(asked, Asked { type_id: Some(1), current: Some(2), ..Asked::default() });
        let asked: Asked = read("typeId=&x=120.149993&&name=&sortBy=").unwrap();
        assert_eq!(asked, Asked { x: Some(120.149_993), ..Asked::default() });
        let asked: Asked = read("name=%E8%8C%B6+a%2Bb&sortBy=score&up=true&other=1").unwrap();
        let want = Asked { name: "茶 a+b".into(), sort_by: Some(Sort::Score), up: true, ..Asked::default() };
        assert_eq!(asked, want);
        let asked: Asked = read("name=茶&current").unwrap();
        assert_eq!(asked.name, "茶");
    }

    #[test]
    fn a_wrong_value_is_named() {
        for (query, want) in [
            ("typeId=x", "typeId: expected a whole number from 0 to 18446744073709551615"),
            ("current=-1", "current: expected a whole number from 0 to 4294967295"),
            ("current=99999999999", "current: expected a whole number from 0 to 4294967295"),
            ("x=east", "x: expected a number"),
            ("up=maybe", "up: expected true or false"),
        ] {
            assert_eq!(read::<Asked>(query).unwrap_err().to_string(), want);
        }
        assert_eq!(
            read::<Asked>("sortBy=price").unwrap_err().to_string(),
            "sortBy: expected one of `comments`, `score`, not `price`"
        );
        assert!(read::<Asked>("up=1&up=0").unwrap_err().to_string().contains("duplicate"));
    }

    #[test]
    fn a_stray_percent_and_broken_utf8_are_kept_readable() {
        assert_eq!(read::<Asked>("name=100%").unwrap().name, "100%");
        assert_eq!(read::<Asked>("name=%zz%4").unwrap().name, "%zz%4");
        assert_eq!(read::<Asked>("name=%ff").unwrap().name, "\u{fffd}");
    }
}
