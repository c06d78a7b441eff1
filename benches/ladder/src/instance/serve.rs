//! The main loop of an instance.

use std::io::BufRead as _;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::database::Database;
use super::gate::Gate;
use super::output::Output;
use super::parts::Parts;
use super::protocol::{Instruction, Line, Task};
use super::redis_client::Redis;
use super::request::{Request, Shared};
use crate::catalogue;
use crate::error::LadderError;
use crate::reply::Reply;
use crate::rungs::Seller;

/// Serves the rung that the first line of standard input names, until standard input ends.
///
/// # Errors
/// [`LadderError::Io`], [`LadderError::Json`]: the first line cannot be read.
pub fn run_instance() -> Result<(), LadderError> {
    // A stopped process does not see the end of its input.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let task: Task = serde_json::from_str(&line)?;
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if let Ok(instruction) = serde_json::from_str(&line) {
                let _ = sender.send(instruction);
            }
        }
        // The bench is gone, or has no more work for this instance.
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(serve(task, receiver));
    runtime.shutdown_background();
    Ok(())
}

async fn serve(task: Task, mut instructions: mpsc::UnboundedReceiver<Instruction>) {
    let output = Output::start();
    let shared = Arc::new(Shared {
        instance: task.instance,
        is_traced: task.is_traced,
        gate: Gate::default(),
        output: output.clone(),
    });
    let seller = match open(&task, &shared).await {
        Ok(seller) => seller,
        Err(error) => return output.line(Line::Unable(error.to_string())),
    };
    output.line(Line::Ready);
    while let Some(instruction) = instructions.recv().await {
        match instruction {
            Instruction::Hold(point) => shared.gate.hold(point),
            Instruction::LetGo(point) => shared.gate.let_go(point),
            _ => {
                let (seller, shared) = (Arc::clone(&seller), Arc::clone(&shared));
                tokio::spawn(async move {
                    let line = reply(instruction, &*seller, &shared).await;
                    if let Some(line) = line {
                        shared.output.line(line);
                    }
                });
            }
        }
    }
}

async fn open(task: &Task, shared: &Arc<Shared>) -> Result<Arc<dyn Seller>, LadderError> {
    let parts = Parts {
        redis: Redis::new(task.redis.clone()),
        masters: task.masters.iter().map(|address| Redis::new(vec![address.clone()])).collect(),
        database: Database::new(&task.mysql)?,
        instance: task.instance,
    };
    let unknown = || LadderError::NotReached(format!("{} is no rung of this ladder", task.rung));
    let seller = catalogue::build(&task.rung, parts).ok_or_else(unknown)?;
    Arc::clone(&seller).start(&Request::of_worker(shared)).await?;
    Ok(seller)
}

async fn reply(instruction: Instruction, seller: &dyn Seller, shared: &Arc<Shared>) -> Option<Line> {
    Some(match instruction {
        Instruction::Buy { request, user } => {
            let reply = seller.buy(&Request::new(request, user, shared)).await;
            Line::Replied(request, reply.unwrap_or_else(|error| Reply::Failed(error.to_string())))
        }
        Instruction::GiveBack { request, user } => {
            let done = seller.give_back(&Request::new(request, user, shared)).await;
            Line::GivenBack(request, done.err().map(|error| error.to_string()))
        }
        Instruction::Stock { request } => {
            // A server that cannot be asked has no stock: the books of the run say so.
            Line::Number(request, seller.stock(&Request::of_worker(shared)).await.unwrap_or(i64::MIN))
        }
        Instruction::Pending { request } => {
            Line::Number(request, seller.pending(&Request::of_worker(shared)).await.unwrap_or(i64::MAX))
        }
        Instruction::Hold(_) | Instruction::LetGo(_) => return None,
    })
}
