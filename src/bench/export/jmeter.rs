//! The plan for JMeter.

use super::load_file::LoadFile;
use crate::bench::foreign::Target;
use crate::bench::load::Piece;

const TEMPLATE: &str = include_str!("claims.jmx");

/// Returns the plan. Its script reads the rules from the file of the load.
pub(super) fn plan(load: &LoadFile, target: &Target) -> String {
    let headers = load.headers.iter().map(|(name, value)| {
        let (name, value) = (text(name), text(value));
        let name = format!("<stringProp name=\"Header.name\">{name}</stringProp>");
        let value = format!("<stringProp name=\"Header.value\">{value}</stringProp>");
        format!("              <elementProp name=\"\" elementType=\"Header\">{name}{value}</elementProp>")
    });
    let threads = load.pieces.as_deref().map_or_else(|| closed_loop(load.connections), open_loop);
    let (host, port) = target.host_and_port();
    [
        ("@@THREADS@@", threads),
        ("@@HEADERS@@", headers.collect::<Vec<_>>().join("\n")),
        ("@@HOST@@", text(host)),
        ("@@PORT@@", port.to_string()),
        ("@@PATH@@", text(&load.path)),
        ("@@METHOD@@", text(&load.method)),
        ("@@BODY@@", text(&load.body)),
    ]
    .iter()
    .fold(TEMPLATE.to_owned(), |plan, (name, value)| plan.replace(name, value))
}

fn closed_loop(connections: usize) -> String {
    format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="claims">
        <stringProp name="ThreadGroup.num_threads">{connections}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">0</stringProp>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
        <boolProp name="ThreadGroup.same_user_on_next_iteration">true</boolProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <boolProp name="LoopController.continue_forever">false</boolProp>
          <stringProp name="LoopController.loops">-1</stringProp>
        </elementProp>
      </ThreadGroup>"#
    )
}

/// Returns a group whose threads arrive by a schedule. It begins with a pause, since the first second of a
/// JVM makes a burst, and ends with a piece for the arrivals that rounding left over, and a pause longer than
/// the time limit of a response.
fn open_loop(pieces: &[Piece]) -> String {
    let lines = pieces.iter().map(|Piece { from, to, lasts }| {
        format!("rate({from:.3}/sec) even_arrivals({} ms) rate({to:.3}/sec)", lasts.as_millis())
    });
    let schedule = lines.collect::<Vec<_>>().join("\n");
    format!(
        r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="claims">
        <stringProp name="OpenModelThreadGroup.schedule">rate(0) even_arrivals(3 sec) rate(0)
{schedule}
rate(100/sec) even_arrivals(1 sec) rate(100/sec)
rate(0) even_arrivals(6 sec) rate(0)</stringProp>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>
      </OpenModelThreadGroup>"#
    )
}

/// Returns a text of the dialect for the plan: with its placeholders as JMeter's variables, escaped for XML.
/// JMeter takes backslashes out of a text only if it has a variable.
fn text(text: &str) -> String {
    let has_variable = ["{sale}", "{token}"].iter().any(|word| text.contains(word));
    let for_jmeter =
        if has_variable { text.replace('\\', "\\\\").replace("${", "\\${") } else { text.to_owned() };
    let with_variables = for_jmeter.replace("{sale}", "${sale}").replace("{token}", "${token}");
    let entities = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")];
    entities.iter().fold(with_variables, |text, (character, entity)| text.replace(character, entity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_twice() {
        assert_eq!(text(r"a\b ${c}"), r"a\b ${c}");
        assert_eq!(
            text(r#"{"a":"{sale}","b":"\n${x}<&>"}"#),
            r"{&quot;a&quot;:&quot;${sale}&quot;,&quot;b&quot;:&quot;\\n\${x}&lt;&amp;&gt;&quot;}"
        );
    }
}
