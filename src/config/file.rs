//! `--config FILE`: the flags of `serve` in TOML, by the names of the flags.
//!
//! The settings of the file become flags appended to the command line, and clap parses both. There is one
//! list of names and one parser of values, and a file can set every new flag of `serve`.

use std::any::TypeId;
use std::error::Error as _;
use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};
use toml::de::{DeTable, DeValue};

use crate::language::{Language, sentence};

/// A mistake in the configuration file.
#[derive(Debug)]
pub struct ConfigFileError {
    line: usize,
    what: ConfigFileErrorKind,
}

#[derive(Debug)]
enum ConfigFileErrorKind {
    /// Not valid TOML; the parser's message.
    NotToml(String),
    /// Unknown setting; the valid names.
    Unknown(String, Vec<String>),
    /// A value of the wrong type.
    WrongType(String, Kind, &'static str),
    /// A value refused by the setting; the cause.
    BadValue(String, String),
}

/// Type of a setting's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Text,
    Whole,
    TrueOrFalse,
}

impl ConfigFileError {
    /// Returns the message: line, setting, and the expected value.
    #[must_use]
    pub fn words(&self, l: Language) -> String {
        let detail = match &self.what {
            ConfigFileErrorKind::NotToml(why) => sentence!(l, "不是合法的TOML：{why}", "invalid TOML: {why}"),
            ConfigFileErrorKind::Unknown(name, names) => {
                let names = names.join(", ");
                sentence!(
                    l,
                    "未知设置{name}；可用的设置：{names}",
                    "unknown setting {name}; available settings: {names}"
                )
            }
            ConfigFileErrorKind::WrongType(name, kind, got) => {
                let kind = kind.words(l);
                sentence!(l, "{name}应为{kind}，而不是{got}", "{name}: expected {kind}, not {got}")
            }
            ConfigFileErrorKind::BadValue(name, why) => sentence!(l, "{name}：{why}", "{name}: {why}"),
        };
        format!("{}: {detail}", self.line)
    }
}

impl Kind {
    fn of(setting: &Arg) -> Self {
        if matches!(setting.get_action(), ArgAction::SetTrue) {
            return Self::TrueOrFalse;
        }
        let parsed = setting.get_value_parser().type_id();
        if [TypeId::of::<u64>(), TypeId::of::<u32>()].into_iter().any(|number| parsed == number) {
            return Self::Whole;
        }
        Self::Text
    }

    /// Returns whether the setting is a switch or works without a value: the file may then say `true` or
    /// `false`.
    fn is_switch(self, setting: &Arg) -> bool {
        let may_be_alone = setting.get_num_args().is_some_and(|values| values.min_values() == 0);
        self == Self::TrueOrFalse || may_be_alone
    }

    fn words(self, l: Language) -> String {
        match self {
            Self::Text => sentence!(l, "引号中的文本", "a quoted string"),
            Self::Whole => sentence!(l, "整数", "a whole number"),
            Self::TrueOrFalse => sentence!(l, "true或false", "true or false"),
        }
    }
}

/// Flags without a meaning in a file.
const NOT_IN_A_FILE: [&str; 5] = ["config", "print-config", "help", "version", "lang"];

/// Returns the settings of a file, with their names.
fn settings(serve: &Command) -> impl Iterator<Item = (&str, &Arg)> {
    let named = serve.get_arguments().filter_map(|setting| Some((setting.get_long()?, setting)));
    named.filter(|(name, _)| !NOT_IN_A_FILE.contains(name))
}

/// Returns the flags equivalent to the file. `is_given` tells whether a setting is on the command line or in
/// the environment; both override the file, whose value is validated all the same.
///
/// # Errors
/// The first mistake in the file.
pub fn flags(
    text: &str,
    serve: &Command,
    is_given: impl Fn(&Arg) -> bool,
) -> Result<Vec<OsString>, ConfigFileError> {
    let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let table = DeTable::parse(text).map_err(|error| ConfigFileError {
        line: line(error.span().map_or(0, |span| span.start)),
        what: ConfigFileErrorKind::NotToml(error.message().to_owned()),
    })?;
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut flags = Vec::new();
    for (name, value) in entries {
        let mistake = |what| ConfigFileError { line: line(name.span().start), what };
        let name = name.get_ref().to_string();
        let Some((_, setting)) = settings(serve).find(|(known, _)| *known == name) else {
            let names = settings(serve).map(|(name, _)| name.to_owned()).collect();
            return Err(mistake(ConfigFileErrorKind::Unknown(name, names)));
        };
        let flag = flag(&name, setting, value.get_ref()).map_err(mistake)?;
        let Some(flag) = flag else { continue };
        check(&name, setting, serve, &flag).map_err(mistake)?;
        if !is_given(setting) {
            flags.push(flag);
        }
    }
    Ok(flags)
}

