//! The receipt printer against real sockets, terminal lines, devices and files: what arrives, and what is
//! reported if the other side refuses, is silent, slow or gone.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use mallbox::mall::PrinterRefusal;
use mallbox::mall::operator::printing::{PaperColumns, Printer, PrinterAddress, PrinterOptions};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use socket2::{Domain, Socket, Type};

/// Questions of the mall, and the answer of a printer that is ready.
const OFFLINE_CAUSE: &[u8] = &[0x10, 4, 2];
const PAPER_SENSORS: &[u8] = &[0x10, 4, 4];
const READY: u8 = 0x12;
const COVER_OPEN: u8 = READY | 0x04;
const STOPPED_FOR_PAPER: u8 = READY | 0x20;
const PAPER_END: u8 = READY | 0x60;
/// More than the buffers of a connection hold.
const LARGE: usize = 16 << 20;

fn printer(address: &str) -> Printer {
    let address = PrinterAddress::parse(address).unwrap();
    Printer::new(PrinterOptions { address, columns: PaperColumns::Narrow, heading: "mallbox".to_owned() })
}

fn at(address: SocketAddr) -> Printer {
    printer(&format!("tcp://{address}"))
}

fn device(path: &Path) -> Printer {
    printer(path.to_str().unwrap())
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn print(printer: &Printer, job: &[u8]) -> Result<(), PrinterRefusal> {
    run(printer.print(job.to_vec()))
}

/// A printer in the network that treats its next connection so.
fn served<T: Send + 'static>(
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (Printer, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let printer = at(listener.local_addr().unwrap());
    (printer, thread::spawn(move || serve(listener.accept().unwrap().0)))
}

/// Reads whatever comes until the end of the connection.
fn read_all(mut stream: TcpStream) -> Vec<u8> {
    let mut job = Vec::new();
    stream.read_to_end(&mut job).unwrap();
    job
}

/// Answers questions in their order, and returns all bytes received. Bytes of a job are no questions.
fn answering(mut stream: TcpStream, answers: Vec<Vec<u8>>) -> Vec<u8> {
    let (mut received, mut asked) = (Vec::new(), 0);
    let mut buffer = [0; 4096];
    for answer in answers {
        loop {
            let questions =
                received[asked..].windows(3).position(|w| w == OFFLINE_CAUSE || w == PAPER_SENSORS);
            if let Some(found) = questions {
                asked += found + 3;
                stream.write_all(&answer).unwrap();
                break;
            }
            match stream.read(&mut buffer) {
                Ok(length) if length > 0 => received.extend_from_slice(&buffer[..length]),
                _ => return received,
            }
        }
    }
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        received.extend_from_slice(&buffer[..length]);
    }
    received
}

fn with_answers(answers: &[&[u8]]) -> (Printer, JoinHandle<Vec<u8>>) {
    let answers = answers.iter().map(|answer| answer.to_vec()).collect();
    served(move |stream| answering(stream, answers))
}

#[test]
fn printer_without_answers_gets_the_job_whole() {
    let (printer, paper) = served(read_all);
    let job = vec![0xA1; 100_000];
    assert_eq!(print(&printer, &job), Ok(()));
    assert_eq!(paper.join().unwrap(), [OFFLINE_CAUSE, &job].concat());
}

#[test]
fn printer_that_answers_is_asked_before_and_after_the_job() {
    let (printer, paper) = with_answers(&[&[READY][..]; 4]);
    assert_eq!(print(&printer, b"job"), Ok(()));
    let questions = [OFFLINE_CAUSE, PAPER_SENSORS].concat();
    assert_eq!(paper.join().unwrap(), [&questions[..], b"job", &questions].concat());
}

#[test]
fn missing_paper_and_an_open_cover_are_told_and_nothing_is_printed() {
    let ready: &[u8] = &[READY];
    for (answers, refusal) in [
        (&[&[STOPPED_FOR_PAPER][..]][..], PrinterRefusal::OutOfPaper),
        (&[ready, &[PAPER_END]], PrinterRefusal::OutOfPaper),
        (&[&[COVER_OPEN]], PrinterRefusal::CoverOpen),
        // An automatic report of the printer, which is no answer, comes before.
        (&[&[0x10, 0, 0, 0x0F, COVER_OPEN]], PrinterRefusal::CoverOpen),
    ] {
        let (printer, paper) = with_answers(answers);
        assert_eq!(print(&printer, b"job"), Err(refusal));
        let received = paper.join().unwrap();
        assert!(!received.windows(3).any(|bytes| bytes == b"job"), "{received:?}");
    }
}

