//! Messages for flags of a bench that cannot be used.

use std::path::PathBuf;

use crate::bench::load::{ShapeError, ShapeTextError};
use crate::bench::{DialectError, RuleFault, TargetError};
use crate::language::{Language, sentence};

/// Wrong usage of `bench`.
#[derive(Debug)]
pub(in crate::cli) enum BenchMisuse {
    /// A bench on servers without the URLs of servers.
    NoServers,
    /// A bench asked both to keep its mall and to create several.
    OneMallToKeep,
    /// The arrivals cannot be read; the cause.
    BadShape(ShapeTextError),
    /// Neither the name of a dialect nor a file; the names.
    NoDialect(String, Vec<&'static str>),
    /// The file of a dialect cannot be used; the cause.
    BadDialect(PathBuf, DialectError),
    /// The target cannot be loaded; the cause.
    BadTarget(TargetError),
    /// A sale that is named twice.
    SaleTwice(u64),
    /// A token that cannot be sent in a header.
    BadToken { file: PathBuf, line: usize },
    /// Two systems of a comparison with one name.
    SystemTwice(String),
    /// The file of a foreign mall cannot be used: the line, and the parser's message.
    BadForeignMall { file: PathBuf, line: Option<usize>, message: String },
    /// A port that is not measured; the ports.
    NoPort(String, Vec<&'static str>),
    /// A rung that the ladder does not have; the rungs.
    #[cfg(feature = "ladder")]
    NoRung(String, Vec<&'static str>),
    /// A way to hand orders over that is not measured; the ways.
    #[cfg(feature = "ladder")]
    NoWay(String, Vec<&'static str>),
    /// Servers that may lose their data, without the user's word that they may.
    NotToBeDestroyed,
    /// One of the two URLs of servers.
    OneServer,
    /// A run to resume without the result beside which it left its state.
    ResumeWithoutResult,
    /// Not the address and the secret of an agent.
    BadAgent { file: PathBuf, line: usize },
}

impl BenchMisuse {
    pub(super) fn words(&self, l: Language) -> String {
        match self {
            Self::NoServers => sentence!(
                l,
                "请指明服务器：--redis URL和--mysql URL，或环境变量MALLBOX_REDIS和MALLBOX_MYSQL",
                "no servers given; pass --redis URL and --mysql URL, or set MALLBOX_REDIS and MALLBOX_MYSQL"
            ),
            Self::OneMallToKeep => sentence!(
                l,
                "--keep只保留一座商城；--rounds大于1时请去掉",
                "--keep keeps a single mall; remove it, or pass --rounds 1"
            ),
            Self::BadShape(error) => of_shape(error, l),
            Self::NoDialect(name, known) => {
                let known = known.join(if l == Language::Zh { "、" } else { ", " });
                sentence!(
                    l,
                    "没有方言“{name}”，也没有这个文件；已有的方言：{known}",
                    "no dialect '{name}', and no such file; the known dialects: {known}"
                )
            }
            Self::BadDialect(file, error) => {
                let (file, what) = (file.display(), of_dialect(error, l));
                sentence!(l, "{file}：{what}", "{file}: {what}")
            }
            Self::BadTarget(error) => of_target(error, l),
            Self::SaleTwice(sale) => sentence!(
                l,
                "--voucher里{sale}出现了两次；每场秒杀只写一次",
                "--voucher names {sale} twice; pass each sale once"
            ),
            Self::BadToken { file, line } => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}第{line}行不是令牌：只能含可见的ASCII字符，不能有空格",
                    "{file}, line {line} is not a token: only visible ASCII characters, without spaces"
                )
            }
            Self::SystemTwice(name) => sentence!(
                l,
                "有两个系统都叫“{name}”；请给它们不同的名字",
                "two systems are called '{name}'; give each its own name"
            ),
            Self::BadForeignMall { file, line, message } => {
                let (file, at) = (file.display(), line.unwrap_or(1));
                sentence!(
                    l,
                    "{file}第{at}行：{message}；文件格式见使用手册“对比后端与商城”",
                    "{file}, line {at}: {message}; the manual's page 'Comparing back ends and malls' has the format"
                )
            }
            Self::NoPort(name, known) => {
                let known = known.join(if l == Language::Zh { "、" } else { ", " });
                sentence!(l, "没有端口“{name}”；可测的端口：{known}", "no port '{name}'; the ports: {known}")
            }
            #[cfg(feature = "ladder")]
            Self::NoRung(id, known) => {
                let known = known.join(if l == Language::Zh { "、" } else { ", " });
                sentence!(l, "没有第“{id}”级；可选的有：{known}", "no rung '{id}'; the rungs: {known}")
            }
            #[cfg(feature = "ladder")]
            Self::NoWay(name, known) => {
                let known = known.join(if l == Language::Zh { "、" } else { ", " });
                sentence!(l, "没有方式“{name}”；可测的方式：{known}", "no way '{name}'; the ways: {known}")
            }
            Self::NotToBeDestroyed => sentence!(
                l,
                "压测会写入并清空所给的服务器；确认里面没有数据后，请加上--may-destroy-data",
                "the bench fills and clears the servers of --redis and --mysql; if they hold nothing of \
                 value, add --may-destroy-data"
            ),
            Self::OneServer => sentence!(
                l,
                "--redis和--mysql要一起给；都不给时，压测自己启动服务器",
                "--redis and --mysql go together; without both, the bench starts servers of its own"
            ),
            Self::ResumeWithoutResult => sentence!(
                l,
                "--resume还需要--json FILE：中断的测试把进度存在该文件旁边",
                "--resume also needs --json FILE: an interrupted run keeps its state beside that file"
            ),
            Self::BadAgent { file, line } => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}第{line}行不是压测代理；应为bench agent打印的“地址:端口 密钥”",
                    "{file}, line {line} is not an agent; expected ADDRESS:PORT SECRET, as bench agent prints it"
                )
            }
        }
    }
}

