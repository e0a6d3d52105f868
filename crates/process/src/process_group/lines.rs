//! A program whose output is consumed line by line while it runs. Neither many lines nor a long line take memory.

use std::borrow::Cow;
use std::io::{self, PipeReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use super::{Failure, Group, LAST_WAIT, PACE, spawn};

/// The middle of longer lines is cut out. A compiler's JSON message is shorter.
const LONGEST_LINE: usize = 1 << 20;
/// How much of the end of a longer line is kept: what a program prints after its tests' output without a line break.
const END_OF_LINE: usize = 4 << 10;
const PIECE: usize = 32 << 10;
/// Chunks that wait for the consumer. A program that prints faster than the consumer reads blocks.
const PIECES: usize = 16;

/// The stream to which a line was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

/// How the two streams of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Separately. Each line has its stream.
    Apart,
    /// As one stream, in the order of printing. Every line counts as output.
    Together,
}

/// Runs a program to its end and passes each line to `take` as it arrives, without its line ending. The program has no
/// standard input.
pub fn run_lines(
    mut command: Command,
    streams: Streams,
    deadline: Instant,
    is_wanted: &dyn Fn() -> bool,
    take: &mut dyn FnMut(Stream, &str),
) -> Result<ExitStatus, Failure> {
    let (output, output_end) = io::pipe()?;
    let (errors, errors_end) = match streams {
        Streams::Together => (None, output_end.try_clone()?),
        Streams::Apart => {
            let (errors, end) = io::pipe()?;
            (Some(errors), end)
        }
    };
    command.stdin(Stdio::null()).stdout(output_end).stderr(errors_end);
    let (group, _) = spawn(command)?;
    let (sender, pieces) = sync_channel(PIECES);
    if let Some(errors) = errors {
        read(errors, Stream::Errors, sender.clone());
    }
    read(output, Stream::Output, sender);
    let mut lines = [Splitter::default(), Splitter::default()];
    let mut give = |stream: Stream, piece: &[u8]| {
        let [of_output, of_errors] = &mut lines;
        let splitter = if stream == Stream::Output { of_output } else { of_errors };
        splitter.feed(piece, &mut |line| take(stream, line));
    };
    let status = conduct(&group, &pieces, deadline, is_wanted, &mut give);
    let [of_output, of_errors] = &mut lines;
    of_output.end(&mut |line| take(Stream::Output, line));
    of_errors.end(&mut |line| take(Stream::Errors, line));
    status
}

fn conduct(
    group: &Group,
    pieces: &Receiver<(Stream, Vec<u8>)>,
    deadline: Instant,
    is_wanted: &dyn Fn() -> bool,
    give: &mut dyn FnMut(Stream, &[u8]),
) -> Result<ExitStatus, Failure> {
    let mut ended: Option<(ExitStatus, Instant)> = None;
    let mut looked = Instant::now();
    loop {
        let (all_printed, is_quiet) = match pieces.recv_timeout(PACE) {
            Ok((stream, piece)) => {
                give(stream, &piece);
                (false, false)
            }
            Err(RecvTimeoutError::Timeout) => (false, true),
            Err(RecvTimeoutError::Disconnected) => (true, true),
        };
        if let Some((status, _)) = ended.filter(|it| all_printed || is_quiet && it.1.elapsed() > LAST_WAIT) {
            // A process that has left the group and still holds the pipe is not waited for.
            return Ok(status);
        }
        if !all_printed && looked.elapsed() < PACE {
            continue;
        }
        looked = Instant::now();
        if Instant::now() >= deadline {
            return Err(Failure::Late);
        }
        if !is_wanted() {
            return Err(Failure::Unwanted);
        }
        if ended.is_none() {
            let until = if all_printed { Instant::now() + PACE } else { Instant::now() };
            ended = group.wait_until(until, &|| true)?.map(|it| (it, Instant::now()));
        }
    }
}

/// Reads on a thread of its own, until the pipe is closed or the receiver is dropped.
fn read(mut pipe: PipeReader, stream: Stream, pieces: SyncSender<(Stream, Vec<u8>)>) {
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE];
        loop {
            let count = match pipe.read(&mut piece) {
                Ok(0) => return,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let read = piece.get(..count).unwrap_or_default().to_vec();
            if pieces.send((stream, read)).is_err() {
                return;
            }
        }
    });
}

/// Joins chunks into lines. Of a line that is too long the middle is dropped.
#[derive(Default)]
struct Splitter {
    line: Vec<u8>,
    /// What follows a line's first part: at least its last bytes.
    end: Vec<u8>,
}

impl Splitter {
    fn feed(&mut self, piece: &[u8], take: &mut dyn FnMut(&str)) {
        let mut rest = piece;
        while let Some(at) = rest.iter().position(|it| *it == b'\n') {
            self.push(rest.get(..at).unwrap_or_default());
            self.give(take);
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        self.push(rest);
    }

    fn push(&mut self, part: &[u8]) {
        let room = LONGEST_LINE.saturating_sub(self.line.len()).min(part.len());
        let (fits, rest) = part.split_at(room);
        self.line.extend(fits);
        self.end.extend(rest.get(rest.len().saturating_sub(END_OF_LINE)..).unwrap_or_default());
        if self.end.len() > 2 * END_OF_LINE {
            self.end.drain(..self.end.len() - END_OF_LINE);
        }
    }

    fn give(&mut self, take: &mut dyn FnMut(&str)) {
        self.line.extend(self.end.get(self.end.len().saturating_sub(END_OF_LINE)..).unwrap_or_default());
        self.end.clear();
        let line: Cow<'_, str> = String::from_utf8_lossy(&self.line);
        take(line.strip_suffix('\r').unwrap_or(&line));
        self.line.clear();
    }

    fn end(&mut self, take: &mut dyn FnMut(&str)) {
        if !self.line.is_empty() {
            self.give(take);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn lines(script: &str, streams: Streams, limit: Duration) -> (Vec<(Stream, String)>, Result<ExitStatus, Failure>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut found = Vec::new();
        let ended = run_lines(command, streams, Instant::now() + limit, &|| true, &mut |stream, line| {
            found.push((stream, line.to_owned()));
        });
        (found, ended)
    }

    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn lines_come_in_their_order() {
        let (found, ended) = lines("echo a; echo b >&2; printf 'c\\r\\nd'; exit 3", Streams::Together, LIMIT);
        let texts: Vec<&str> = found.iter().map(|it| it.1.as_str()).collect();
        assert_eq!((texts, ended.unwrap().code()), (vec!["a", "b", "c", "d"], Some(3)));
        let (found, _) = lines("echo a; echo b >&2", Streams::Apart, LIMIT);
        assert!(found.contains(&(Stream::Errors, "b".to_owned())) && found.len() == 2, "{found:?}");
    }

    #[test]
    fn a_long_line_is_cut_and_a_late_program_ended() {
        let script = "head -c 5000000 /dev/zero | tr '\\0' x; echo last; echo end";
        let (found, _) = lines(script, Streams::Apart, LIMIT);
        let lengths: Vec<usize> = found.iter().map(|it| it.1.len()).collect();
        assert_eq!(lengths, [LONGEST_LINE + END_OF_LINE, 3]);
        assert!(found[0].1.ends_with("xxlast"));
        let (found, ended) = lines("echo begun; sleep 100", Streams::Apart, Duration::from_millis(500));
        assert!(matches!(ended, Err(Failure::Late)), "{ended:?}");
        assert_eq!(found.len(), 1);
    }
}
