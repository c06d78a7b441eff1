//! An instance, from outside: a process, which can be stopped, resumed and killed.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};

use crate::error::LadderError;
use crate::instance::{Instruction, Line, Task};
use crate::point::Point;
use crate::reply::Reply;
use crate::trace::Event;

/// Time limit for an instance to be ready.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit of a request, beyond the patience of every rung.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Makes the command that runs an instance.
pub type Launch = Arc<dyn Fn() -> std::io::Result<Command> + Send + Sync>;

/// Why a request has no reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Silence {
    /// The instance ended.
    Ended,
    /// The instance runs, and says nothing.
    Timeout,
}

/// What an instance said.
#[derive(Debug, Default)]
struct Heard {
    replies: HashMap<u32, oneshot::Sender<Line>>,
    has_ended: bool,
}

/// A running instance; killed with the value.
#[derive(Debug)]
pub(crate) struct Instance {
    child: Child,
    instructions: mpsc::UnboundedSender<Instruction>,
    heard: Arc<Mutex<Heard>>,
    held: watch::Receiver<HashMap<Point, usize>>,
    next: Arc<AtomicU32>,
}

impl Instance {
    /// Starts an instance, and waits until it is ready. Requests are numbered by `next`, events go to
    /// `events`.
    pub(crate) async fn start(
        launch: &Launch,
        task: &Task,
        next: &Arc<AtomicU32>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<Self, LadderError> {
        let mut command = tokio::process::Command::from(launch()?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let no_pipe = || LadderError::NotReached("an instance has no pipes".to_owned());
        let mut input = child.stdin.take().ok_or_else(no_pipe)?;
        let output = child.stdout.take().ok_or_else(no_pipe)?;
        input.write_all(format!("{}\n", serde_json::to_string(task)?).as_bytes()).await?;
        let (instructions, mut queued) = mpsc::unbounded_channel::<Instruction>();
        tokio::spawn(async move {
            while let Some(instruction) = queued.recv().await {
                let Ok(text) = serde_json::to_string(&instruction) else { continue };
                // An error means that the instance is gone, which its output says too.
                if input.write_all(format!("{text}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (held_sender, held) = watch::channel(HashMap::new());
        let (ready, is_ready) = oneshot::channel();
        tokio::spawn(listen(output, Arc::clone(&heard), held_sender, events, ready));
        let unable = |why: &str| LadderError::NotReached(format!("an instance did not start: {why}"));
        match tokio::time::timeout(START_TIMEOUT, is_ready).await {
            Ok(Ok(Line::Ready)) => {}
            Ok(Ok(Line::Unable(why))) => return Err(unable(&why)),
            Ok(_) => return Err(unable("its process ended")),
            Err(_) => return Err(unable("it was not ready within a minute")),
        }
        Ok(Self { child, instructions, heard, held, next: Arc::clone(next) })
    }

    /// Asks for a unit. The request is sent with the call, the future waits. `None` if the instance ended
    /// before its reply; a failure if it is silent for too long.
    pub(crate) fn buy(&self, user: u64) -> (u32, impl Future<Output = Option<Reply>> + use<>) {
        let (request, line) = self.ask(&|request| Instruction::Buy { request, user });
        let reply = async move {
            match line.await {
                Ok(Line::Replied(_, reply)) => Some(reply),
                Err(Silence::Timeout) => Some(Reply::Failed("no reply within 20 s".to_owned())),
                Ok(_) | Err(Silence::Ended) => None,
            }
        };
        (request, reply)
    }

    /// Cancels the order of a user.
    pub(crate) async fn give_back(&self, user: u64) -> Result<(), LadderError> {
        match self.ask(&|request| Instruction::GiveBack { request, user }).1.await {
            Ok(Line::GivenBack(_, None)) => Ok(()),
            Ok(Line::GivenBack(_, Some(why))) => Err(LadderError::NotReached(why)),
            _ => Err(LadderError::NotReached("an instance does not cancel an order".to_owned())),
        }
    }

    /// Returns the stock, as the rung has it.
    pub(crate) async fn stock(&self) -> Option<i64> {
        self.number(|request| Instruction::Stock { request }).await
    }

    /// Returns the number of accepted claims that wait for their order.
    pub(crate) async fn pending(&self) -> Option<i64> {
        self.number(|request| Instruction::Pending { request }).await
    }

    async fn number(&self, instruction: fn(u32) -> Instruction) -> Option<i64> {
        match self.ask(&instruction).1.await {
            Ok(Line::Number(_, number)) => Some(number),
            _ => None,
        }
    }

    fn ask(
        &self,
        instruction: &dyn Fn(u32) -> Instruction,
    ) -> (u32, impl Future<Output = Result<Line, Silence>> + use<>) {
        let request = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            if !heard.has_ended {
                heard.replies.insert(request, sender);
            }
        }
        // An error means that the instance is gone, and the sender above is too.
        let _ = self.instructions.send(instruction(request));
        let line = async move {
            let line = tokio::time::timeout(REPLY_TIMEOUT, receiver).await.map_err(|_| Silence::Timeout)?;
            line.map_err(|_| Silence::Ended)
        };
        (request, line)
    }

    /// Holds requests and workers at `point`.
    pub(crate) fn hold(&self, point: Point) {
        let _ = self.instructions.send(Instruction::Hold(point));
    }

    /// Lets all at `point` go on.
    pub(crate) fn let_go(&self, point: Point) {
        let _ = self.instructions.send(Instruction::LetGo(point));
    }

    /// Returns the number of requests and workers that were held at `point` so far.
    pub(crate) fn held(&self, point: Point) -> usize {
        self.held.borrow().get(&point).copied().unwrap_or(0)
    }

    /// Waits until `number` were held at `point`. Returns false if that takes longer than `patience`.
    pub(crate) async fn holds(&self, point: Point, number: usize, patience: Duration) -> bool {
        let mut held = self.held.clone();
        let enough = held.wait_for(|held| held.get(&point).copied().unwrap_or(0) >= number);
        tokio::time::timeout(patience, enough).await.is_ok_and(|found| found.is_ok())
    }

    /// Stops the process (SIGSTOP).
    pub(crate) fn stop(&self) -> Result<(), LadderError> {
        self.signal(Signal::STOP)
    }

    /// Resumes the process (SIGCONT).
    pub(crate) fn resume(&self) -> Result<(), LadderError> {
        self.signal(Signal::CONT)
    }

    /// Kills the process (SIGKILL), and waits for its end.
    pub(crate) async fn kill(mut self) -> Result<(), LadderError> {
        Ok(self.child.kill().await?)
    }

    fn signal(&self, signal: Signal) -> Result<(), LadderError> {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let gone = || LadderError::NotReached("an instance ended early".to_owned());
        kill_process(id.ok_or_else(gone)?, signal).map_err(|error| LadderError::Io(error.into()))
    }
}

async fn listen(
    output: ChildStdout,
    heard: Arc<Mutex<Heard>>,
    held: watch::Sender<HashMap<Point, usize>>,
    events: mpsc::UnboundedSender<Event>,
    ready: oneshot::Sender<Line>,
) {
    let mut lines = BufReader::new(output).lines();
    let mut ready = Some(ready);
    while let Ok(Some(text)) = lines.next_line().await {
        let Ok(line) = serde_json::from_str::<Line>(&text) else { continue };
        match line {
            Line::Ready | Line::Unable(_) => {
                let _ = ready.take().map(|ready| ready.send(line));
            }
            Line::Held(point) => held.send_modify(|held| *held.entry(point).or_default() += 1),
            Line::Event(event) => {
                let _ = events.send(event);
            }
            Line::Replied(request, _) | Line::GivenBack(request, _) | Line::Number(request, _) => {
                let asker = heard.lock().unwrap_or_else(PoisonError::into_inner).replies.remove(&request);
                let _ = asker.map(|asker| asker.send(line));
            }
        }
    }
    let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    heard.has_ended = true;
    heard.replies.clear();
}
