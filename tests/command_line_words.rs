//! The command line in two languages, and the effects of a configuration file.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Returns a command with only these environment variables.
fn mallbox(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    command.env_clear().args(arguments).stdin(Stdio::null()).env("TZ", "Asia/Shanghai");
    command.envs(environment.iter().copied());
    command
}

/// Runs a command. Returns exit code, standard output and standard error.
fn output_with(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = mallbox(arguments, environment).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn output_of(arguments: &[&str]) -> (i32, String, String) {
    output_with(arguments, &[])
}

/// Returns the banner of a mall, which is then killed.
fn banner(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut child =
        mallbox(arguments, environment).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let banner: Vec<String> = lines.take(8).map_while(Result::ok).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(banner.len(), 8, "{banner:?}");
    banner.join("\n") + "\n"
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_language_is_the_one_asked_for_or_the_locales() {
    let (zh, en) = ("请指明商城的位置：--data", "no mall given; pass --data DIR");
    for (arguments, environment, want) in [
        (&["serve"][..], &[][..], en),
        (&["serve"], &[("LANG", "zh_CN.UTF-8")], zh),
        (&["serve"], &[("LANG", "zh_CN.UTF-8"), ("LC_MESSAGES", "de_DE")], en),
        (&["serve"], &[("LC_MESSAGES", "de_DE"), ("LC_ALL", "zh_TW.UTF-8")], zh),
        (&["serve"], &[("LC_ALL", "zh_CN"), ("MALLBOX_LANG", "en")], en),
        (&["serve", "--lang", "zh"], &[("MALLBOX_LANG", "en")], zh),
        (&["--lang", "zh", "serve"], &[], zh),
    ] {
        let (code, _, error) = output_with(arguments, environment);
        assert!(code == 2 && error.contains(want), "{arguments:?} {environment:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert_eq!(output_of(&["serve", "--lang", "fr"]).0, 2);
}

#[test]
fn usage_errors_are_reported_in_chinese_and_without_english() {
    let dir = tempfile::tempdir().unwrap();
    let (file, other) = (dir.path().join("file"), dir.path().join("other"));
    std::fs::write(&file, "theirs").unwrap();
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("mail"), "theirs").unwrap();
    let (nothing, new) = (dir.path().join("nothing"), dir.path().join("new"));
    let servers = ["--redis", "redis://127.0.0.1:1", "--mysql", "mysql://127.0.0.1:1/mall"];
    let challenge = [
        "--challenge-service",
        "geetest",
        "--challenge-site-key",
        "key",
        "--challenge-secret",
        "s3cr3t",
        "--challenge-script-url",
        "x",
    ];
    for (arguments, want_code, want) in [
        (vec!["serve"], 2, "请指明商城的位置：--data 目录"),
        (vec!["serve", "--redis", "redis://a"], 2, "--redis还需要--mysql URL"),
        (vec!["verify", "--data", text(&nothing), "--redis", "redis://a"], 2, "不能同时使用"),
        (
            vec!["serve", "--data", text(&nothing), "--redis-prefix", "a"],
            2,
            "--redis-prefix仅用于Redis和MySQL里的商城",
        ),
        ([&["serve", "--accept-lost-log"][..], &servers].concat(), 2, "--accept-lost-log仅用于目录里的商城"),
        ([&["serve", "--uploads", text(&nothing)][..], &servers].concat(), 2, "没有这个目录"),
        ([&["import", text(&file), "--imgs", text(&other)][..], &servers].concat(), 2, "不保存图片"),
        (vec!["serve", "--data", text(&file)], 2, "是文件"),
        (vec!["serve", "--data", text(&other)], 2, "却有其他文件（mail）"),
        (vec!["demo", "--data", text(&other)], 2, "却有其他文件（mail）"),
        (vec!["serve", "--data", text(&nothing), "--web", text(&nothing)], 2, "没有这个目录"),
        (vec!["serve", "--data", text(&nothing), "--sms", "ftp://x"], 2, "--sms不合要求"),
        (vec!["serve", "--data", text(&nothing), "--payment", "webhook"], 2, "支付方式webhook需要支付网关"),
        (
            vec!["serve", "--data", text(&nothing), "--payment-url", "http://127.0.0.1:9"],
            2,
            "--payment-url还需要--payment-secret",
        ),
        (
            vec![
                "serve",
                "--data",
                text(&nothing),
                "--payment-url",
                "x",
                "--payment-secret",
                "0123456789abcdef",
            ],
            2,
            "--payment-url或--payment-secret不合要求",
        ),
        (
            vec!["serve", "--data", text(&nothing), "--challenge-service", "turnstile"],
            2,
            "--challenge-service还需要--challenge-site-key",
        ),
        ([&["serve", "--data", text(&nothing)][..], &challenge[..4]].concat(), 2, "还需要--challenge-secret"),
        (
            [&["serve", "--data", text(&nothing)][..], &challenge].concat(),
            2,
            "--challenge-script-url不合要求",
        ),
        (vec!["serve", "--data", text(&nothing), "--staff-secret", ""], 2, "至少须有16个字符"),
        (vec!["serve", "--data", text(&nothing), "--public-url", "x"], 2, "--public-url应为"),
        (vec!["serve", "--data", text(&nothing), "--printer", "lp0"], 2, "绝对路径，而不是“lp0”"),
        (vec!["serve", "--data", text(&nothing), "--printer", "tcp://a:0"], 2, "端口应为1到65535的整数"),
        (vec!["demo", "--data", text(&nothing), "--printer", text(&other)], 2, "是目录"),
        (vec!["serve", "--data", text(&nothing), "--otlp", "ftp://x"], 2, "这样的地址，而不是ftp://x"),
        (
            vec!["import", text(&file), "--data", text(&new), "--payment", "webhook"],
            2,
            "迁入的订单无法使用--payment webhook",
        ),
        (
            vec!["kiosk", "install", "--url", "mall"],
            2,
            "--url应为http://127.0.0.1:8080这样的地址，而不是“mall”",
        ),
        (vec!["kiosk", "watch", "http://127.0.0.1:1/", "--", "true"], 1, "浏览器已退出"),
        (vec!["serve", "--data", "/proc/mall"], 1, "无法创建目录/proc/mall"),
        (vec!["verify", "--data", text(&nothing)], 2, "里没有商城"),
        (vec!["user", "grant", "--data", text(&nothing), "x"], 2, "x不是有效的手机号"),
        (vec!["demo"], 2, "找不到用户主目录"),
        (vec!["audit", "verify", "--data", text(&nothing)], 2, "里没有商城"),
        (vec!["archive", "list", "--data", text(&nothing)], 2, "里没有商城"),
        (vec!["archive", "votes", "--data", text(&nothing), "--before", "x"], 2, "x不是有效的日期"),
        (vec!["import", text(&file), "--data", text(&new), "--imgs", text(&nothing)], 2, "没有这个目录"),
        (vec!["import", text(&nothing), "--data", text(&new)], 1, "没有这个文件或目录"),
        (
            vec!["import", text(&file), "--data", text(&new)],
            1,
            "没有导入任何内容：第1行第1列：MySQL转储里没有以`theirs`",
        ),
    ] {
        let (code, _, error) = output_with(&arguments, &[("MALLBOX_LANG", "zh")]);
        assert!(code == want_code && error.contains(want), "{arguments:?}: {error}");
        for english in [" is ", " the ", "cannot", "no such", " there "] {
            assert!(!error.contains(english), "{arguments:?}: {error}");
        }
    }
}

#[test]
fn banner_report_and_table_are_in_chinese() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let zh = &[("LANG", "zh_CN.UTF-8")];
    let banner = banner(&["serve", "--data", text(&data), "--listen", "127.0.0.1:0"], zh);
    for line in [
        "\n存储        embedded\n",
        "\n持久性      power (断电不丢失",
        "\n时区        Asia",
        "\n限流        开\n",
    ] {
        assert!(banner.contains(line), "{banner}");
    }
    let (code, report, error) = output_with(&["verify", "--data", text(&data)], zh);
    assert!(code == 0 && report.contains("账目平衡：0场秒杀"), "{report}{error}");
    let (_, table, _) = output_with(&["doctor", "--data", text(&data)], zh);
    for line in ["正常 目录        ", "里是商城\n", "正常 时钟        20", "磁盘同步    p50"]
    {
        assert!(table.contains(line), "{table}");
    }
    let (code, _, error) = output_with(&["user", "revoke", "--data", text(&data), "13900000008"], zh);
    assert!(code == 1 && error.contains("用户不存在"), "{error}");
}

#[test]
fn people_and_the_audit_log_are_listed_in_chinese() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let zh = &[("LANG", "zh_CN.UTF-8")];
    banner(&["serve", "--data", text(&data), "--listen", "127.0.0.1:0"], zh);
    let phone = "13900000007";
    for (arguments, want) in [
        (&["user", "grant", phone][..], "operator"),
        (&["user", "block", "--reason", "倒卖", phone], "起停用：倒卖）  已结束0个会话"),
        (&["user", "list", "--blocked"], "起停用：倒卖）"),
        (&["audit", "list"], "  命令行        user.block"),
        (&["audit", "verify"], "审计日志完好：共2条，最后一条是2:"),
    ] {
        let (code, out, error) = output_with(&[arguments, &["--data", text(&data)]].concat(), zh);
        assert!(code == 0 && out.contains(want), "{arguments:?}: {out}{error}");
    }
    let noted = format!("1:{}", "0".repeat(64));
    let (code, out, _) = output_with(&["audit", "verify", "--data", text(&data), "--noted", &noted], zh);
    assert!(code == 1 && out.contains("异常：第1条与当初记下的哈希不符"), "{out}");
    let record = rusqlite::Connection::open(data.join("mall.sqlite")).unwrap();
    let change = "UPDATE audit SET subject = 'user 9' WHERE number = 2";
    record.execute_batch(&format!("DROP TRIGGER audit_is_not_changed; {change}")).unwrap();
    drop(record);
    let (code, out, _) = output_with(&["audit", "verify", "--data", text(&data)], zh);
    assert!(code == 1 && out.contains("异常：第2条校验不符：该条或前一条被改过；此前的1条完好"), "{out}");
}

#[test]
fn an_import_reports_in_chinese() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/dumps/mysqldump.sql");
    let arguments = ["import", text(&dump), "--data", text(&data), "--zone", "Asia/Shanghai", "--lang", "zh"];
    let (code, report, error) = output_of(&arguments);
    assert_eq!(code, 0, "{error}");
    for line in [
        "表                          行数        导入        略去\n",
        "略去        1 × tb_shop：坐标超出范围：3（第160行）\n",
        "改动        1 × tb_seckill_voucher：库存小于0，按0处理",
        "未识别      跳过的表：undo_log\n",
        "\n图片        导入0张；",
        "\n导入完成，但有遗漏：略去16行；",
    ] {
        assert!(report.contains(line), "{line}\nis not in\n{report}");
    }
    for english in ["omitted", "imported", " its ", " the "] {
        assert!(!report.contains(english), "{english}: {report}");
    }
    let (code, _, error) = output_of(&arguments);
    assert!(code == 2 && error.contains("里的商城已有数据；导入需要空的商城"), "{error}");
}