#[test]
fn paper_that_ends_during_the_job_is_told() {
    let (printer, paper) = with_answers(&[&[READY], &[READY], &[STOPPED_FOR_PAPER]]);
    assert_eq!(print(&printer, b"job"), Err(PrinterRefusal::OutOfPaper));
    assert!(paper.join().unwrap().windows(3).any(|bytes| bytes == b"job"));
}

#[test]
fn bytes_that_are_no_answers_count_as_silence() {
    let (printer, paper) = with_answers(&[&[0, 0xFF, b'x']]);
    assert_eq!(print(&printer, b"job"), Ok(()));
    assert_eq!(paper.join().unwrap(), [OFFLINE_CAUSE, b"job"].concat());
}

#[test]
fn printer_that_refuses_is_told_from_one_that_is_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(print(&at(address), b"job"), Err(PrinterRefusal::Refused));

    // With its queue full, the system answers no further attempt.
    let silent = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    silent.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    silent.listen(0).unwrap();
    let address = silent.local_addr().unwrap().as_socket().unwrap();
    let _queued = TcpStream::connect(address).unwrap();
    assert_eq!(print(&at(address), b"job"), Err(PrinterRefusal::Silent));
}

#[test]
fn printer_that_takes_too_little_is_slow() {
    let (printer, paper) = served(|mut stream| {
        let mut buffer = [0; 512];
        let mut taken = 0;
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            taken += length;
            thread::sleep(std::time::Duration::from_millis(20));
            if taken > LARGE / 1024 {
                break;
            }
        }
        stream
    });
    assert_eq!(print(&printer, &vec![b' '; LARGE]), Err(PrinterRefusal::Slow));
    drop(printer);
    paper.join().unwrap();
}

#[test]
fn connection_that_breaks_in_the_middle_is_told() {
    // At once, after the question, and in the middle of the job.
    for taken in [0, 3, 50_000] {
        let (printer, paper) = served(move |mut stream| {
            let mut part = vec![0; taken];
            stream.read_exact(&mut part).unwrap();
        });
        assert_eq!(print(&printer, &vec![b' '; LARGE]), Err(PrinterRefusal::Closed), "after {taken} bytes");
        paper.join().unwrap();
    }
}

/// A terminal line whose other end is a printer.
struct Line {
    printer: File,
    /// Without an open end, a printer between two jobs would read an error.
    held: File,
    path: PathBuf,
}

fn line() -> Line {
    let printer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&printer).unwrap();
    unlockpt(&printer).unwrap();
    let path = PathBuf::from(ptsname(&printer, Vec::new()).unwrap().to_str().unwrap());
    let held =
        File::options().read(true).custom_flags(OFlags::NOCTTY.bits().cast_signed()).open(&path).unwrap();
    Line { printer: printer.into(), held, path }
}

#[test]
fn terminal_line_passes_every_byte_as_it_is() {
    let Line { mut printer, held: _held, path } = line();
    let job: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let length = job.len();
    let paper = thread::spawn(move || {
        let mut received = vec![0; length];
        printer.read_exact(&mut received).unwrap();
        received
    });
    assert_eq!(print(&device(&path), &job), Ok(()));
    assert!(paper.join().unwrap() == job);
}

#[test]
fn terminal_line_that_takes_nothing_is_slow_and_one_without_an_end_is_gone() {
    let Line { printer, held: _held, path } = line();
    assert_eq!(print(&device(&path), &vec![b' '; LARGE]), Err(PrinterRefusal::Slow));
    drop(printer);
    let refusal = print(&device(&path), b"job").unwrap_err();
    assert!(matches!(refusal, PrinterRefusal::NoDevice | PrinterRefusal::Closed), "{refusal:?}");
}

#[test]
fn device_that_is_full_missing_or_forbidden_is_told() {
    assert_eq!(print(&printer("/dev/full"), b"job"), Err(PrinterRefusal::Full));
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("lp0");
    assert_eq!(print(&device(&missing), b"job"), Err(PrinterRefusal::NoDevice));
    assert!(!missing.exists(), "a file is never created");
    assert_eq!(print(&printer("/dev/null/lp0"), b"job"), Err(PrinterRefusal::NoDevice));
    // Not even root may write there.
    assert_eq!(print(&printer("/sys/kernel/uevent_seqnum"), b"job"), Err(PrinterRefusal::NoPermission));
}

