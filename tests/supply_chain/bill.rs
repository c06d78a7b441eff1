//! The bill of materials of the binary: CycloneDX 1.6 in JSON, as `mallbox licenses --sbom` prints it.

use serde_json::{Value, json};

use super::graph::{Package, graph};
use super::notices::compare;

fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "licenses": [{ "expression": package.license }],
        "purl": reference(package),
    });
    if let Some(sum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

/// Without a time and a serial number, so that equal crates give an equal bill.
fn bill() -> Value {
    let graph = graph();
    let linked = graph.linked();
    let is_root = |package: &Package| package.name == "mallbox";
    let mut parts: Vec<(&Package, Vec<String>)> = Vec::new();
    for id in &linked {
        let edges = graph.edges[*id].iter().filter(|to| linked.contains(to.as_str()));
        let mut to: Vec<String> = edges.map(|to| reference(&graph.packages[to])).collect();
        to.sort();
        to.dedup();
        parts.push((&graph.packages[*id], to));
    }
    parts.sort();
    let root = parts.iter().find(|(package, _)| is_root(package)).unwrap().0;
    let mut itself = component(root);
    itself["type"] = "application".into();
    let others = parts.iter().filter(|(package, _)| !is_root(package));
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": itself },
        "components": others.map(|(package, _)| component(package)).collect::<Vec<_>>(),
        "dependencies":
            parts.iter().map(|(of, to)| json!({ "ref": reference(of), "dependsOn": to })).collect::<Vec<_>>(),
    })
}

#[test]
fn the_bill_of_materials_lists_what_is_in_the_binary() {
    let bill = bill();
    compare("sbom.cdx.json", &format!("{bill:#}\n"));
    let components = bill["components"].as_array().unwrap();
    let foreign = graph().foreign_in_binary();
    let hashed = components.iter().filter(|component| component["hashes"].is_array()).count();
    assert_eq!(hashed, foreign.len(), "a checksum for each crate of the registry");
    let mut names: Vec<_> =
        components.iter().map(|component| component["bom-ref"].as_str().unwrap()).collect();
    names.push(bill["metadata"]["component"]["bom-ref"].as_str().unwrap());
    for row in bill["dependencies"].as_array().unwrap() {
        let to = row["dependsOn"].as_array().unwrap();
        for name in to.iter().chain([&row["ref"]]) {
            assert!(names.contains(&name.as_str().unwrap()), "{name} is no component");
        }
    }
}