#[test]
fn a_flag_comes_before_the_environment_and_both_before_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mall.toml");
    let data = |name: &str| dir.path().join(name);
    let written = format!(
        "data = '{}'\nlisten = '127.0.0.1:0'\ndurability = 'relaxed'\nzone = 'Europe/Berlin'\nlimits = 'off'\n",
        text(&data("of-file"))
    );
    std::fs::write(&file, written).unwrap();
    let serve = ["serve", "--config", text(&file)];
    let of_file = banner(&serve, &[]);
    for want in ["/of-file\n", "durability  relaxed", "zone        Europe/Berlin", "limits      off"] {
        assert!(of_file.contains(want), "{want}: {of_file}");
    }
    let environment =
        [("MALLBOX_DATA", text(&data("of-env")).to_owned()), ("MALLBOX_DURABILITY", "process".to_owned())];
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let of_env = banner(&serve, &environment);
    for want in ["/of-env\n", "durability  process", "zone        Europe/Berlin"] {
        assert!(of_env.contains(want), "{want}: {of_env}");
    }
    let typed = data("typed");
    let of_flag = banner(&[&serve[..], &["--data", text(&typed), "--limits", "on"]].concat(), &environment);
    for want in ["/typed\n", "durability  process", "limits      on", "zone        Europe/Berlin"] {
        assert!(of_flag.contains(want), "{want}: {of_flag}");
    }
    // The file's own name may come from the environment.
    let named = banner(&["serve"], &[("MALLBOX_CONFIG", text(&file))]);
    assert!(named.contains("/of-file\n"), "{named}");
}

