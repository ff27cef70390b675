//! File transfer beside the frames: a text frame announces what follows, a binary frame carries it.
//!
//! It is used only where both sides have agreed on it. A file is announced, sent in chunks and closed with its MD5. The receiver checks
//! sizes, order, count and checksum, and holds one chunk at a time. Text frames of this extension have a space after `:` and `,` and escape
//! what is not ASCII, as their Python writer does.

use bytes::Bytes;
use interlingua_model::Text;
use interlingua_model::json::{Reader, Tree};
use md5::{Digest as _, Md5};

use super::invalid::{Invalid, Problem};
use interlingua_wire::members::Members;
use interlingua_wire::time::stamp;

pub const CHUNK: u64 = 1024 * 1024;

/// What a text frame of this extension says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heading {
    /// A binary frame of this many bytes follows.
    Data {
        size: u64,
        chunk: Option<u64>,
    },
    Start(Start),
    Complete {
        filename: Text,
        chunks: u64,
        checksum: Option<Text>,
    },
}

/// A file is announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub filename: Text,
    pub size: u64,
    pub chunk_size: u64,
    pub chunks: u64,
    pub media: Option<Text>,
}

impl Start {
    pub fn new(filename: impl Into<Text>, size: u64, chunk_size: u64, media: Option<Text>) -> Start {
        let chunk_size = chunk_size.max(1);
        Start { filename: filename.into(), size, chunk_size, chunks: size.div_ceil(chunk_size), media }
    }

    /// How many bytes chunk `n` has.
    fn chunk_len(&self, n: u64) -> u64 {
        let before = self.chunk_size.saturating_mul(n);
        self.chunk_size.min(self.size.saturating_sub(before))
    }
}

impl Heading {
    pub fn decode(frame: &Bytes, depth: usize) -> Result<Heading, Invalid> {
        let mut reader = Reader::new(frame, depth)?;
        let whole = Members::read(frame, &mut reader)?;
        reader.end()?;
        Heading::of(&whole)
    }

    /// The same of a frame that was opened before.
    pub fn of(whole: &Members) -> Result<Heading, Invalid> {
        let number =
            |key: &str| whole.number::<u64>(key).ok_or_else(|| Invalid::at(key, Problem::Rule("must be a count")));
        let text = |key: &str| whole.text(key).map(|text| Text::from(&*text));
        let name = || text("filename").ok_or_else(|| Invalid::at("filename", Problem::Missing));
        match whole.text("type").as_deref() {
            Some("binary_data") => Ok(Heading::Data { size: number("size")?, chunk: whole.number("chunk_num") }),
            Some("file_transfer_start") => {
                let (size, chunk_size, chunks) = (number("size")?, number("chunk_size")?, number("total_chunks")?);
                let start = Start { filename: name()?, size, chunk_size, chunks, media: text("mime_type") };
                let fits = chunk_size > 0 && size.div_ceil(chunk_size) == chunks;
                if fits {
                    Ok(Heading::Start(start))
                } else {
                    Err(Invalid::at("total_chunks", Problem::Rule("does not fit the size")))
                }
            }
            Some("file_transfer_complete") => {
                Ok(Heading::Complete { filename: name()?, chunks: number("total_chunks")?, checksum: text("checksum") })
            }
            Some(_) | None => {
                let known = "binary_data, file_transfer_start, file_transfer_complete";
                Err(Invalid::at("type", Problem::Unknown { known }))
            }
        }
    }

    pub fn encode(&self, now: interlingua_model::Time) -> String {
        let mut fields: Vec<(&str, Tree)> = Vec::new();
        match self {
            Heading::Data { size, chunk } => {
                if let Some(chunk) = chunk {
                    fields.extend([("chunk_num", (*chunk).into()), ("chunk_size", (*size).into())]);
                }
                let at = stamp(now);
                fields.extend([
                    ("type", "binary_data".into()),
                    ("size", (*size).into()),
                    ("timestamp", at.as_ref().into()),
                ]);
            }
            Heading::Start(start) => fields.extend([
                ("type", "file_transfer_start".into()),
                ("filename", start.filename.as_ref().into()),
                ("size", start.size.into()),
                ("chunk_size", start.chunk_size.into()),
                ("total_chunks", start.chunks.into()),
                ("mime_type", start.media.as_deref().map_or(Tree::Null, Tree::from)),
            ]),
            Heading::Complete { filename, chunks, checksum } => fields.extend([
                ("type", "file_transfer_complete".into()),
                ("filename", filename.as_ref().into()),
                ("total_chunks", (*chunks).into()),
                ("checksum", checksum.as_deref().map_or(Tree::Null, Tree::from)),
            ]),
        }
        let written: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\": {}", ascii(value))).collect();
        format!("{{{}}}", written.join(", "))
    }
}