#[test]
fn file_keeps_all_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("receipts");
    File::create(&path).unwrap();
    let printer = device(&path);
    for job in [b"one".as_slice(), b"two"] {
        assert_eq!(print(&printer, job), Ok(()));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"onetwo");
}

/// Larger than the buffer of a terminal line, so that jobs at once would mix.
#[test]
fn jobs_at_once_are_printed_one_after_the_other() {
    const JOBS: u8 = 8;
    const LENGTH: usize = 20_000;
    let Line { mut printer, held: _held, path } = line();
    let paper = thread::spawn(move || {
        let mut received = vec![0; LENGTH * usize::from(JOBS)];
        printer.read_exact(&mut received).unwrap();
        received
    });
    let printer = device(&path);
    run(async {
        let jobs = (0..JOBS).map(|job| {
            let printer = printer.clone();
            tokio::spawn(async move { printer.print(vec![b'a' + job; LENGTH]).await })
        });
        for job in jobs.collect::<Vec<_>>() {
            assert_eq!(job.await.unwrap(), Ok(()));
        }
    });
    let received = paper.join().unwrap();
    for page in received.chunks(LENGTH) {
        assert!(page.iter().all(|byte| byte == &page[0]), "two jobs are mixed");
    }
}

#[test]
fn printer_in_the_network_has_one_connection_at_a_time() {
    const JOBS: usize = 3;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let printer = at(listener.local_addr().unwrap());
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let paper = thread::spawn({
        let most = Arc::clone(&most);
        move || {
            let connections = (0..JOBS).map(|_| {
                let (stream, _) = listener.accept().unwrap();
                let (open, most) = (Arc::clone(&open), Arc::clone(&most));
                most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::spawn(move || {
                    let job = read_all(stream.try_clone().unwrap());
                    open.fetch_sub(1, Ordering::SeqCst);
                    drop(stream);
                    job
                })
            });
            connections.collect::<Vec<_>>().into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
        }
    });
    run(async {
        let jobs = (0..JOBS).map(|_| {
            let printer = printer.clone();
            tokio::spawn(async move { printer.print(b"job".to_vec()).await })
        });
        for job in jobs.collect::<Vec<_>>() {
            assert_eq!(job.await.unwrap(), Ok(()));
        }
    });
    assert_eq!(paper.join().unwrap(), vec![[OFFLINE_CAUSE, b"job"].concat(); JOBS]);
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

/// Each of the first jobs takes the printer for some seconds, and the last one gives up.
#[test]
fn job_behind_too_many_slow_ones_is_told_that_the_printer_is_busy() {
    const JOBS: usize = 4;
    let Line { printer: _silent, held: _held, path } = line();
    let printer = device(&path);
    let outcomes = run(async {
        let jobs: Vec<_> = (0..JOBS)
            .map(|_| {
                let printer = printer.clone();
                tokio::spawn(async move { printer.print(vec![b' '; LARGE]).await })
            })
            .collect();
        let mut outcomes = Vec::new();
        for job in jobs {
            outcomes.push(job.await.unwrap());
        }
        outcomes
    });
    assert_eq!(outcomes[0], Err(PrinterRefusal::Slow));
    assert_eq!(outcomes[JOBS - 1], Err(PrinterRefusal::Busy), "{outcomes:?}");
}

/// The end of the runtime is the end of the mall: it does not wait for the job, which is still going on.
#[test]
fn silent_printer_holds_up_no_stop() {
    let (begun, has_begun) = mpsc::channel();
    let (stopped, has_stopped) = mpsc::channel();
    let (printer, paper) = served(move |mut stream| {
        stream.read_exact(&mut [0; OFFLINE_CAUSE.len() + 1]).unwrap();
        begun.send(()).unwrap();
        has_stopped.recv().unwrap();
        read_all(stream)
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let job = runtime.spawn(async move { printer.print(vec![b' '; LARGE]).await });
    has_begun.recv().unwrap();
    // The only worker is free for others.
    runtime.block_on(async { tokio::spawn(std::future::ready(())).await.unwrap() });
    assert!(!job.is_finished());
    drop(runtime);
    stopped.send(()).unwrap();
    assert_eq!(paper.join().unwrap().len(), LARGE - 1);
}
