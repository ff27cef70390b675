//! Cedar entities: the principal, the resource and the context of a decision.

use std::collections::BTreeSet;

use cedar_policy::{Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression};
use interlingua_model::json::Tree;
use interlingua_model::policy::{Action, Asked, Object};
use interlingua_model::{Effects, Json, Link, Skill, Subject, Text, Time, Trust};

use serde_json::Number;

use crate::reads::Reads;

/// A double tells numbers of this many digits apart, and no more.
const DIGITS_OF_A_DOUBLE: usize = 17;
/// The largest exponent of a number that rules compare as a decimal: Cedar holds 15 digits before the point.
const MOST_SHIFT: u32 = 32;

/// Why something cannot be put to Cedar: then it is refused.
#[derive(Debug)]
pub(crate) struct Unfit(pub(crate) String);

impl Unfit {
    fn because(error: impl std::fmt::Display) -> Unfit {
        Unfit(error.to_string())
    }
}

/// Names of types, read once.
#[derive(Debug, Clone)]
pub(crate) struct Types {
    user: EntityTypeName,
    agent: EntityTypeName,
    device: EntityTypeName,
    orchestrator: EntityTypeName,
    hub: EntityTypeName,
    anonymous: EntityTypeName,
    role: EntityTypeName,
    peer: EntityTypeName,
    skill: EntityTypeName,
    artifact: EntityTypeName,
    conversation: EntityTypeName,
    action: EntityTypeName,
    arguments: EntityTypeName,
    numbers: EntityTypeName,
    decimals: EntityTypeName,
}

impl Types {
    pub(crate) fn new() -> Result<Types, Unfit> {
        let name = |name: &str| name.parse::<EntityTypeName>().map_err(Unfit::because);
        Ok(Types {
            user: name("User")?,
            agent: name("Agent")?,
            device: name("Device")?,
            orchestrator: name("Orchestrator")?,
            hub: name("Hub")?,
            anonymous: name("Anonymous")?,
            role: name("Role")?,
            peer: name("Peer")?,
            skill: name("Skill")?,
            artifact: name("Artifact")?,
            conversation: name("Conversation")?,
            action: name("Action")?,
            arguments: name("Arguments")?,
            numbers: name("Numbers")?,
            decimals: name("Decimals")?,
        })
    }

    /// `None` for the hub's Owner, who is in no rule.
    pub(crate) fn principal(&self, subject: &Subject) -> Option<EntityUid> {
        Some(match subject {
            Subject::Anonymous => uid(&self.anonymous, "anonymous"),
            Subject::HubOwner => return None,
            Subject::User(name) => uid(&self.user, name),
            Subject::Agent(peer) => uid(&self.agent, peer.as_str()),
            Subject::Device(peer) => uid(&self.device, peer.as_str()),
            Subject::Hub(hub) => uid(&self.hub, hub.as_str()),
            Subject::Orchestrator(name) => uid(&self.orchestrator, name),
        })
    }

    pub(crate) fn role(&self, name: &str) -> EntityUid {
        uid(&self.role, name)
    }

    pub(crate) fn action(&self, action: Action) -> EntityUid {
        uid(&self.action, action.as_str())
    }

    /// To see and to call are both `use`.
    pub(crate) fn group(&self, action: Action) -> Option<EntityUid> {
        match action {
            Action::List | Action::Call => Some(uid(&self.action, "use")),
            Action::Read | Action::Write | Action::Register | Action::Approve => None,
        }
    }

    pub(crate) fn object(&self, object: &Object<'_>) -> EntityUid {
        match object {
            Object::Peer(peer) => uid(&self.peer, peer.as_str()),
            Object::Skill(skill) => uid(&self.skill, &skill.id.to_string()),
            Object::Artifact { id, .. } => uid(&self.artifact, id),
            Object::Conversation { id, .. } => uid(&self.conversation, id),
        }
    }

    /// What the object is part of.
    pub(crate) fn parent(&self, object: &Object<'_>) -> Option<EntityUid> {
        match object {
            Object::Skill(skill) => Some(uid(&self.peer, skill.id.peer.as_str())),
            Object::Peer(_) | Object::Artifact { .. } | Object::Conversation { .. } => None,
        }
    }

    pub(crate) fn is_peer(&self, of: &EntityUid) -> bool {
        *of.type_name() == self.peer
    }

    pub(crate) fn is_skill(&self, of: &EntityUid) -> bool {
        *of.type_name() == self.skill
    }

    pub(crate) fn is_role(&self, of: &EntityUid) -> bool {
        *of.type_name() == self.role
    }

    pub(crate) fn is_agent(&self, of: &EntityUid) -> bool {
        *of.type_name() == self.agent
    }
}

