//! `bench submit`: a folder of results for the project, ready for a pull request.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use mallbox_storage::Timestamp;
use serde_json::Value;

use super::report::read;

/// Where results belong, below the root of a checkout.
const RESULTS: &str = "benches/results";
/// Longest subject, in characters.
const SUBJECT_MAX: usize = 60;

/// Copies results into a new folder of a checkout, with notes to complete, and prints what to do next.
///
/// # Errors
/// A file that is no result; no checkout here; a subject that cannot be part of a name; a folder that exists.
pub fn run(results: &[PathBuf], subject: &str, now: Timestamp) -> anyhow::Result<bool> {
    let is_word =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    if subject.is_empty() || subject.len() > SUBJECT_MAX || !subject.chars().all(is_word) {
        bail!("--subject: expected a few words such as two-shared-cores, and got '{subject}'");
    }
    let root = Path::new(RESULTS);
    if !root.is_dir() {
        bail!("{RESULTS} is not here: run this in a checkout of mallbox");
    }
    let read =
        results.iter().map(|file| Ok((name_of(file)?, read(file)?))).collect::<anyhow::Result<Vec<_>>>()?;
    let day = jiff::Timestamp::from_millisecond(now.as_millis())?.strftime("%F").to_string();
    let folder = root.join(format!("{day}-{subject}"));
    let shown = folder.display();
    fs::create_dir(&folder).with_context(|| format!("cannot create {shown}"))?;
    for (file, (name, _)) in results.iter().zip(&read) {
        fs::copy(file, folder.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    fs::write(folder.join("notes.md"), notes(subject, &read)).context("cannot write notes.md")?;
    println!("{shown} is ready.\n");
    println!("1. Complete {shown}/notes.md: what the machine does besides, what was tuned and why.");
    println!("2. Read {RESULTS}/README.md: the rules.");
    println!(
        "3. git switch --create results-{subject} && git add {shown} && git commit --message 'results: {subject}'"
    );
    println!("4. Push the branch to your fork, and open a pull request.");
    Ok(true)
}

/// Returns the name of a file, which becomes its name in the folder.
fn name_of(file: &Path) -> anyhow::Result<String> {
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "json"));
    Ok(name.with_context(|| format!("{}: expected a name that ends in .json", file.display()))?.to_owned())
}

/// Returns the notes: what the files say, and the questions that they leave open.
fn notes(subject: &str, results: &[(String, Value)]) -> String {
    let mut text = format!("# {subject}\n");
    for (name, result) in results {
        let machine = &result["machine"];
        let of = |name: &str| match &machine[name] {
            Value::String(text) => text.clone(),
            Value::Null => "unknown".to_owned(),
            other => other.to_string(),
        };
        let words = result["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
        text += &format!(
            "\n## {name}\n\n    {}\n\n{}, {} cores, {}, {}, {}\n",
            words.collect::<Vec<_>>().join(" "),
            of("cpu"),
            of("cores"),
            of("kernel"),
            of("os"),
            of("file_system")
        );
        for warning in result["warnings"].as_array().into_iter().flatten() {
            text += &format!("\nWarning: {}\n", warning["text"].as_str().unwrap_or_default());
        }
    }
    text + "\n## The machine\n\nIs it yours alone or shared, real or virtual, and on which disk? What else ran meanwhile?\n\n\
            ## Settings\n\nWhat differs from the defaults of mallbox, the servers and the system, and why?\n"
}
