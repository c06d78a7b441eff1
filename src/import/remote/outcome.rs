//! Results of fetching remote pictures, and reasons why a picture was not fetched.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::{Bilingual, both};

/// Reason why a picture was not fetched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[cfg_attr(not(feature = "https"), expect(dead_code, reason = "pictures are fetched over https only"))]
pub(in crate::import) enum FetchError {
    /// Not an `http` or `https` address.
    NoAddress,
    /// The host name has no address.
    Unresolved,
    /// The host is in a private network.
    Private,
    /// Connection or TLS failed, or the connection broke.
    Unreachable,
    /// The server responded with a status other than 200.
    Refused,
    TooManyRedirects,
    TooLarge,
    TooSlow,
    /// The content is not a picture, or has too many pixels.
    NoPicture,
    /// The time limit for all pictures was reached.
    TimeUp,
}

impl FetchError {
    pub(in crate::import) fn words(self) -> Bilingual {
        match self {
            Self::NoAddress => both("不是http或https网址", "not an http or https address"),
            Self::Unresolved => both("域名无法解析", "the host name cannot be resolved"),
            Self::Private => {
                both("网址指向内网或本机，不予访问", "in a private network or on this machine: not fetched")
            }
            Self::Unreachable => both("无法连接", "cannot connect"),
            Self::Refused => both("服务器拒绝", "the server responds with a status other than 200"),
            Self::TooManyRedirects => both("重定向次数过多", "too many redirects"),
            Self::TooLarge => both("超过5 MiB", "larger than 5 MiB"),
            Self::TooSlow => both("超过15秒", "took longer than 15 s"),
            Self::NoPicture => both("内容不是可用的图片", "not a picture, or too many pixels"),
            Self::TimeUp => both("总时间超过30分钟", "all pictures together took longer than 30 minutes"),
        }
    }
}

/// Result of fetching remote pictures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fetched {
    /// Paths of fetched pictures in the mall, by address.
    pub(in crate::import) paths: BTreeMap<String, String>,
    /// Addresses not fetched, by reason. Sorted, since downloads finish in any order.
    pub(in crate::import) failed: BTreeMap<FetchError, BTreeSet<String>>,
}
