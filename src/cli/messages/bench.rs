//! Messages for flags of a bench that cannot be used.

use crate::bench::load::{ShapeError, ShapeTextError};
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
        }
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
