//! Listening sockets that the service manager holds for the mall. They stay open during a restart: clients
//! that connect meanwhile wait instead of being refused.

use std::io;

use listenfd::ListenFd;

use crate::cli::messages::of_system;
use crate::http::Bound;
use crate::language::{Language, sentence};

/// What is wrong with the passed sockets.
#[derive(Debug)]
pub(in crate::cli) enum SocketMisuse {
    /// More than two; the number.
    TooMany(usize),
    /// No listening TCP socket; its position from 1, and the cause.
    NotTcp(usize, io::Error),
}

/// Addresses of a mall at passed sockets.
pub(in crate::cli) struct PassedSockets {
    /// For everybody; in place of `--listen`.
    pub(in crate::cli) main: Bound,
    /// For operators alone; in place of `--admin-listen`.
    pub(in crate::cli) operators: Option<Bound>,
}

/// Takes over the sockets passed to this process: the first for everybody, the second, if there is one, for
/// operators alone. `None` without any.
///
/// # Errors
/// [`SocketMisuse`]: more than two sockets, or a socket of another kind.
pub(in crate::cli) fn passed_sockets() -> Result<Option<PassedSockets>, SocketMisuse> {
    let mut passed = ListenFd::from_env();
    if passed.len() > 2 {
        return Err(SocketMisuse::TooMany(passed.len()));
    }
    let mut take = |position: usize| -> io::Result<Option<Bound>> {
        if position >= passed.len() {
            return Ok(None);
        }
        let listener = passed.take_tcp_listener(position)?;
        listener
            .map(|listener| {
                let bound = Bound::new(listener)?;
                tracing::info!(address = %bound.address(), "listening on a socket of the service manager");
                Ok(bound)
            })
            .transpose()
    };
    let mut taken = |position| take(position).map_err(|error| SocketMisuse::NotTcp(position + 1, error));
    let Some(main) = taken(0)? else { return Ok(None) };
    Ok(Some(PassedSockets { main, operators: taken(1)? }))
}

impl SocketMisuse {
    pub(in crate::cli) fn words(&self, l: Language) -> String {
        match self {
            Self::TooMany(number) => sentence!(
                l,
                "服务管理器传入了{number}个套接字；最多两个：第一个给所有人，第二个只给管理员",
                "the service manager passed {number} sockets; a mall takes two at most: the first for everybody, \
                 the second for operators alone"
            ),
            Self::NotTcp(position, error) => {
                let why = of_system(error, l);
                sentence!(
                    l,
                    "服务管理器传入的第{position}个套接字不是监听中的TCP套接字：{why}",
                    "socket {position} from the service manager is no listening TCP socket: {why}"
                )
            }
        }
    }
}