#[test]
fn a_wrong_file_is_a_usage_error_that_names_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mall.toml");
    for (written, en, zh) in [
        ("\nlisten = 8080\n", ":2: listen: expected a quoted string", ":2: listen应为引号中的文本"),
        ("connections = 'many'\n", ":1: connections: expected a whole number", "应为整数"),
        ("# a\nlisen = ''\n", ":2: unknown setting lisen; available settings: ", "未知设置lisen"),
        ("data = \"\n", ":1: invalid TOML", "不是合法的TOML"),
        (
            "web = '/nowhere/at/all'\ndata = '/nowhere/mall'\n",
            "--web /nowhere/at/all: no such directory",
            "没有这个目录",
        ),
    ] {
        std::fs::write(&file, written).unwrap();
        let serve = ["serve", "--config", text(&file)];
        for (language, want) in [("en", en), ("zh", zh)] {
            let (code, _, error) = output_with(&serve, &[("MALLBOX_LANG", language)]);
            assert!(code == 2 && error.contains(want) && error.lines().count() == 1, "{written}: {error}");
        }
    }
    let (code, _, error) = output_of(&["serve", "--config", "/nowhere.toml"]);
    assert!(code == 2 && error.contains("cannot read /nowhere.toml: No such file"), "{error}");
    std::fs::write(&file, b"\xff").unwrap();
    let (code, _, error) = output_of(&["serve", "--config", text(&file)]);
    assert!(code == 2 && error.contains("valid UTF-8"), "{error}");
}