pub(crate) fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

/// What Cedar is asked, and what it may look at.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) request: Request,
    pub(crate) entities: Entities,
}

/// `reads` is what the rules that will be asked look at; nothing else is made ready.
pub(crate) fn case(
    types: &Types,
    asked: &Asked<'_>,
    roles: &BTreeSet<Text>,
    args: Option<&Json>,
    reads: &Reads,
) -> Result<Case, Unfit> {
    let principal = types.principal(&asked.by.subject).ok_or_else(|| Unfit("the Owner is in no rule".into()))?;
    let resource = types.object(&asked.on);
    let parents: Vec<EntityUid> = roles.iter().map(|role| types.role(role)).collect();
    let mut entities: Vec<Entity> = parents.iter().cloned().map(Entity::with_uid).collect();
    entities.push(entity(principal.clone(), caller(asked.by), parents)?);
    let parent = types.parent(&asked.on);
    entities.extend(parent.clone().map(Entity::with_uid));
    entities.push(entity(resource.clone(), attributes(&asked.on), parent)?);
    entities.push(entity(types.action(asked.action), Vec::new(), types.group(asked.action))?);
    let mut context = circumstances(asked, reads)?;
    if reads.arguments() {
        for (name, bag) in bags(types, args, reads)? {
            let of = bag.uid();
            entities.push(bag);
            context.push((name.to_owned(), RestrictedExpression::new_entity_uid(of)));
        }
    }
    let context = Context::from_pairs(context).map_err(Unfit::because)?;
    let request =
        Request::new(principal, types.action(asked.action), resource, context, None).map_err(Unfit::because)?;
    Ok(Case { request, entities: Entities::from_entities(entities, None).map_err(Unfit::because)? })
}

type Attributes = Vec<(String, RestrictedExpression)>;

fn entity(
    of: EntityUid,
    attributes: Attributes,
    parents: impl IntoIterator<Item = EntityUid>,
) -> Result<Entity, Unfit> {
    Entity::new_with_tags(of, attributes, parents, []).map_err(Unfit::because)
}

fn text(name: &str, value: &str) -> (String, RestrictedExpression) {
    (name.to_owned(), RestrictedExpression::new_string(value.to_owned()))
}

fn flag(name: &str, value: bool) -> (String, RestrictedExpression) {
    (name.to_owned(), RestrictedExpression::new_bool(value))
}

fn texts(name: &str, values: &[Text]) -> (String, RestrictedExpression) {
    let values = values.iter().map(|value| RestrictedExpression::new_string(value.to_string()));
    (name.to_owned(), RestrictedExpression::new_set(values))
}

fn caller(link: &Link) -> Attributes {
    let name = match &link.subject {
        Subject::Anonymous => "anonymous",
        Subject::HubOwner => "owner",
        Subject::User(name) | Subject::Orchestrator(name) => name,
        Subject::Agent(peer) | Subject::Device(peer) => peer.as_str(),
        Subject::Hub(hub) => hub.as_str(),
    };
    vec![
        text("subject", &link.subject.to_string()),
        text("name", name),
        texts("scopes", &link.scopes),
        text("proof", link.proof.as_str()),
    ]
}

fn attributes(object: &Object<'_>) -> Attributes {
    match object {
        Object::Peer(_) => Vec::new(),
        Object::Skill(skill) => of_skill(skill),
        Object::Artifact { owner, .. } | Object::Conversation { owner, .. } => {
            vec![text("owner", &owner.to_string())]
        }
    }
}

fn of_skill(skill: &Skill) -> Attributes {
    let mut attributes = vec![
        text("peer", skill.id.peer.as_str()),
        text("name", skill.id.skill.as_str()),
        text("kind", skill.kind.as_str()),
        flag("public", skill.public),
        texts("labels", &skill.tags),
    ];
    attributes.extend(skill.category.as_deref().map(|category| text("category", category)));
    attributes.extend(skill.capability.as_deref().map(|capability| text("capability", capability)));
    attributes
}

fn circumstances(asked: &Asked<'_>, reads: &Reads) -> Result<Attributes, Unfit> {
    let effects = match asked.on {
        Object::Skill(skill) => effects(&skill.effects),
        Object::Peer(_) | Object::Artifact { .. } | Object::Conversation { .. } => effects(&Effects::claimed(&[])),
    };
    let effects = RestrictedExpression::new_record(effects).map_err(Unfit::because)?;
    let mut context = vec![
        text("protocol", asked.wire.unwrap_or("local")),
        text("provenance", asked.trust.unwrap_or(Trust::Caller).as_str()),
        ("effects".to_owned(), effects),
    ];
    if reads.time {
        context.push(("time".to_owned(), RestrictedExpression::new_datetime(stamp(asked.now)?)));
    }
    Ok(context)
}

