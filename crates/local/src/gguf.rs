//! GGUF reader, version 3 (the ggml project's description of it): metadata by name, then tensors by name, then their data.
//!
//! Every length is checked against the file before anything is read or allocated: a file may be hostile.

use std::collections::HashMap;
use std::ops::Range;

const MAGIC: &[u8] = b"GGUF";
/// More of these no model has that this program can run.
const MAX_FACTS: u64 = 4_096;
const MAX_TENSORS: u64 = 8_192;
const MAX_ITEMS: u64 = 1 << 20;
const MAX_DIMENSIONS: u32 = 4;
/// How deep lists may hold lists.
const MAX_DEPTH: u32 = 3;
/// Where tensors begin, unless a fact says otherwise.
const ALIGNMENT: u64 = 32;

/// Why a file is no model for this program.
#[derive(Debug, thiserror::Error)]
pub enum BadModel {
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("the file is no GGUF file of version 3")]
    NoModel,
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    #[error("the model is of a kind that cannot be run here: {0}")]
    Unsupported(String),
    #[error("the model lacks {0}")]
    Missing(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    Number(f64),
    Text(String),
    Texts(Vec<String>),
    /// Of a form that nothing here needs.
    Other,
}

/// Where a tensor is, and of what shape: how long a row is, how many there are.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) kind: u32,
    /// From the beginning of the numbers.
    pub(crate) offset: usize,
}

#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) facts: HashMap<String, Fact>,
    pub(crate) tensors: HashMap<String, Placed>,
    /// Where in the file the numbers are.
    pub(crate) numbers: Range<usize>,
}

impl Contents {
    pub(crate) fn read(file: &[u8]) -> Result<Contents, BadModel> {
        let mut reader = Reader { file, at: 0 };
        if reader.take(4).ok() != Some(MAGIC) || reader.u32().ok() != Some(3) {
            return Err(BadModel::NoModel);
        }
        let tensors = bounded(reader.u64()?, MAX_TENSORS)?;
        let facts = bounded(reader.u64()?, MAX_FACTS)?;
        let facts =
            (0..facts).map(|_| Ok((reader.text()?, reader.fact()?))).collect::<Result<HashMap<_, _>, BadModel>>()?;
        let tensors = (0..tensors).map(|_| Ok((reader.text()?, reader.placed()?))).collect::<Result<_, BadModel>>()?;
        let alignment = match facts.get("general.alignment") {
            Some(Fact::Number(number)) if *number >= 1.0 && *number <= 65_536.0 => *number as u64,
            _ => ALIGNMENT,
        };
        let begins = (reader.at as u64).div_ceil(alignment) * alignment;
        let begins = usize::try_from(begins).unwrap_or(usize::MAX).min(file.len());
        Ok(Contents { facts, tensors, numbers: begins..file.len() })
    }

    pub(crate) fn number(&self, name: &str) -> Result<f64, BadModel> {
        match self.facts.get(name) {
            Some(Fact::Number(number)) => Ok(*number),
            _ => Err(BadModel::Missing(name.to_owned())),
        }
    }

    pub(crate) fn count(&self, name: &str) -> Result<usize, BadModel> {
        let number = self.number(name)?;
        match number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 {
            true => Ok(number as usize),
            false => Err(BadModel::Damaged("a count that is none")),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.facts.get(name) {
            Some(Fact::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Result<&[String], BadModel> {
        match self.facts.get(name) {
            Some(Fact::Texts(texts)) => Ok(texts),
            _ => Err(BadModel::Missing(name.to_owned())),
        }
    }
}

fn bounded(count: u64, most: u64) -> Result<u64, BadModel> {
    if count <= most { Ok(count) } else { Err(BadModel::Damaged("more of something than there can be")) }
}

struct Reader<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], BadModel> {
        let short = || BadModel::Damaged("it ends too early");
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count)).ok_or_else(short)?;
        let taken = self.file.get(self.at..end).ok_or_else(short)?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadModel> {
        let taken = self.take(N as u64)?;
        taken.try_into().map_err(|_| BadModel::Damaged("it ends too early"))
    }

    fn u32(&mut self) -> Result<u32, BadModel> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, BadModel> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<String, BadModel> {
        let length = self.u64()?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn fact(&mut self) -> Result<Fact, BadModel> {
        let kind = self.u32()?;
        self.value(kind, 0)
    }

    fn value(&mut self, kind: u32, depth: u32) -> Result<Fact, BadModel> {
        Ok(match kind {
            0 => Fact::Number(f64::from(self.array::<1>()?[0])),
            1 => Fact::Number(f64::from(i8::from_le_bytes(self.array()?))),
            2 => Fact::Number(f64::from(u16::from_le_bytes(self.array()?))),
            3 => Fact::Number(f64::from(i16::from_le_bytes(self.array()?))),
            4 => Fact::Number(f64::from(self.u32()?)),
            5 => Fact::Number(f64::from(i32::from_le_bytes(self.array()?))),
            6 => Fact::Number(f64::from(f32::from_le_bytes(self.array()?))),
            7 => Fact::Number(f64::from(self.array::<1>()?[0])),
            8 => Fact::Text(self.text()?),
            9 if depth < MAX_DEPTH => self.list(depth)?,
            10 => Fact::Number(self.u64()? as f64),
            11 => Fact::Number(i64::from_le_bytes(self.array()?) as f64),
            12 => Fact::Number(f64::from_le_bytes(self.array()?)),
            _ => return Err(BadModel::Damaged("a fact of no known form")),
        })
    }

    fn list(&mut self, depth: u32) -> Result<Fact, BadModel> {
        let kind = self.u32()?;
        let count = bounded(self.u64()?, MAX_ITEMS)?;
        let mut texts = Vec::new();
        for _ in 0..count {
            if let Fact::Text(text) = self.value(kind, depth + 1)? {
                texts.push(text);
            }
        }
        Ok(if kind == 8 { Fact::Texts(texts) } else { Fact::Other })
    }

    fn placed(&mut self) -> Result<Placed, BadModel> {
        let dimensions = self.u32()?;
        if dimensions == 0 || dimensions > MAX_DIMENSIONS {
            return Err(BadModel::Damaged("a tensor of no shape"));
        }
        let shape = (0..dimensions).map(|_| self.u64()).collect::<Result<Vec<u64>, _>>()?;
        let rows = shape[1..].iter().try_fold(1_u64, |rows, more| rows.checked_mul(*more));
        let (columns, rows) = (usize::try_from(shape[0]).ok(), rows.and_then(|rows| usize::try_from(rows).ok()));
        let (Some(columns), Some(rows)) = (columns, rows) else {
            return Err(BadModel::Damaged("a tensor that is too large"));
        };
        let kind = self.u32()?;
        let offset = usize::try_from(self.u64()?).map_err(|_| BadModel::Damaged("a tensor beyond the end"))?;
        Ok(Placed { columns, rows, kind, offset })
    }
}
