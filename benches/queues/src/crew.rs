//! The processes of one experiment, and the commands to them.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{QueueError, broken};
use crate::order::END;
use crate::protocol::{Call, Command, Event, Reply, Role, Task, Until};
use crate::queue::Place;
use crate::ways::{Component, Way};

/// Longest time of a command, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Characters of a station's last words.
const LAST_WORDS: usize = 300;

/// The processes of one experiment. All end with the value.
pub(crate) struct Crew<'stage> {
    /// Program and arguments of a station.
    station: &'stage [OsString],
    /// Whether the queue is on servers of somebody else, and must be removed.
    must_clean: bool,
    way: &'static Way,
    place: Place,
    stations: BTreeMap<Role, Station>,
    /// Roles whose process was killed with something in hand or might have been.
    dead: Vec<String>,
    /// Marks of the end that were sent.
    ends: u64,
}

impl<'stage> Crew<'stage> {
    /// Creates the queue of an experiment, and starts the station of its producer.
    pub(crate) fn gather(
        station: &'stage [OsString],
        must_clean: bool,
        way: &'static Way,
        place: Place,
    ) -> Result<Self, QueueError> {
        let (stations, dead) = (BTreeMap::new(), Vec::new());
        let mut crew = Self { station, must_clean, way, place, stations, dead, ends: 0 };
        crew.ask(Role::Producer, Command::Open)?;
        Ok(crew)
    }

    /// Returns whether the queue is in the process of its producer and consumers.
    pub(crate) fn is_in_process(&self) -> bool {
        self.way.component == Component::Process
    }

    /// Sends a command to a role, whose station starts if it does not run.
    pub(crate) fn tell(&mut self, role: Role, command: Command) -> Result<(), QueueError> {
        let at = self.station_of(role);
        if !self.stations.contains_key(&at) {
            let task = Task { way: self.way.name.to_owned(), place: self.place.clone() };
            self.stations.insert(at, Station::start(self.station, &task)?);
            self.place.is_new = false;
        }
        let station = self.stations.get_mut(&at).ok_or_else(|| broken("a role without a station"))?;
        station.write(&Call { role, command })
    }

    /// Waits for the reply to the last command to a role.
    pub(crate) fn hear(&mut self, role: Role) -> Result<Event, QueueError> {
        match self.hear_within(role, PATIENCE)? {
            Some(event) => Ok(event),
            None => Err(broken(format!("{}: the {} does not reply", self.way.name, role.name()))),
        }
    }

    /// Waits for the reply to the last command to a role; `None` if there is none yet.
    pub(crate) fn hear_within(&mut self, role: Role, wait: Duration) -> Result<Option<Event>, QueueError> {
        let at = self.station_of(role);
        let way = self.way.name;
        let station = self.stations.get_mut(&at).ok_or_else(|| broken("a role without a station"))?;
        match station.hear(role, wait)? {
            Some(Event::Failed(why)) => Err(broken(format!("{way}: the {} failed: {why}", role.name()))),
            event => Ok(event),
        }
    }

    /// Sends a command and waits for the reply.
    pub(crate) fn ask(&mut self, role: Role, command: Command) -> Result<Event, QueueError> {
        self.tell(role, command)?;
        self.hear(role)
    }

    /// Sends a message; it must be accepted.
    pub(crate) fn send(&mut self, number: u64) -> Result<(), QueueError> {
        match self.ask(Role::Producer, Command::Send { number })? {
            Event::Sent { is_accepted: true } => Ok(()),
            event => Err(broken(format!("{}: message {number} was not accepted: {event:?}", self.way.name))),
        }
    }

    /// Sends the mark of the end.
    pub(crate) fn send_end(&mut self) -> Result<(), QueueError> {
        self.ends += 1;
        self.send(END + self.ends)
    }

    /// Waits for the numbers that a role was told to receive.
    pub(crate) fn numbers(&mut self, role: Role) -> Result<Vec<u64>, QueueError> {
        match self.hear(role)? {
            Event::Numbers(numbers) => Ok(numbers),
            event => Err(broken(format!("{}: no numbers but {event:?}", self.way.name))),
        }
    }

