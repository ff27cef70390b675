//! Layered settings: a setting can be made in four places, and the nearest one applies: request, agent, team, then the whole hub.

/// What each place says, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers<T> {
    pub request: Option<T>,
    pub agent: Option<T>,
    pub team: Option<T>,
    pub hub: Option<T>,
}

/// Where a setting was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    Request,
    Agent,
    Team,
    Hub,
    /// Nowhere: the default.
    Default,
}

impl<T: Default> Layers<T> {
    /// The value that counts, and who said so.
    pub fn nearest(self) -> (T, Layer) {
        let said = [
            (self.request, Layer::Request),
            (self.agent, Layer::Agent),
            (self.team, Layer::Team),
            (self.hub, Layer::Hub),
        ];
        let found = said.into_iter().find_map(|(value, layer)| value.map(|value| (value, layer)));
        found.unwrap_or((T::default(), Layer::Default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_31_the_nearest_setting_counts_request_agent_team_hub() {
        let mut layers = Layers::<bool>::default();
        assert_eq!(layers.nearest(), (false, Layer::Default), "off unless someone says otherwise");
        layers.hub = Some(true);
        assert_eq!(layers.nearest(), (true, Layer::Hub));
        layers.team = Some(false);
        assert_eq!(layers.nearest(), (false, Layer::Team));
        layers.agent = Some(true);
        assert_eq!(layers.nearest(), (true, Layer::Agent), "a team does not overrule its member");
        layers.request = Some(false);
        assert_eq!(layers.nearest(), (false, Layer::Request));
    }
}