#[test]
fn the_printed_example_is_a_file_that_serves() {
    let dir = tempfile::tempdir().unwrap();
    let (code, example, error) = output_of(&["serve", "--print-config"]);
    assert_eq!(code, 0, "{error}");
    for name in [
        "listen",
        "claims-per-minute",
        "calls-per-second",
        "code-gap",
        "codes-per-day",
        "wrong-codes-per-hour-of-phone",
        "passwords-per-hour-of-phone",
        "passwords-per-10-minutes-of-address",
        "shared-network",
        "session-minutes",
        "session-max-days",
        "operator-session-max-hours",
        "max-backlog",
        "trusted-proxy",
        "proxy-header",
        "zone",
    ] {
        assert!(example.contains(&format!("\n#{name} = ")), "{name}: {example}");
    }
    // Includes every setting of a mall in a directory, with its default if any.
    let (data, web) = (dir.path().join("mall"), dir.path().join("web"));
    std::fs::create_dir(&web).unwrap();
    let mut file = String::new();
    // A second address would be another line of the banner; `tests/admin_listen.rs` has it.
    let elsewhere =
        ["redis", "mysql", "redis-prefix", "uploads", "admin-listen"].map(|name| format!("#{name} = "));
    for line in example.lines().filter(|line| line.starts_with('#') && !line.starts_with("# ")) {
        if elsewhere.iter().any(|name| line.starts_with(name)) {
            continue;
        }
        file += &match line {
            "#data = \"DIR\"" => format!("data = '{}'\n", text(&data)),
            "#web = \"DIR\"" => format!("web = '{}'\n", text(&web)),
            "#trusted-proxy = \"CIDR\"" => "trusted-proxy = ['10.0.0.0/8', '::1']\n".to_owned(),
            "#endpoint-limit = \"LIMIT\"" => "endpoint-limit = ['GET /shop/{id}=100']\n".to_owned(),
            "#shared-network = \"CIDR\"" => "shared-network = ['203.0.113.0/24']\n".to_owned(),
            "#alert-url = \"URL\"" => "alert-url = 'http://127.0.0.1:9'\n".to_owned(),
            "#otlp = \"URL\"" => "otlp = 'http://127.0.0.1:9'\n".to_owned(),
            "#payment-url = \"URL\"" => "payment-url = 'http://127.0.0.1:9'\n".to_owned(),
            "#payment-secret = \"SECRET\"" => "payment-secret = '0123456789abcdef'\n".to_owned(),
            "#staff-secret = \"SECRET\"" => "staff-secret = '0123456789abcdef'\n".to_owned(),
            "#challenge-verify-url = \"URL\"" => "challenge-verify-url = 'http://127.0.0.1:9'\n".to_owned(),
            "#challenge-script-url = \"URL\"" => "challenge-script-url = 'http://127.0.0.1:9'\n".to_owned(),
            "#printer = \"ADDRESS\"" => "printer = '/dev/null'\n".to_owned(),
            "#public-url = \"URL\"" => "public-url = 'http://mall.test'\n".to_owned(),
            "#memory = \"SIZE\"" => "memory = '512M'\n".to_owned(),
            "#zone = \"NAME\"" => "zone = 'Asia/Tokyo'\n".to_owned(),
            "#listen = \"127.0.0.1:8080\"" => "listen = '127.0.0.1:0'\n".to_owned(),
            other => other[1..].to_owned() + "\n",
        };
    }
    let path = dir.path().join("mall.toml");
    std::fs::write(&path, &file).unwrap();
    let banner = banner(&["serve", "--config", text(&path)], &[]);
    assert!(
        banner.contains("zone        Asia/Tokyo\n") && banner.contains("limits      on"),
        "{banner}\n{file}"
    );
}

