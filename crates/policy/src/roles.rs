//! Role membership of a principal: the roles of its credential, the roles from the configuration, and the roles that contain these.

use std::collections::{BTreeSet, HashMap};

use interlingua_model::policy::{ROLE_SCOPE, Roles};
use interlingua_model::{Link, Text};

/// Member to roles. Made whole when rules are read.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// By subject, or by `role:NAME`.
    direct: HashMap<Text, Vec<Text>>,
}

impl Membership {
    pub(crate) fn new(roles: &Roles) -> Membership {
        let mut direct: HashMap<Text, Vec<Text>> = HashMap::new();
        for (role, members) in &roles.0 {
            for member in members {
                direct.entry(member.clone()).or_default().push(role.clone());
            }
        }
        Membership { direct }
    }

    /// In order, each once. Roles that contain one another end here too.
    pub(crate) fn of(&self, link: &Link) -> BTreeSet<Text> {
        let borne = link.scopes.iter().filter_map(|scope| scope.strip_prefix(ROLE_SCOPE)).map(Text::from);
        let given = self.given(&link.subject.to_string()).iter().cloned();
        let mut open: Vec<Text> = borne.chain(given).collect();
        let mut found = BTreeSet::new();
        while let Some(role) = open.pop() {
            if found.insert(role.clone()) {
                open.extend(self.given(&format!("{ROLE_SCOPE}{role}")).iter().cloned());
            }
        }
        found
    }

    fn given(&self, member: &str) -> &[Text] {
        self.direct.get(member).map_or(&[], Vec::as_slice)
    }
}
