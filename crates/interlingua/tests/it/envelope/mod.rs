//! `POST /nlip/route` over its real wire: the router's requirements (R-) and the resolutions of the seed's gaps (H-), each by its id. The
//! hub runs in this process, so that a test can register tools and look behind the socket where a requirement is about what must not be
//! stored.

mod confirmations;
mod founding;
mod inspection;
mod kit;
mod messages;
mod native;
mod parallel;
mod peers;
mod sessions;
mod settings;
mod times;
mod tools;
