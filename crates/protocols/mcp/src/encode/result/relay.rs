//! Relays results that a server of this protocol wrote: every member unchanged and in its order, known here or not. The hub only sets the
//! kind of result, its own `_meta` keys, and addresses that it spells otherwise.

use interlingua_model::{Json, Party};

use super::{Beside, Blocks, Cache, Encoder};
use crate::wire::meta::META;
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;

impl Encoder<'_> {
    pub(super) fn relay_call(&self, result: &Members, by: &Party, beside: &Beside<'_>, out: &mut Vec<u8>) {
        self.relay(result, beside, out, |key, value, object| match key {
            "content" => self.blocks(value, by, object.key(key)),
            _ => object.value(key, value),
        });
    }

    pub(super) fn relay_read(&self, result: &Members, by: &Party, beside: &Beside<'_>, out: &mut Vec<u8>) {
        let hinted = result.has("ttlMs");
        let mut write = |key: &str, value: &Json, object: &mut Object<'_>| {
            if key == "contents" {
                self.each(value, object.key(key), |contents, out| self.addressed(contents, by, out));
                if self.version.is_modern() && !hinted {
                    Cache::NONE.write(object);
                }
            } else if key == "cacheScope" && self.version.is_modern() {
                // A server does not know whom this hub lets read it.
                let public = beside.public && value.as_str() == "\"public\"";
                object.text(key, if public { "public" } else { "private" });
            } else if self.version.is_modern() || !matches!(key, "ttlMs" | "cacheScope") {
                object.value(key, value);
            }
        };
        self.relay(result, beside, out, &mut write);
    }

    pub(super) fn relay_prompt(&self, result: &Members, by: &Party, beside: &Beside<'_>, out: &mut Vec<u8>) {
        self.relay(result, beside, out, |key, value, object| match key {
            "messages" => self.each(value, object.key(key), |message, out| self.message(message, by, out)),
            _ => object.value(key, value),
        });
    }

    /// All members but the kind of result and `_meta`, which `write` never sees.
    fn relay(
        &self,
        result: &Members,
        beside: &Beside<'_>,
        out: &mut Vec<u8>,
        mut write: impl FnMut(&str, &Json, &mut Object<'_>),
    ) {
        out.reserve(result.json().map_or(0, |json| json.as_bytes().len()) + 256);
        let mut object = Object::open(out);
        if self.version.is_modern() {
            object.text("resultType", "complete");
        }
        for (key, value) in result.iter().filter(|(key, _)| !matches!(*key, "resultType" | META)) {
            write(key, &value, &mut object);
        }
        self.meta(result.object(META).as_ref(), beside, &mut object);
        object.finish();
    }

    fn each(&self, list: &Json, out: &mut Vec<u8>, mut write: impl FnMut(&Json, &mut Vec<u8>)) {
        let read = if self.addresses.rewrites() { elements(list) } else { None };
        match read {
            None => out.extend_from_slice(list.as_bytes()),
            Some(items) => {
                let mut blocks = Blocks::open(out);
                for item in &items {
                    write(item, blocks.next());
                }
                blocks.finish();
            }
        }
    }

    fn blocks(&self, content: &Json, by: &Party, out: &mut Vec<u8>) {
        self.each(content, out, |block, out| self.block(block, by, out));
    }

    /// A link or an embedded resource has an address; the rest is as it came.
    fn block(&self, block: &Json, by: &Party, out: &mut Vec<u8>) {
        let members = Members::of(block);
        match members.text("type").as_deref() {
            Some("resource_link") => self.addressed(block, by, out),
            Some("resource") => copied(&members, out, |key, value, object| match key {
                "resource" => self.addressed(value, by, object.key(key)),
                _ => object.value(key, value),
            }),
            Some(_) | None => out.extend_from_slice(block.as_bytes()),
        }
    }

    fn message(&self, message: &Json, by: &Party, out: &mut Vec<u8>) {
        copied(&Members::of(message), out, |key, value, object| match key {
            "content" => self.block(value, by, object.key(key)),
            _ => object.value(key, value),
        });
    }

    /// An object with its `uri` as the other side can use it.
    fn addressed(&self, object: &Json, by: &Party, out: &mut Vec<u8>) {
        let members = Members::of(object);
        let Some(uri) = members.text("uri") else { return out.extend_from_slice(object.as_bytes()) };
        let uri = self.addresses.outward(by, &uri);
        copied(&members, out, |key, value, object| match key {
            "uri" => object.text(key, &uri),
            _ => object.value(key, value),
        });
    }
}

fn copied(members: &Members, out: &mut Vec<u8>, mut write: impl FnMut(&str, &Json, &mut Object<'_>)) {
    let mut object = Object::open(out);
    for (key, value) in members.iter() {
        write(key, &value, &mut object);
    }
    object.finish();
}