/// Converts one setting to a flag; `None` for a switch set to `false`.
fn flag(name: &str, setting: &Arg, value: &DeValue<'_>) -> Result<Option<OsString>, ConfigFileErrorKind> {
    let kind = Kind::of(setting);
    match (kind, value) {
        (kind, DeValue::Boolean(thrown)) if kind.is_switch(setting) => {
            Ok(thrown.then(|| format!("--{name}").into()))
        }
        (Kind::Text, DeValue::Array(items)) if matches!(setting.get_action(), ArgAction::Append) => {
            let texts: Option<Vec<_>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            let texts = texts.ok_or(ConfigFileErrorKind::WrongType(name.to_owned(), kind, "array"))?;
            // An empty list is no flag.
            Ok((!texts.is_empty()).then(|| format!("--{name}={}", texts.join(",")).into()))
        }
        (Kind::Text, DeValue::String(text)) => Ok(Some(format!("--{name}={text}").into())),
        (Kind::Whole, DeValue::Integer(number)) => Ok(Some(format!("--{name}={number}").into())),
        (kind, other) => Err(ConfigFileErrorKind::WrongType(name.to_owned(), kind, other.type_str())),
    }
}

/// Parses this one setting with clap, to obtain clap's message.
fn check(name: &str, setting: &Arg, serve: &Command, flag: &OsString) -> Result<(), ConfigFileErrorKind> {
    let read = serve.clone().no_binary_name(true).try_get_matches_from([flag]);
    let Err(error) = read else { return Ok(()) };
    let possible: Vec<_> =
        setting.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let why = match error.source() {
        Some(source) => source.to_string(),
        None if !possible.is_empty() => possible.join(" | "),
        None => error.kind().to_string(),
    };
    Err(ConfigFileErrorKind::BadValue(name.to_owned(), why))
}

