//! Input of `edit`, and of `carry_out` for a plan that has ended: a whole new plan, single changes, or undo of the last change.

use crate::plans::constellation;
use bytes::Bytes;
use interlingua_machines::graph::{Edit, Graph, Happening, Plan, Want, towards};
use interlingua_model::json::DEFAULT_DEPTH;
use interlingua_model::{EdgeId, Fault, FaultKind, Json, NodeId, PeerId};
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// The shape of this plan, as far as steps have not begun.
    Towards(Box<Plan>),
    Edits(Vec<Edit>),
    Undo,
}

/// A plan, as it is given in arguments.
pub(crate) fn plan(json: &Json) -> Result<Plan, Fault> {
    let bytes: Bytes = json.as_bytes().clone();
    constellation::read(&bytes, DEFAULT_DEPTH).map_err(|invalid| refused(format!("the plan cannot be read: {invalid}")))
}

fn refused(text: impl Into<interlingua_model::Text>) -> Fault {
    Fault::caller(FaultKind::InvalidInput, text)
}

pub(crate) fn read(args: Option<&Json>) -> Result<Change, Fault> {
    let args = args.map_or_else(Members::absent, Members::of);
    if args.bool("undo") == Some(true) {
        return Ok(Change::Undo);
    }
    if let Some(whole) = args.get("plan") {
        return plan(&whole).map(Box::new).map(Change::Towards);
    }
    let mut edits = Vec::new();
    edits.extend(names(&args, "unlink").into_iter().map(|id| Edit::Unlink(EdgeId::from(id))));
    edits.extend(names(&args, "remove").into_iter().map(|id| Edit::Remove(NodeId::from(id))));
    if let Some(targets) = args.object("retarget") {
        for (node, peer) in targets.iter() {
            let peer = peer.tree().as_str().ok_or_else(|| refused("a step is given to a peer by its name"))?;
            edits.push(Edit::Retarget { node: NodeId::from(node), want: Want::Peer(PeerId::from(peer)) });
        }
    }
    let more = plan(&Object::json(|out| {
        for key in ["tasks", "dependencies"] {
            if let Some(value) = args.get(key) {
                out.value(key, &value);
            }
        }
    }))?;
    edits.extend(more.nodes.into_iter().map(|node| Edit::Add(Box::new(node))));
    edits.extend(more.edges.into_iter().map(|edge| Edit::Link(Box::new(edge))));
    if edits.is_empty() {
        return Err(refused(
            "nothing to change: give `plan`, `tasks`, `dependencies`, `remove`, `unlink`, `retarget` or `undo`",
        ));
    }
    Ok(Change::Edits(edits))
}

fn names(args: &Members, key: &str) -> Vec<String> {
    let list = args.get(key).and_then(|list| elements(&list)).unwrap_or_default();
    list.iter().filter_map(|one| one.tree().as_str().map(str::to_owned)).collect()
}

impl Change {
    /// What it does to a plan that runs.
    pub(super) fn happening(self, graph: &Graph) -> Happening {
        match self {
            Change::Undo => Happening::Undo,
            Change::Towards(plan) => Happening::Edit(towards(graph, &plan)),
            Change::Edits(edits) => Happening::Edit(over(edits, graph)),
        }
    }

    /// The plan that takes up one which has ended, with this change.
    pub(super) fn taken_up(self, ended: &Graph) -> Result<Plan, Fault> {
        let open = ended.reopened();
        match self {
            Change::Undo => Err(refused("an edit of a plan that has ended cannot be undone")),
            Change::Towards(plan) => ended.taken_up(&towards(&open, &plan)),
            Change::Edits(edits) => ended.taken_up(&over(edits, &open)),
        }
    }
}

/// A step of an id that is there takes its place.
fn over(edits: Vec<Edit>, graph: &Graph) -> Vec<Edit> {
    let there = |edit: Edit| match edit {
        Edit::Add(node) if graph.step(&node.id).is_some() => Edit::Replace(node),
        other => other,
    };
    edits.into_iter().map(there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str) -> Result<Change, Fault> {
        read(Some(&Json::parse(text.to_owned().into()).expect("JSON")))
    }

    #[test]
    fn single_changes_come_in_an_order_in_which_they_can_be_made() {
        let Ok(Change::Edits(edits)) = changed(
            r#"{"task":"t","tasks":[{"task_id":"c"}],"dependencies":[{"line_id":"l","from_task_id":"a","to_task_id":"c"}],
                "remove":["b"],"unlink":["k"],"retarget":{"a":"dev2"}}"#,
        ) else {
            panic!("edits")
        };
        let kinds: Vec<&str> = edits
            .iter()
            .map(|edit| match edit {
                Edit::Add(_) => "add",
                Edit::Remove(_) => "remove",
                Edit::Replace(_) => "replace",
                Edit::Retarget { .. } => "retarget",
                Edit::Link(_) => "link",
                Edit::Unlink(_) => "unlink",
            })
            .collect();
        assert_eq!(kinds, ["unlink", "remove", "retarget", "add", "link"]);
    }

    #[test]
    fn to_change_nothing_is_refused_and_so_is_what_is_no_plan() {
        assert_eq!(changed(r#"{"task":"t","undo":true}"#), Ok(Change::Undo));
        assert!(matches!(changed(r#"{"plan":{"tasks":[]}}"#), Ok(Change::Towards(_))));
        for text in [r#"{"task":"t"}"#, r#"{"tasks":7}"#, r#"{"retarget":{"a":7}}"#, r#"{"plan":[]}"#] {
            assert_eq!(changed(text).expect_err(text).kind, FaultKind::InvalidInput);
        }
    }
}
