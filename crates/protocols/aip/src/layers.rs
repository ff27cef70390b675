//! Middleware and observers between a connection and the protocol: middleware sees every message, handlers receive messages by type, custom
//! types included.

use std::collections::BTreeMap;
use std::fmt;

use interlingua_model::{Fault, Text};

/// Sees a message on its way. What it returns goes on in its place; a fault stops it.
pub trait Middleware<Out, In>: Send + Sync {
    fn outgoing(&self, message: Out) -> Result<Out, Fault> {
        Ok(message)
    }

    fn incoming(&self, message: In) -> Result<In, Fault> {
        Ok(message)
    }
}

/// Outgoing messages pass in the order in which middleware was added, incoming ones in the reverse.
pub struct Chain<Out, In> {
    layers: Vec<Box<dyn Middleware<Out, In>>>,
}

impl<Out, In> fmt::Debug for Chain<Out, In> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("layers", &self.layers.len()).finish()
    }
}

impl<Out, In> Default for Chain<Out, In> {
    fn default() -> Self {
        Chain { layers: Vec::new() }
    }
}

impl<Out, In> Chain<Out, In> {
    pub fn with(mut self, layer: impl Middleware<Out, In> + 'static) -> Self {
        self.layers.push(Box::new(layer));
        self
    }

    pub fn outgoing(&self, message: Out) -> Result<Out, Fault> {
        self.layers.iter().try_fold(message, |message, layer| layer.outgoing(message))
    }

    pub fn incoming(&self, message: In) -> Result<In, Fault> {
        self.layers.iter().rev().try_fold(message, |message, layer| layer.incoming(message))
    }
}

type Handler<M, A> = Box<dyn Fn(&M) -> Result<A, Fault> + Send + Sync>;

/// Handlers by the word of a message's kind, several for each.
pub struct Handlers<M, A = ()> {
    by_kind: BTreeMap<Text, Vec<Handler<M, A>>>,
}

impl<M, A> fmt::Debug for Handlers<M, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_kind.keys()).finish()
    }
}

impl<M, A> Default for Handlers<M, A> {
    fn default() -> Self {
        Handlers { by_kind: BTreeMap::new() }
    }
}

impl<M, A> Handlers<M, A> {
    pub fn on(
        mut self,
        kind: impl Into<Text>,
        handler: impl Fn(&M) -> Result<A, Fault> + Send + Sync + 'static,
    ) -> Self {
        self.by_kind.entry(kind.into()).or_default().push(Box::new(handler));
        self
    }

    /// All handlers of this kind, in the order they were added; one that fails does not stop the rest. `None`: there is none.
    pub fn dispatch(&self, kind: &str, message: &M) -> Option<Vec<Result<A, Fault>>> {
        let handlers = self.by_kind.get(kind)?;
        Some(handlers.iter().map(|handler| handler(message)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use interlingua_model::FaultKind;

    use super::*;

    struct Mark(&'static str);

    impl Middleware<String, String> for Mark {
        fn outgoing(&self, message: String) -> Result<String, Fault> {
            Ok(message + self.0)
        }

        fn incoming(&self, message: String) -> Result<String, Fault> {
            if message.contains("stop") {
                return Err(Fault::caller(FaultKind::Denied, "stopped"));
            }
            Ok(message + self.0)
        }
    }

    #[test]
    fn p_47_out_in_the_order_of_adding_and_in_in_the_reverse() {
        let chain = Chain::default().with(Mark("1")).with(Mark("2")).with(Mark("3"));
        assert_eq!(chain.outgoing("o".to_owned()).expect("passes"), "o123");
        assert_eq!(chain.incoming("i".to_owned()).expect("passes"), "i321");
        assert!(chain.incoming("stop".to_owned()).is_err());
    }

    #[test]
    fn p_47_a_handler_that_fails_does_not_stop_the_next() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str, result: Result<(), Fault>| {
            let seen = Arc::clone(&seen);
            move |_: &u8| {
                seen.lock().expect("one thread").push(name);
                result.clone()
            }
        };
        let fault = Fault::hub(FaultKind::Internal, "broke");
        let handlers = Handlers::default()
            .on("heartbeat", note("first", Err(fault.clone())))
            .on("heartbeat", note("second", Ok(())))
            .on("our_own", note("third", Ok(())));
        assert_eq!(handlers.dispatch("heartbeat", &1), Some(vec![Err(fault), Ok(())]));
        assert_eq!(handlers.dispatch("our_own", &1), Some(vec![Ok(())]));
        assert_eq!(handlers.dispatch("unknown", &1), None);
        assert_eq!(*seen.lock().expect("one thread"), ["first", "second", "third"]);
    }
}
