//! JSON schemas of requests and responses.

use std::mem;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// Generates the schemas of types, and collects the named schemas. One type may have two schemas: a field may
/// be optional in requests and required in responses.
pub struct Schemas {
    read: SchemaGenerator,
    written: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let mut settings = SchemaSettings::draft2020_12();
        settings.definitions_path = "/components/schemas".into();
        Self {
            read: settings.clone().for_deserialize().into_generator(),
            written: settings.for_serialize().into_generator(),
        }
    }
}

impl Schemas {
    /// Returns the schema of a request type, by reference if named.
    pub fn read<T: JsonSchema>(&mut self) -> Value {
        finished(self.read.subschema_for::<T>().to_value())
    }

    /// Returns the schema of a request type, inlined.
    pub fn read_in_place<T: JsonSchema>(&mut self) -> Value {
        finished(T::json_schema(&mut self.read).to_value())
    }

    /// Returns the schema of a response type, by reference if named.
    pub fn written<T: JsonSchema>(&mut self) -> Value {
        let mut schema = finished(self.written.subschema_for::<T>().to_value());
        strip_null(&mut schema);
        schema
    }

    /// Returns the named schemas.
    pub(super) fn into_named(mut self) -> Map<String, Value> {
        let read = self.read.take_definitions(true).into_iter().map(|(name, mut schema)| {
            allow_null(&mut schema);
            (name, schema)
        });
        let written = self.written.take_definitions(true).into_iter().map(|(name, mut schema)| {
            strip_null(&mut schema);
            (name, schema)
        });
        read.chain(written).map(|(name, schema)| (name, finished(schema))).collect()
    }
}

/// Adds the maximum of unsigned integers, which schemars only implies by the name of the format.
fn finished(mut schema: Value) -> Value {
    each(&mut schema, &mut |object| {
        let largest = match object.get("format").and_then(Value::as_str) {
            Some("uint32") => u64::from(u32::MAX),
            Some("uint64") => u64::MAX,
            _ => return,
        };
        object.entry("maximum").or_insert_with(|| largest.into());
    });
    schema
}

/// Allows `null` for optional fields, as the parser of a body does.
fn allow_null(form: &mut Value) {
    let required = form["required"].as_array().cloned().unwrap_or_default();
    let fields = form.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, field) in fields.filter(|(name, _)| !required.contains(&Value::from(name.as_str()))) {
        if let Some(Value::String(kind)) = field.get("type") {
            field["type"] = vec![kind.clone(), "null".to_owned()].into();
        }
    }
}

/// Removes `null` from optional fields: responses omit the field instead of writing `null`.
pub(super) fn strip_null(schema: &mut Value) {
    each(schema, &mut |object| {
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_mut_slice() {
                let only = mem::take(only);
                object.insert("type".to_owned(), only);
            }
        }
        let Some(Value::Array(any)) = object.get_mut("anyOf") else { return };
        any.retain(|schema| schema["type"] != "null");
        if let [only] = any.as_mut_slice()
            && let Value::Object(only) = mem::take(only)
        {
            object.remove("anyOf");
            object.extend(only);
        }
    });
}

/// Visits every object in a schema, the outermost first.
fn each(value: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            change(object);
            object.values_mut().for_each(|value| each(value, change));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| each(value, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "its schema is looked at, not its values")]
    struct Form {
        #[serde(default)]
        title: String,
        count: Option<u32>,
        of: Option<Part>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "its schema is looked at, not its values")]
    struct Part {
        name: String,
    }

    #[test]
    fn what_is_written_is_never_null() {
        let mut schemas = Schemas::default();
        assert_eq!(schemas.written::<Form>(), json!({ "$ref": "#/components/schemas/Form" }));
        let named = schemas.into_named();
        assert_eq!(named["Form"]["properties"]["count"]["type"], "integer");
        assert_eq!(named["Form"]["properties"]["count"]["maximum"], u32::MAX);
        assert_eq!(named["Form"]["properties"]["of"], json!({ "$ref": "#/components/schemas/Part" }));
        assert_eq!(named["Part"]["required"], json!(["name"]));
    }

    #[test]
    fn what_is_read_may_be_null_where_it_may_be_absent() {
        let mut schemas = Schemas::default();
        schemas.read::<Form>();
        let named = schemas.into_named();
        assert_eq!(named["Form"]["properties"]["count"]["type"], json!(["integer", "null"]));
        assert_eq!(named["Form"]["properties"]["title"]["type"], json!(["string", "null"]));
        assert_eq!(named["Part"]["properties"]["name"]["type"], "string");
    }
}
