//! The process of a producer or a consumer: gets commands on its standard input, and writes a reply to each.
//!
//! A way within one process has one station for all roles.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::error::{QueueError, broken};
use crate::load;
use crate::order::{END, Order};
use crate::protocol::{Call, Command, Event, Reply, Role, Task, Until};
use crate::queue::{Consumer, Producer, Queue, SendOutcome};
use crate::ways;

/// Plays the roles that standard input asks for. Ends with standard input: the bench is gone then.
///
/// # Errors
/// [`QueueError::Io`], [`QueueError::Json`]: the task or a command cannot be read. Otherwise the queue cannot
/// be opened.
pub fn run_station() -> Result<(), QueueError> {
    // A suspended process does not notice the end of its standard input.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(std::io::Error::from)?;
    let mut lines = std::io::stdin().lock().lines();
    let Some(first) = lines.next() else { return Ok(()) };
    let Task { way, place } = serde_json::from_str(&first?)?;
    let runtime = Runtime::new()?;
    let queue = match runtime.block_on(ways::open(&way, &place)) {
        Ok(queue) => queue,
        Err(error) => {
            // Whichever role this station was started for.
            Role::ALL.iter().for_each(|role| reply(*role, Event::Failed(error.to_string())));
            return Err(error);
        }
    };
    let mut roles: HashMap<Role, mpsc::UnboundedSender<Command>> = HashMap::new();
    for line in lines {
        let Call { role, command } = serde_json::from_str(&line?)?;
        let sender = roles.entry(role).or_insert_with(|| {
            let (sender, commands) = mpsc::unbounded_channel();
            runtime.spawn(play(Arc::clone(&queue), role, commands));
            sender
        });
        sender.send(command).map_err(|_| broken("a role has ended"))?;
    }
    // Consumers may wait for ever, and the files of a mall are the controller's to remove.
    std::process::exit(0);
}

/// Executes the commands of a role in their order.
async fn play(queue: Arc<dyn Queue>, role: Role, mut commands: mpsc::UnboundedReceiver<Command>) {
    let mut actor = Actor { queue, role, producer: None, consumer: None };
    while let Some(command) = commands.recv().await {
        let event = match actor.execute(command).await {
            Ok(event) => event,
            Err(error) => Event::Failed(error.to_string()),
        };
        reply(role, event);
    }
}

fn reply(role: Role, event: Event) {
    if let Ok(text) = serde_json::to_string(&Reply { role, event }) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

struct Actor {
    queue: Arc<dyn Queue>,
    role: Role,
    producer: Option<Box<dyn Producer>>,
    consumer: Option<Box<dyn Consumer>>,
}

impl Actor {
    async fn execute(&mut self, command: Command) -> Result<Event, QueueError> {
        Ok(match command {
            Command::Open if self.role == Role::Producer => self.producer().await.map(|_| Event::Done)?,
            Command::Open => self.consumer().await.map(|_| Event::Done)?,
            Command::Send { number } => {
                let outcome = self.producer().await?.send(&Order::new(number)).await?;
                Event::Sent { is_accepted: outcome == SendOutcome::Accepted }
            }
            Command::Fill { from, count, pad } => {
                let orders = (from..from + count).map(|number| Order::padded(number, pad)).collect();
                Event::Filled { accepted: self.producer().await?.fill(orders).await? }
            }
            Command::Take => Event::Numbers(numbers(&self.consumer().await?.receive().await?)),
            Command::Work => self.consumer().await?.work().await.map(|()| Event::Done)?,
            Command::Settle => self.consumer().await?.settle().await.map(|()| Event::Done)?,
            Command::Consume(until) => Event::Numbers(consume(&mut **self.consumer().await?, &until).await?),
            Command::Bytes => Event::Bytes(self.queue.bytes().await?),
            Command::Listeners => Event::Listeners(self.queue.listeners().await?),
            Command::Replay { from } => Event::Numbers(self.queue.replay(from).await?),
            Command::LimitMemory { room } => self.queue.limit_memory(room).await.map(|()| Event::Done)?,
            Command::Rates { span_ms, producers } => {
                Event::Rates(load::rates(&self.queue, span_ms, producers).await?)
            }
            Command::Latency { count, per_s } => {
                Event::Latency(load::latency(&self.queue, count, per_s).await?)
            }
            Command::Remove => self.queue.remove().await.map(|()| Event::Done)?,
        })
    }

    async fn producer(&mut self) -> Result<&mut Box<dyn Producer>, QueueError> {
        if self.producer.is_none() {
            self.producer = Some(self.queue.producer().await?);
        }
        self.producer.as_mut().ok_or_else(|| broken("a role without a producer"))
    }

    async fn consumer(&mut self) -> Result<&mut Box<dyn Consumer>, QueueError> {
        if self.consumer.is_none() {
            self.consumer = Some(self.queue.consumer(&self.role.name()).await?);
        }
        self.consumer.as_mut().ok_or_else(|| broken("a role without a consumer"))
    }
}

fn numbers(orders: &[Order]) -> Vec<u64> {
    orders.iter().map(|order| order.number).collect()
}

/// Receives, works and acknowledges. Returns the numbers in the order of receiving, without the marks.
async fn consume(consumer: &mut dyn Consumer, until: &Until) -> Result<Vec<u64>, QueueError> {
    let dead: &[String] = match until {
        Until::End { dead } => dead,
        Until::Drained => &[],
    };
    let has_heritage = !dead.is_empty();
    if has_heritage {
        consumer.recover(dead).await?;
    }
    let mut received = Vec::new();
    let mut has_ended = false;
    loop {
        let is_over = match until {
            Until::End { .. } => has_ended && (!has_heritage || consumer.outstanding().await? == 0),
            Until::Drained => consumer.outstanding().await? == 0,
        };
        if is_over {
            return Ok(received);
        }
        if has_ended {
            consumer.recover(dead).await?;
        }
        let orders = consumer.receive().await?;
        consumer.work().await?;
        consumer.settle().await?;
        has_ended |= orders.iter().any(|order| order.number >= END);
        received.extend(numbers(&orders).into_iter().filter(|number| *number < END));
    }
}
