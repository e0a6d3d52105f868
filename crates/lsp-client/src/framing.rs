//! The base protocol: a `Content-Length` header, an empty line, and that many bytes of JSON. Header and body have size
//! limits.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

const MAX_HEADER: usize = 4 << 10;
/// Far above any valid message. A server that sends more is broken, and must not exhaust semdex's memory.
const MAX_BODY: usize = 64 << 20;

fn invalid(detail: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, detail)
}

/// The body of the next message. `None` if the stream ends between two messages.
pub(crate) async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    let mut header = 0;
    loop {
        let mut line = Vec::new();
        let left = MAX_HEADER - header;
        let read = (&mut *stream).take(left as u64).read_until(b'\n', &mut line).await?;
        if read == 0 && header == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\n") {
            let detail = if read == left { "a header that never ends" } else { "the stream ends inside a header" };
            return Err(invalid(detail.to_owned()));
        }
        header += read;
        let line = line.trim_ascii();
        if line.is_empty() {
            break;
        }
        let (name, value) = std::str::from_utf8(line)
            .ok()
            .and_then(|line| line.split_once(':'))
            .ok_or_else(|| invalid(format!("not a header: {}", String::from_utf8_lossy(line))))?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            let value: usize = value.trim().parse().map_err(|_| invalid(format!("not a length: {value}")))?;
            length = Some(value);
        }
    }
    let length = length.ok_or_else(|| invalid("a message without Content-Length".to_owned()))?;
    if length > MAX_BODY {
        return Err(invalid(format!("a message of {length} bytes, more than {MAX_BODY}")));
    }
    // Grows with the bytes that arrive: a length in the header alone reserves no memory.
    let mut body = Vec::new();
    (&mut *stream).take(length as u64).read_to_end(&mut body).await?;
    if body.len() < length {
        return Err(invalid("the stream ends inside a message".to_owned()));
    }
    Ok(Some(body))
}

pub(crate) fn append(frames: &mut Vec<u8>, body: &[u8]) {
    frames.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    frames.extend_from_slice(body);
}