/// Renders a file with every setting commented out, each with its help text and default.
#[must_use]
pub fn example(serve: &Command) -> String {
    let mut out =
        String::from("# mallbox serve --config FILE. Flags and environment variables override this file.\n");
    for (name, setting) in settings(serve) {
        let help = setting.get_help().map(ToString::to_string).unwrap_or_default();
        let default = setting.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
        let placeholder = setting.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let possible = setting.get_possible_values();
        let possible: Vec<_> = possible.iter().map(|value| value.get_name()).collect();
        let first = possible.first().map(ToString::to_string);
        let value = default.or(first).or(placeholder).unwrap_or_default();
        let of = match (Kind::of(setting), possible.is_empty()) {
            (Kind::Text, false) => format!(" ({})", possible.join(", ")),
            _ => String::new(),
        };
        let value = match Kind::of(setting) {
            kind if kind.is_switch(setting) => "false".to_owned(),
            Kind::Text => format!("{value:?}"),
            Kind::Whole | Kind::TrueOrFalse => value,
        };
        // Writing to a String cannot fail.
        let _ = write!(out, "\n# {help}{of}\n#{name} = {value}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;
    use crate::config::ServeConfig;
    use crate::mall::Settings;
    use crate::mall::base::SharedNetworks;

    fn serve() -> Command {
        let command = ServeConfig::augment_args(Command::new("serve"));
        // Ignore the environment of the test process.
        command.mut_args(|setting| setting.env(None::<&str>))
    }

    fn read(text: &str) -> Result<ServeConfig, ConfigFileError> {
        let flags = flags(text, &serve(), |_| false)?;
        let matches = serve().no_binary_name(true).get_matches_from(flags);
        Ok(ServeConfig::from_arg_matches(&matches).unwrap())
    }

    #[test]
    fn a_file_sets_what_flags_set() {
        let config = read(
            "# a shop\ndata = '/srv/mall'\nlisten = \"0.0.0.0:80\"\nconnections = 1_000\ndemo-data = true\n\
             accept-lost-log = false\nzone = 'Asia/Shanghai'\nclaims-per-minute = 0\n\
             trusted-proxy = ['10.0.0.0/8', '::1']\nproxy-header = 'forwarded'\n",
        )
        .unwrap();
        let proxies: Vec<_> = config.site.trusted_proxy.iter().map(ToString::to_string).collect();
        assert_eq!(proxies, ["10.0.0.0/8", "::1/128"]);
        assert_eq!(read("trusted-proxy = '10.0.0.1,10.0.0.2'").unwrap().site.trusted_proxy.len(), 2);
        assert!(read("trusted-proxy = []").unwrap().site.trusted_proxy.is_empty());
        assert_eq!(config.mall.data.as_deref(), Some(std::path::Path::new("/srv/mall")));
        assert_eq!((config.site.listen.port(), config.site.connections), (80, 1_000));
        assert!(config.demo_data && config.accept_lost_log.is_none());
        assert_eq!(read("accept-lost-log = true").unwrap().accept_lost_log, Some(None));
        assert_eq!(read("accept-lost-log = 141").unwrap().accept_lost_log, Some(Some(141)));
        assert_eq!(config.site.zone.as_ref().and_then(|zone| zone.iana_name()), Some("Asia/Shanghai"));
        assert!(config.settings().claim_limit.is_none());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_what_was_expected() {
        for (text, en, zh) in [
            ("\nlisten = 8080", "2: listen: expected a quoted string, not integer", "引号中的文本"),
            ("connections = '9'", "1: connections: expected a whole number, not string", "整数"),
            ("demo-data = 'yes'", "1: demo-data: expected true or false, not string", "true或false"),
            ("trusted-proxy = [1]", "1: trusted-proxy: expected a quoted string, not array", "引号中的文本"),
            ("trusted-proxy = ['0.0.0.0/0']", "1: trusted-proxy: would trust every client", "would trust"),
            ("data = 'a'\nprot = 80", "2: unknown setting prot; available settings: data, ", "未知设置prot"),
            ("[site]\nlisten = ''", "1: unknown setting site;", "未知设置site"),
            ("config = 'a'", "1: unknown setting config;", "未知设置config"),
            ("listen = 'here'", "1: listen: invalid socket address syntax", "listen：invalid"),
            ("connections = 0", "1: connections: 0 is not in 1..", "0 is not in"),
            ("durability = 'some'", "1: durability: power | process | relaxed", "power | process"),
            ("zone = 'Asia/Atlantis'", "1: zone: unknown time zone Asia/Atlantis", "Atlantis"),
            ("data = 'a'\n\ndata = 'b'", "3: invalid TOML: duplicate key", "不是合法的TOML"),
            ("data = \n", "1: invalid TOML: ", "不是合法的TOML"),
        ] {
            let mistake = read(text).unwrap_err();
            let (message_en, message_zh) = (mistake.words(Language::En), mistake.words(Language::Zh));
            assert!(message_en.starts_with(en), "{text}: {message_en}");
            assert!(message_zh.contains(zh), "{text}: {message_zh}");
        }
    }

    /// Returns the settings without the networks, which have no default to show.
    fn limits(config: &ServeConfig) -> String {
        let settings = Settings { shared_networks: SharedNetworks::default(), ..config.settings() };
        format!("{settings:?}")
    }

    #[test]
    fn the_example_names_every_setting_and_can_be_read_back() {
        let example = example(&serve());
        let all: String = example
            .lines()
            .filter_map(|line| line.strip_prefix('#').filter(|line| !line.starts_with(' ')))
            .map(|line| {
                line.replace("NAME", "Asia/Shanghai")
                    .replace("CIDR", "10.0.0.0/8")
                    .replace("DOMAIN", "mall.test")
                    .replace("LIMIT", "GET /shop/{id}=100")
                    .replace("ADDRESS", "127.0.0.1:0")
                    .replace("SIZE", "128M")
                    + "\n"
            })
            .collect();
        assert_eq!(all.lines().count(), settings(&serve()).count(), "{example}");
        let config = read(&all).unwrap();
        assert_eq!(config.mall.data.as_deref(), Some(std::path::Path::new("DIR")));
        // The defaults in the example are the defaults of the parser.
        assert_eq!(limits(&config), limits(&read("").unwrap()));
    }

    #[test]
    fn the_examples_of_the_manual_are_read() {
        for page in
            [include_str!("../../web/manual/commands.md"), include_str!("../../web/manual/commands.zh.md")]
        {
            let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
            let config = read(example).unwrap();
            assert!(config.mall.data.is_some());
            // The limits in the example are the defaults.
            assert_eq!(limits(&config), limits(&read("").unwrap()));
        }
    }
}