/// A scalar as Python's plain writer has it: nothing but ASCII.
fn ascii(value: &Tree) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// MD5 (RFC 1321), because the transfer of files names it. It detects damage, nothing more: no right rests on it.
fn spelled(sum: Md5) -> String {
    hex::encode(sum.finalize())
}

/// Sends a file: headings and the ranges of bytes that follow them.
#[derive(Debug)]
pub struct Sending {
    start: Start,
    next: u64,
    sum: Md5,
}

impl Sending {
    pub fn new(start: Start) -> (Heading, Sending) {
        (Heading::Start(start.clone()), Sending { start, next: 0, sum: Md5::new() })
    }

    /// How many bytes come next; `None`: all are sent.
    pub fn wants(&self) -> Option<u64> {
        (self.next < self.start.chunks).then(|| self.start.chunk_len(self.next))
    }

    /// The heading of the next chunk.
    pub fn chunk(&mut self, bytes: &[u8]) -> Heading {
        self.sum.update(bytes);
        let chunk = self.next;
        self.next += 1;
        Heading::Data { size: bytes.len() as u64, chunk: Some(chunk) }
    }

    pub fn complete(self) -> Heading {
        Heading::Complete { filename: self.start.filename, chunks: self.next, checksum: Some(spelled(self.sum).into()) }
    }
}

/// Why a transfer is given up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("the file is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("a chunk is missing, double or out of order")]
    Order,
    #[error("a binary frame has not the size it was announced with")]
    Size,
    #[error("a binary frame came that was not announced")]
    Unannounced,
    #[error("the file ended before its end")]
    Short,
    #[error("the checksum is not that of the bytes")]
    Checksum,
    #[error("the end is that of another file")]
    Name,
}

/// Receives a file. Whoever holds it keeps the bytes; this only says whether they are the right ones.
#[derive(Debug)]
pub struct Receiving {
    start: Start,
    next: u64,
    /// The size of the binary frame that was announced.
    expects: Option<u64>,
    sum: Md5,
}

impl Receiving {
    pub fn new(start: Start, limit: u64) -> Result<Receiving, Broken> {
        if start.size > limit {
            return Err(Broken::TooLarge { limit });
        }
        Ok(Receiving { start, next: 0, expects: None, sum: Md5::new() })
    }

    /// The next chunk is announced.
    pub fn announced(&mut self, size: u64, chunk: Option<u64>) -> Result<(), Broken> {
        if self.expects.is_some() || self.next >= self.start.chunks || chunk.is_some_and(|chunk| chunk != self.next) {
            return Err(Broken::Order);
        }
        if size != self.start.chunk_len(self.next) {
            return Err(Broken::Size);
        }
        self.expects = Some(size);
        Ok(())
    }

