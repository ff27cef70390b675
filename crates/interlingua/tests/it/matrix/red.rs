//! Reports a failing cell by its name, at once: a run that is killed from outside has then named it.

use std::any::Any;
use std::io::Write;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

pub(super) fn tell(red: &str) {
    let _nobody_listens = writeln!(std::io::stderr(), "red: {red}");
}

/// What a caller comes to. One that breaks, for instance because nothing came for too long, is a red cell and no more.
pub(super) async fn unbroken<T>(title: String, playing: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(playing).catch_unwind().await.map_err(|why| {
        let red = format!("{title}: {}", words(&*why));
        tell(&red);
        red
    })
}

fn words(why: &(dyn Any + Send)) -> &str {
    let text = why.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| why.downcast_ref::<&str>().copied()).unwrap_or("it broke")
}
