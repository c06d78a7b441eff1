//! Public names that clients depend on: calls, parameters, schemas and their fields. A rename inside must not
//! change them.
//!
//! `MALLBOX_REWRITE_NAMES=1 cargo test --test api names` writes the list anew after an intended change.

#[path = "../../common/kept_list.rs"]
mod kept_list;

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::world::world;
use super::document;

#[test]
fn no_public_name_of_the_api_has_changed_unnoticed() {
    let document = document(&world());
    let mut names = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, call) in item.as_object().unwrap() {
            let call_id = call["operationId"].as_str().unwrap_or_default();
            names.insert(format!("call {} {path} {call_id}", method.to_uppercase()));
            for parameter in call["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap_or_default();
                names.insert(format!("parameter {} {path} {name}", method.to_uppercase()));
            }
        }
    }
    for (schema, content) in document["components"]["schemas"].as_object().unwrap() {
        names.insert(format!("schema {schema}"));
        fields(schema, content, &mut names);
    }
    assert!(names.len() > 500, "{} names: the description has lost its parts", names.len());
    kept_list::compare("tests/api/openapi/names.txt", &names);
}

/// Collects the fields of a schema, and of the objects inside.
fn fields(of: &str, content: &Value, names: &mut BTreeSet<String>) {
    match content {
        Value::Object(parts) => {
            for name in parts.get("properties").and_then(Value::as_object).into_iter().flat_map(|p| p.keys())
            {
                names.insert(format!("field {of}.{name}"));
            }
            parts.values().for_each(|part| fields(of, part, names));
        }
        Value::Array(parts) => parts.iter().for_each(|part| fields(of, part, names)),
        _ => {}
    }
}