fn effects(effects: &Effects) -> Attributes {
    vec![
        flag("reads", effects.reads),
        flag("writes", effects.writes),
        flag("destroys", effects.destroys),
        flag("spends", effects.spends),
        flag("idempotent", effects.idempotent),
        flag("unknown", effects.unknown),
    ]
}

/// As Cedar writes times: milliseconds, always.
fn stamp(time: Time) -> Result<String, Unfit> {
    let millis = i64::try_from(time.0).map_err(Unfit::because)?;
    let stamp = jiff::Timestamp::from_millisecond(millis).map_err(Unfit::because)?;
    Ok(stamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// The arguments that rules name, in the forms they name them.
fn bags(types: &Types, args: Option<&Json>, reads: &Reads) -> Result<[(&'static str, Entity); 3], Unfit> {
    let find =
        |name: &str| args.and_then(|args| args.tree().pointer(&format!("/{name}"))).filter(|tree| !tree.is_null());
    let texts = (reads.texts.iter()).filter_map(|name| Some((name.clone(), as_text(find(name)?))));
    let texts = texts.map(|(name, value)| (name, RestrictedExpression::new_string(value))).collect();
    let mut numbers = Vec::new();
    for name in &reads.numbers {
        let Some(value) = find(name) else { continue };
        let number = value.as_i64().ok_or_else(|| Unfit(format!("the argument `{name}` is no whole number")))?;
        numbers.push((name.clone(), RestrictedExpression::new_long(number)));
    }
    let mut decimals = Vec::new();
    for name in &reads.decimals {
        let Some(value) = find(name) else { continue };
        let number = decimal(value)
            .ok_or_else(|| Unfit(format!("the argument `{name}` is no number with at most four decimals")))?;
        decimals.push((name.clone(), RestrictedExpression::new_decimal(number)));
    }
    let bag = |kind: &EntityTypeName, tags: Attributes| {
        Entity::new_with_tags(uid(kind, "call"), [], [], tags).map_err(Unfit::because)
    };
    Ok([
        ("arguments", bag(&types.arguments, texts)?),
        ("numbers", bag(&types.numbers, numbers)?),
        ("decimals", bag(&types.decimals, decimals)?),
    ])
}

/// A string as it is, everything else as JSON: a rule can look into a list with `like`.
fn as_text(tree: &Tree) -> String {
    match tree {
        Tree::String(text) => text.clone(),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Array(_) | Tree::Object(_) => {
            without_spelling(tree).to_string()
        }
    }
}

/// With one spelling of each number: a rule about `100.5` also sees `100.50` and `1.005e2`. More digits than a double tells apart stay as
/// they are, so that such a number equals no other.
fn without_spelling(tree: &Tree) -> Tree {
    match tree {
        Tree::Null | Tree::Bool(_) | Tree::String(_) => tree.clone(),
        Tree::Number(number) => one_spelling(number).map_or_else(|| tree.clone(), Tree::Number),
        Tree::Array(items) => items.iter().map(without_spelling).collect(),
        Tree::Object(members) => {
            Tree::Object(members.iter().map(|(name, value)| (name.clone(), without_spelling(value))).collect())
        }
    }
}

fn one_spelling(number: &Number) -> Option<Number> {
    let text = number.as_str();
    let whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') && text != "-0";
    let mantissa = text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let digits = mantissa.filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    (!whole && digits <= DIGITS_OF_A_DOUBLE).then(|| Number::from_f64(number.as_f64()?)).flatten()
}

fn or_zero(digits: &str) -> &str {
    if digits.is_empty() { "0" } else { digits }
}

/// As Cedar writes decimals: with a point, at most four digits after it, and no exponent. Exact: nothing is rounded.
fn decimal(tree: &Tree) -> Option<String> {
    let written = tree.as_number()?.as_str();
    let (mantissa, exponent) = match written.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, exponent.parse().ok().filter(|shift: &i32| shift.unsigned_abs() <= MOST_SHIFT)?)
        }
        None => (written, 0),
    };
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let unsigned = mantissa.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let zeros = "0".repeat(exponent.unsigned_abs() as usize);
    let digits = match exponent < 0 {
        true => format!("{zeros}{whole}{fraction}"),
        false => format!("{whole}{fraction}{zeros}"),
    };
    // Zeros in front shift the point by as much as the exponent shifts it back.
    let (whole, fraction) = digits.split_at(whole.len() + usize::try_from(exponent).unwrap_or(0));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    // More than Cedar holds is told apart by Cedar itself, which then refuses.
    (fraction.len() <= 4).then(|| format!("{sign}{}.{}", or_zero(whole), or_zero(fraction)))
}