fn of_target(error: &TargetError, l: Language) -> String {
    match error {
        TargetError::NotAUrl(url) => sentence!(
            l,
            "--target应为http://主机[:端口][/前缀]，而不是“{url}”（不支持https）",
            "--target: expected http://HOST[:PORT][/PREFIX] and got '{url}' (https is not supported)"
        ),
        TargetError::UnknownHost(host, cause) => sentence!(
            l,
            "--target：找不到主机“{host}”：{cause}",
            "--target: cannot find the host '{host}': {cause}"
        ),
        TargetError::NotThisMachine(address) => sentence!(
            l,
            "--target：{address}不是本机；若这台机器归您所有，或已获其所有者同意，请加--i-may-load-this-host",
            "--target: {address} is another machine; if it is yours, or its owner agrees, add --i-may-load-this-host"
        ),
        TargetError::NoConnection(address, cause) => sentence!(
            l,
            "--target：无法连接{address}：{cause}；请先启动商城",
            "--target: cannot connect to {address}: {cause}; start the mall first"
        ),
    }
}

fn of_dialect(error: &DialectError, l: Language) -> String {
    match error {
        DialectError::Syntax { line: Some(line), message } => {
            sentence!(l, "第{line}行：{message}", "line {line}: {message}")
        }
        DialectError::Syntax { line: None, message } => message.clone(),
        DialectError::Rule { list, fault } => {
            let what = of_rule(fault, l);
            sentence!(l, "answers.{list}：{what}", "answers.{list}: {what}")
        }
        DialectError::Text { field, text } => sentence!(
            l,
            "{field}无法发送：{text:?}；路径以/开头，只含可见的ASCII字符",
            "{field} cannot be sent: {text:?}; a path begins with / and has visible ASCII characters only"
        ),
        DialectError::Stranger { part, placeholder } => {
            sentence!(l, "{part}里不能用{placeholder}", "{placeholder} has no value in {part}")
        }
        DialectError::NotOnce { part, placeholder } => sentence!(
            l,
            "{part}须包含{placeholder}；{{token}}只能出现一次，且不在body里",
            "{part} has to contain {placeholder}; {{token}} once, and not in the body"
        ),
        DialectError::Pointer(pointer) => sentence!(
            l,
            "“{pointer}”不是JSON指针；应如/data/token",
            "'{pointer}' is not a JSON pointer; expected one as in /data/token"
        ),
        DialectError::NotOneSource { part, choice } => sentence!(
            l,
            "{part}：请在{choice}中恰好选一项（http还需要count）",
            "{part}: pass exactly one of {choice} (http with count)"
        ),
    }
}

fn of_rule(fault: &RuleFault, l: Language) -> String {
    match fault {
        RuleFault::NoRule => {
            sentence!(
                l,
                "至少需要一条规则，否则什么都不算成功",
                "at least one rule is needed, or nothing counts as success"
            )
        }
        RuleFault::Empty => sentence!(
            l,
            "规则没有条件；请写status、contains，或at加is",
            "a rule without a condition; pass status, contains, or at with is"
        ),
        RuleFault::BadPointer(pointer) => sentence!(
            l,
            "at“{pointer}”不是JSON指针；应如/code",
            "at: '{pointer}' is not a JSON pointer; expected one as in /code"
        ),
        RuleFault::OnlyPointer(pointer) => {
            sentence!(l, "at“{pointer}”还需要is或contains", "at: '{pointer}' needs is or contains too")
        }
        RuleFault::NoPointer => sentence!(l, "is还需要at，即JSON指针", "is needs at, a JSON pointer"),
    }
}

fn of_shape(error: &ShapeTextError, l: Language) -> String {
    match error {
        ShapeTextError::Piece(piece) => sentence!(
            l,
            "--shape中的“{piece}”无法识别；请写成500x10s或100..2000x500ms，或flash、pulse、steps",
            "--shape: cannot read '{piece}'; pass pieces as in 500x10s or 100..2000x500ms, or flash, pulse or steps"
        ),
        ShapeTextError::NoPeak(name) => sentence!(
            l,
            "--shape {name}需要峰值，请加--rate",
            "--shape {name} needs its peak; pass --rate too"
        ),
        ShapeTextError::PeakOfPieces(_) => sentence!(
            l,
            "--shape的各段已有速率，请去掉--rate",
            "the pieces of --shape have rates of their own; remove --rate"
        ),
        ShapeTextError::TraceLine { line, text } => sentence!(
            l,
            "--trace第{line}行“{text}”无法识别；每行应为“秒 速率”，时间递增",
            "--trace, line {line}: cannot read '{text}'; expected SECONDS RATE, later than the line before"
        ),
        ShapeTextError::NoEnd => sentence!(
            l,
            "--trace的最后一行须是“秒 0”，说明何时结束",
            "--trace: the last line has to say when the trace ends: SECONDS 0"
        ),
        ShapeTextError::Shape(ShapeError::Rate(rate)) => sentence!(
            l,
            "速率{rate}超出范围：应为0，或每秒0.001到10,000,000次",
            "the rate {rate} is out of range; pass 0, or 0.001 to 10,000,000 per second"
        ),
        ShapeTextError::Shape(ShapeError::Length(length)) => sentence!(
            l,
            "时长{length:?}超出范围：应为1毫秒到一周",
            "the length {length:?} is out of range; pass 1 ms to a week"
        ),
        ShapeTextError::Shape(ShapeError::Empty) => {
            sentence!(l, "没有任何请求：速率都是0", "nothing would be sent: every rate is 0")
        }
    }
}
