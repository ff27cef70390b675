//! Single values. Null is the same as absent (ProtoJSON).

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use interlingua_model::json::{Kind, Reader};
use interlingua_model::{Json, Text, Time};

use crate::invalid::{Invalid, Problem};

/// Is a value there? A null is passed.
pub(crate) fn present(reader: &mut Reader<'_>) -> Result<bool, Invalid> {
    if reader.kind()? == Kind::Null {
        reader.null()?;
        return Ok(false);
    }
    Ok(true)
}

pub(crate) fn text(reader: &mut Reader<'_>) -> Result<Option<Text>, Invalid> {
    if !present(reader)? {
        return Ok(None);
    }
    if reader.kind()? != Kind::String {
        return Err(Invalid::whole(Problem::NotAString));
    }
    Ok(Some(reader.string()?.into()))
}

/// An empty string is the default value, which ProtoJSON does not tell from absent.
pub(crate) fn non_empty(reader: &mut Reader<'_>) -> Result<Option<Text>, Invalid> {
    Ok(text(reader)?.filter(|text| !text.is_empty()))
}

pub(crate) fn texts(reader: &mut Reader<'_>) -> Result<Vec<Text>, Invalid> {
    let mut all = Vec::new();
    list(reader, |reader| {
        all.extend(text(reader)?);
        Ok(())
    })?;
    Ok(all)
}

/// Calls `each` before every element.
pub(crate) fn list<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&mut Reader<'a>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    if !present(reader)? {
        return Ok(());
    }
    if reader.kind()? != Kind::Array {
        return Err(Invalid::whole(Problem::NotAnArray));
    }
    reader.array(|index, reader| each(reader).map_err(|invalid| invalid.under(&format!("[{index}]"))))
}

/// Calls `each` with every key of an object; what it does not know it must skip.
pub(crate) fn object<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&str, &mut Reader<'a>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    if reader.kind()? != Kind::Object {
        return Err(Invalid::whole(Problem::NotAnObject));
    }
    reader.object(|key, reader| each(&key, reader).map_err(|invalid| invalid.under(&key)))
}

pub(crate) fn skip(reader: &mut Reader<'_>) -> Result<(), Invalid> {
    reader.skip()?;
    Ok(())
}

pub(crate) fn bool(reader: &mut Reader<'_>) -> Result<Option<bool>, Invalid> {
    if !present(reader)? {
        return Ok(None);
    }
    if reader.kind()? != Kind::Bool {
        return Err(Invalid::whole(Problem::NotABool));
    }
    Ok(Some(reader.bool()?))
}

/// A count. ProtoJSON writes an `int32` as a number and reads it from a string, too.
pub(crate) fn count(reader: &mut Reader<'_>) -> Result<Option<u32>, Invalid> {
    if !present(reader)? {
        return Ok(None);
    }
    let parsed = match reader.kind()? {
        Kind::Number => reader.number()?.parse().ok(),
        Kind::String => reader.string()?.parse().ok(),
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object => None,
    };
    parsed.map(Some).ok_or_else(|| Invalid::whole(Problem::NotANumber))
}

/// An object kept as it came.
pub(crate) fn metadata(reader: &mut Reader<'_>, frame: &Bytes) -> Result<Option<Json>, Invalid> {
    if !present(reader)? {
        return Ok(None);
    }
    if reader.kind()? != Kind::Object {
        return Err(Invalid::whole(Problem::NotAnObject));
    }
    Ok(Some(Json::slice(frame, reader.skip()?)))
}

pub(crate) fn any(reader: &mut Reader<'_>, frame: &Bytes) -> Result<Json, Invalid> {
    Ok(Json::slice(frame, reader.skip()?))
}

/// RFC 3339.
pub(crate) fn time(text: &str) -> Result<Time, Invalid> {
    let stamp: jiff::Timestamp = text.parse().map_err(|_| Invalid::whole(Problem::NotATime))?;
    u64::try_from(stamp.as_millisecond()).map(Time).map_err(|_| Invalid::whole(Problem::NotATime))
}

/// Either alphabet, padded or not (ProtoJSON).
pub(crate) fn base64(text: &str) -> Result<Bytes, Invalid> {
    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let safe = text.contains(['-', '_']);
    let engine = GeneralPurpose::new(if safe { &URL_SAFE } else { &STANDARD }, LENIENT);
    engine.decode(text).map(Bytes::from).map_err(|_| Invalid::whole(Problem::NotBase64))
}