    /// Its bytes are here.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        match self.expects.take() {
            None => Err(Broken::Unannounced),
            Some(size) if size != bytes.len() as u64 => Err(Broken::Size),
            Some(_) => {
                self.sum.update(bytes);
                self.next += 1;
                Ok(())
            }
        }
    }

    /// The end was said: is it the whole file? A sum that was left out is not missed.
    pub fn complete(self, filename: &str, chunks: u64, checksum: Option<&str>) -> Result<(), Broken> {
        if *self.start.filename != *filename {
            return Err(Broken::Name);
        }
        if self.expects.is_some() || self.next != self.start.chunks || chunks != self.start.chunks {
            return Err(Broken::Short);
        }
        let sum = spelled(self.sum);
        if checksum.is_some_and(|given| !given.eq_ignore_ascii_case(&sum)) { Err(Broken::Checksum) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::Time;

    use super::*;

    /// Headings, and the bytes that follow each.
    type Said = Vec<(Heading, Vec<u8>)>;

    const NOW: Time = Time(1_794_724_084_245);

    fn read(text: &str) -> Result<Heading, Invalid> {
        Heading::decode(&Bytes::copy_from_slice(text.as_bytes()), 16)
    }

    #[test]
    fn p_50_headings_are_written_with_spaces_and_read_whatever_else_they_say() {
        let start = Heading::Start(Start::new("r\u{e9}port.txt", 2_500_000, CHUNK, Some("text/plain".into())));
        assert_eq!(
            start.encode(NOW),
            r#"{"type": "file_transfer_start", "filename": "r\u00e9port.txt", "size": 2500000, "chunk_size": 1048576, "total_chunks": 3, "mime_type": "text/plain"}"#
        );
        let data = Heading::Data { size: 5, chunk: Some(0) };
        assert_eq!(
            data.encode(NOW),
            r#"{"chunk_num": 0, "chunk_size": 5, "type": "binary_data", "size": 5, "timestamp": "2026-11-15T06:28:04.245000+00:00"}"#
        );
        let end = Heading::Complete { filename: "r".into(), chunks: 3, checksum: Some("00".into()) };
        for heading in [start, data, end] {
            assert_eq!(read(&heading.encode(NOW)).as_ref(), Ok(&heading));
        }
        assert!(read(r#"{"type":"binary_data","size":3,"mine":{"x":1}}"#).is_ok());
        for bad in [
            r#"{"type":"binary_data"}"#,
            r#"{"type":"binary_data","size":-1}"#,
            r#"{"type":"file_transfer_start","filename":"x","size":10,"chunk_size":0,"total_chunks":1}"#,
            r#"{"type":"file_transfer_start","filename":"x","size":10,"chunk_size":3,"total_chunks":3}"#,
            r#"{"type":"other"}"#,
            "[]",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    fn transfer(content: &[u8], chunk: u64) -> Said {
        let (start, mut sending) = Sending::new(Start::new("f", content.len() as u64, chunk, None));
        let mut said = vec![(start, Vec::new())];
        let mut at = 0;
        while let Some(size) = sending.wants() {
            let bytes = content[at..at + usize::try_from(size).expect("small")].to_vec();
            at += bytes.len();
            said.push((sending.chunk(&bytes), bytes));
        }
        said.push((sending.complete(), Vec::new()));
        said
    }

    fn receive(said: &[(Heading, Vec<u8>)]) -> Result<(), Broken> {
        let mut receiving: Option<Receiving> = None;
        for (heading, bytes) in said {
            match (heading, receiving.as_mut()) {
                (Heading::Start(start), _) => receiving = Some(Receiving::new(start.clone(), 100)?),
                (Heading::Data { size, chunk }, Some(receiving)) => {
                    receiving.announced(*size, *chunk)?;
                    receiving.bytes(bytes)?;
                }
                (Heading::Complete { filename, chunks, checksum }, Some(_)) => {
                    let receiving = receiving.take().expect("under way");
                    return receiving.complete(filename, *chunks, checksum.as_deref());
                }
                (Heading::Data { .. } | Heading::Complete { .. }, None) => return Err(Broken::Unannounced),
            }
        }
        Err(Broken::Short)
    }

    #[test]
    fn p_50_a_file_arrives_whole_or_not_at_all() {
        for size in [0, 1, 9, 10, 11, 35] {
            let content: Vec<u8> = (0..size).collect();
            assert_eq!(receive(&transfer(&content, 10)), Ok(()), "{size}");
        }
        let good = transfer(b"the quick brown fox", 10);
        let spoilt = |change: &dyn Fn(&mut Said)| {
            let mut said = good.clone();
            change(&mut said);
            receive(&said)
        };
        assert_eq!(spoilt(&|said| said[1].1[0] ^= 1), Err(Broken::Checksum));
        assert_eq!(spoilt(&|said| said[1].1.truncate(1)), Err(Broken::Size));
        let one_less =
            |said: &mut Said| said.retain(|(heading, _)| !matches!(heading, Heading::Data { chunk: Some(1), .. }));
        assert_eq!(spoilt(&one_less), Err(Broken::Short));
        assert_eq!(spoilt(&|said| said.swap(1, 2)), Err(Broken::Order));
        assert_eq!(spoilt(&|said| said.insert(2, said[1].clone())), Err(Broken::Order));
        assert_eq!(
            spoilt(&|said| said[3].0 = Heading::Complete { filename: "g".into(), chunks: 2, checksum: None }),
            Err(Broken::Name)
        );
        assert_eq!(receive(&transfer(&[0; 200], 50)), Err(Broken::TooLarge { limit: 100 }));
        let mut receiving = Receiving::new(Start::new("f", 5, 5, None), 100).expect("small");
        assert_eq!(receiving.bytes(b"hello"), Err(Broken::Unannounced));
    }

    #[test]
    fn the_suite_of_the_specification() {
        for (text, hex) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            let mut whole = Md5::new();
            whole.update(text.as_bytes());
            assert_eq!(spelled(whole), hex, "{text}");
            let mut pieces = Md5::new();
            text.as_bytes().chunks(7).for_each(|piece| pieces.update(piece));
            assert_eq!(spelled(pieces), hex, "{text} in pieces");
        }
    }
}
