//! SPDX licence expressions: `AND`, `OR`, `WITH` and parentheses. `AND` binds more tightly than `OR`.

/// Returns whether the expression can be met with licences that `is_allowed` accepts. An exception is part of
/// its licence's name: `Apache-2.0 WITH LLVM-exception`.
pub fn is_met(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace(" WITH ", "\0").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<String> = spaced.split_whitespace().map(|word| word.replace('\0', " WITH ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (met, rest) = any(&words, is_allowed);
    assert!(rest.is_empty(), "{expression}: {rest:?} was not read");
    met
}

/// Reads terms joined by `OR`. Returns the rest.
fn any<'a>(words: &'a [&'a str], is_allowed: &dyn Fn(&str) -> bool) -> (bool, &'a [&'a str]) {
    let (mut met, mut rest) = all(words, is_allowed);
    while let Some(("OR", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        let (next, after) = all(after, is_allowed);
        (met, rest) = (met || next, after);
    }
    (met, rest)
}

/// Reads licences joined by `AND`. Returns the rest.
fn all<'a>(words: &'a [&'a str], is_allowed: &dyn Fn(&str) -> bool) -> (bool, &'a [&'a str]) {
    let (mut met, mut rest) = one(words, is_allowed);
    while let Some(("AND", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        let (next, after) = one(after, is_allowed);
        (met, rest) = (met && next, after);
    }
    (met, rest)
}

fn one<'a>(words: &'a [&'a str], is_allowed: &dyn Fn(&str) -> bool) -> (bool, &'a [&'a str]) {
    match words.split_first() {
        Some((&"(", inside)) => {
            let (met, rest) = any(inside, is_allowed);
            assert_eq!(rest.first(), Some(&")"), "a parenthesis is left open: {words:?}");
            (met, &rest[1..])
        }
        Some((name, rest)) => (is_allowed(name), rest),
        None => panic!("an expression ends too early"),
    }
}

#[test]
fn expressions_are_read_as_spdx_defines_them() {
    let is_mit = |name: &str| name == "MIT";
    for (expression, want) in [
        ("MIT", true),
        ("ISC", false),
        ("ISC OR MIT", true),
        ("ISC AND MIT", false),
        ("MIT OR ISC AND ISC", true),
        ("(MIT OR ISC) AND ISC", false),
        ("(MIT OR Apache-2.0) AND MIT", true),
        ("Apache-2.0 WITH LLVM-exception OR MIT", true),
        ("MIT WITH LLVM-exception", false),
    ] {
        assert_eq!(is_met(expression, &is_mit), want, "{expression}");
    }
}
