//! Display names: what is visible, and who may use the names of the mall's staff.

/// Names of the mall and its staff, in lower case and without spaces: a Chinese name counts wherever it
/// occurs, and a Latin name as the whole name, digits at its end aside.
const RESERVED_ANYWHERE: [&str; 8] =
    ["客服", "管理员", "管理員", "官方", "运营商", "系统消息", "系统通知", "mallbox"];
const RESERVED_WHOLE: [&str; 12] = [
    "admin",
    "administrator",
    "customerservice",
    "moderator",
    "official",
    "operator",
    "root",
    "security",
    "staff",
    "support",
    "sysadmin",
    "system",
];

/// Removes characters that nobody sees, so that no name looks like another. Keeps what joins emoji.
pub(super) fn visible(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    for c in name.chars() {
        let is_joined = kept.chars().last().is_some_and(joins);
        if !is_invisible(c) || (is_emoji_part(c) && is_joined) {
            kept.push(c);
        }
    }
    // A joiner at the end joins nothing.
    kept.trim_end_matches('\u{200D}').trim().to_owned()
}

/// Returns whether the name is one of the mall's staff.
pub(super) fn is_reserved(name: &str) -> bool {
    let plain: String = name.chars().map(half_width).filter(|c| c.is_alphanumeric()).collect();
    let plain = plain.to_lowercase();
    let bare = plain.trim_matches(|c: char| c.is_ascii_digit());
    RESERVED_ANYWHERE.iter().any(|reserved| plain.contains(reserved)) || RESERVED_WHOLE.contains(&bare)
}

/// Returns the ASCII character of a full-width form; others unchanged.
fn half_width(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

/// Returns whether the character has no shape of its own: joiners, marks of direction, fillers, variation
/// selectors, tags.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
            | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns whether the character belongs into a sequence of emoji: the joiner, and the selector of the
/// coloured form.
fn is_emoji_part(c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{FE0F}')
}

/// Returns whether an emoji sequence may continue after the character: symbols, not letters.
fn joins(c: char) -> bool {
    matches!(c, '\u{FE0F}' | '\u{2190}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_not_in_a_name() {
        for (name, want) in [
            ("小鱼", "小鱼"),
            ("an\u{200B}na", "anna"),
            ("\u{FEFF}anna\u{2060}", "anna"),
            ("anna\u{200E}\u{202E}", "anna"),
            ("a\u{00AD}nna", "anna"),
            ("\u{3164}", ""),
            ("\u{2800}\u{115F}", ""),
            ("an\u{200D}na", "anna"),
            ("anna\u{E0041}", "anna"),
            ("👩\u{200D}🍳 Café", "👩\u{200D}🍳 Café"),
            ("❤\u{FE0F}\u{200D}🔥", "❤\u{FE0F}\u{200D}🔥"),
            ("👩\u{200D}", "👩"),
            ("O'Neill-Müller", "O'Neill-Müller"),
        ] {
            assert_eq!(visible(name), want, "{name:?}");
        }
    }

    #[test]
    fn names_of_the_staff_are_reserved_however_they_are_written() {
        for reserved in [
            "客服",
            "官方客服小美",
            "管 理 员",
            "mallbox",
            "MallBox团队",
            "Admin",
            "ADMIN_01",
            "ａｄｍｉｎ",
            "a d m i n",
            "operator",
            "System",
        ] {
            assert!(is_reserved(reserved), "{reserved}");
        }
        for free in
            ["小鱼", "安妮", "badminton", "operators' friend", "user_k3p9x0", "root beer", "掌柜", "007"]
        {
            assert!(!is_reserved(free), "{free}");
        }
    }
}