    /// Waits for the first reply of two roles. Returns the numbers, the role, and the other role.
    pub(crate) fn first_of(&mut self, [one, other]: [Role; 2]) -> Result<(Vec<u64>, Role, Role), QueueError> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            for (role, rest) in [(one, other), (other, one)] {
                match self.hear_within(role, POLL_INTERVAL)? {
                    Some(Event::Numbers(numbers)) => return Ok((numbers, role, rest)),
                    Some(event) => {
                        return Err(broken(format!("{}: no numbers but {event:?}", self.way.name)));
                    }
                    None => {}
                }
            }
        }
        Err(broken(format!("{}: neither consumer replies", self.way.name)))
    }

    /// Waits until at least `count` consumers listen, where messages do not wait for their consumers.
    pub(crate) fn await_listeners(&mut self, count: usize) -> Result<(), QueueError> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.ask(Role::Producer, Command::Listeners)? {
                Event::Listeners(Some(listeners)) if listeners < count => {}
                _ => return Ok(()),
            }
            if Instant::now() > until {
                return Err(broken(format!("{}: no consumer listens", self.way.name)));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Hands messages over one at a time: each is received, worked on and acknowledged before the next.
    pub(crate) fn exchange(&mut self, consumer: Role, numbers: &[u64]) -> Result<(), QueueError> {
        for number in numbers {
            self.hand_over(consumer, *number)?;
            self.ask(consumer, Command::Work)?;
            self.ask(consumer, Command::Settle)?;
        }
        Ok(())
    }

    /// Hands a message over. The consumer has it in hand then.
    pub(crate) fn hand_over(&mut self, consumer: Role, number: u64) -> Result<(), QueueError> {
        self.tell(consumer, Command::Take)?;
        self.await_listeners(1)?;
        self.send(number)?;
        let received = self.numbers(consumer)?;
        if received == [number] {
            return Ok(());
        }
        Err(broken(format!("{}: {received:?} was received, and not {number}", self.way.name)))
    }

    /// Lets a consumer receive all that is there, and what dead ones had in hand. Returns the numbers.
    pub(crate) fn consume_all(&mut self, consumer: Role) -> Result<Vec<u64>, QueueError> {
        let dead = self.dead();
        self.ask(consumer, Command::Open)?;
        self.tell(consumer, Command::Consume(Until::End { dead }))?;
        self.await_listeners(1)?;
        self.send_end()?;
        self.numbers(consumer)
    }

    /// Returns the bytes that hold the messages.
    pub(crate) fn bytes(&mut self) -> Result<Option<u64>, QueueError> {
        match self.ask(Role::Producer, Command::Bytes)? {
            Event::Bytes(bytes) => Ok(bytes),
            event => Err(broken(format!("no bytes but {event:?}"))),
        }
    }

    /// Sends many messages. Returns the number accepted.
    pub(crate) fn fill(&mut self, from: u64, count: u64, pad: usize) -> Result<u64, QueueError> {
        match self.ask(Role::Producer, Command::Fill { from, count, pad })? {
            Event::Filled { accepted } => Ok(accepted),
            event => Err(broken(format!("no count of messages but {event:?}"))),
        }
    }

    /// Kills the process of a role (SIGKILL), and with it all roles that share the process.
    pub(crate) fn kill(&mut self, role: Role) -> Result<(), QueueError> {
        let at = self.station_of(role);
        if let Some(station) = self.stations.remove(&at) {
            station.end()?;
            self.dead.push(role.name());
        }
        Ok(())
    }

    /// Returns the names of the roles that were killed.
    pub(crate) fn dead(&self) -> Vec<String> {
        self.dead.clone()
    }

    /// Suspends the process of a role (SIGSTOP), or resumes it.
    pub(crate) fn suspend(&self, role: Role, is_suspended: bool) -> Result<(), QueueError> {
        let signal = if is_suspended { Signal::STOP } else { Signal::CONT };
        match self.stations.get(&self.station_of(role)) {
            Some(station) => station.signal(signal),
            None => Ok(()),
        }
    }

    /// Ends the experiment: removes the queue from servers that the bench did not start.
    pub(crate) fn leave(mut self) -> Result<(), QueueError> {
        if self.must_clean {
            self.ask(Role::Producer, Command::Remove)?;
        }
        Ok(())
    }

    /// Returns the role at whose station a role is played.
    fn station_of(&self, role: Role) -> Role {
        if self.is_in_process() { Role::Producer } else { role }
    }
}

/// A process with one or several roles. Dropping the value kills the process.
struct Station {
    child: Child,
    input: ChildStdin,
    events: HashMap<Role, Receiver<Event>>,
    words: Option<std::thread::JoinHandle<String>>,
}

impl Station {
    fn start(words: &[OsString], task: &Task) -> Result<Self, QueueError> {
        let (program, arguments) = words.split_first().ok_or_else(|| broken("no program"))?;
        let mut command = std::process::Command::new(program);
        command.args(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let missing = || broken("a process without standard streams");
        let mut input = child.stdin.take().ok_or_else(missing)?;
        writeln!(input, "{}", serde_json::to_string(task)?)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (senders, receivers): (HashMap<_, _>, HashMap<_, _>) = Role::ALL
            .into_iter()
            .map(|role| {
                let (sender, receiver) = channel();
                ((role, sender), (role, receiver))
            })
            .unzip();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(Reply { role, event }) = serde_json::from_str(&line) else { return };
                if senders.get(&role).is_none_or(|sender| sender.send(event).is_err()) {
                    return;
                }
            }
        });
        let words = child.stderr.take().map(|mut errors| {
            std::thread::spawn(move || {
                let mut words = Vec::new();
                let _ = errors.read_to_end(&mut words);
                String::from_utf8_lossy(&words).trim_end().to_owned()
            })
        });
        Ok(Self { child, input, events: receivers, words })
    }

    fn write(&mut self, call: &Call) -> Result<(), QueueError> {
        Ok(writeln!(self.input, "{}", serde_json::to_string(call)?)?)
    }

    fn hear(&mut self, role: Role, wait: Duration) -> Result<Option<Event>, QueueError> {
        let events = self.events.get(&role).ok_or_else(|| broken("an unknown role"))?;
        match events.recv_timeout(wait) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
                let from = words.ceil_char_boundary(words.len().saturating_sub(LAST_WORDS));
                Err(broken(format!("a station ended early: {}", &words[from..])))
            }
        }
    }

    fn signal(&self, signal: Signal) -> Result<(), QueueError> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let id = id.ok_or_else(|| broken("a process without an id"))?;
        kill_process(id, signal).map_err(|error| QueueError::Io(error.into()))
    }

    /// Kills the process, and waits for its end.
    fn end(mut self) -> Result<(), QueueError> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        // Errors mean that the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