#[test]
fn the_manual_is_printed_in_both_languages_and_an_unknown_topic_names_the_known_ones() {
    for (language, about, title, wrong) in [
        (
            "en",
            "fixture           A mall for tests: ",
            "# Running a sale\n",
            "the manual has no topic tests; available topics: ",
        ),
        (
            "zh",
            "fixture           测试用的商城：",
            "# 运营一场秒杀\n",
            "手册里没有“tests”这个主题；可选的主题：",
        ),
    ] {
        let (code, list, error) = output_of(&["manual", "--lang", language]);
        assert!(code == 0 && error.is_empty(), "{code} {error}");
        assert!(list.contains(about) && list.contains("`mallbox manual commands`"), "{list}");
        let (code, page, error) = output_of(&["manual", "sale", "--lang", language]);
        assert!(code == 0 && error.is_empty() && page.starts_with(title), "{code} {error} {page}");
        let (code, page, _) = output_of(&["manual", "api", "--lang", language]);
        assert!(code == 0 && page.contains("`GET /ops/overview`") && !page.contains("<!--"), "{page}");
        for unknown in ["tests", "../../README", "index.zh"] {
            let (code, page, error) = output_of(&["manual", unknown, "--lang", language]);
            assert!(code == 2 && page.is_empty() && error.lines().count() == 1, "{code} {page} {error}");
            assert!(error.contains("commands") && error.contains("redis-mysql"), "{error}");
            assert!(unknown != "tests" || error.contains(wrong), "{error}");
        }
    }
}

#[test]
fn a_demo_says_where_the_manual_is() {
    for (language, wanted) in
        [("en", "manual      http://127.0.0.1:"), ("zh", "手册        http://127.0.0.1:")]
    {
        let dir = tempfile::tempdir().unwrap();
        let arguments = ["demo", "--data", text(dir.path()), "--listen", "127.0.0.1:0", "--lang", language];
        let mut demo = mallbox(&arguments, &[]);
        let mut child = demo.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // The example requests come last.
        let printed: Vec<_> = lines.take_while(|line| !line.starts_with("curl ")).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let line = printed.iter().find(|line| line.starts_with(wanted));
        assert!(line.is_some_and(|line| line.contains("/mall/manual/")), "{printed:#?}");
    }
}
