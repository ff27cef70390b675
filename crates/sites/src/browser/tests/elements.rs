//! What a press waits for, what typing fires, and what is extracted from an element: each clause alone, on a page made for it.

use interlingua_model::json::Tree;
use serde_json::json;

use super::{Bench, fault, rows, site, structured};
use interlingua_testkit::pages::{Pages, html};

fn open(path: &str) -> Tree {
    json!({"action_type": "navigate", "value": path})
}

/// A button that becomes usable after a while, and notes in which state it was pressed.
fn button(style: &str, begins: &str, ends: &str) -> String {
    html(&format!(
        "<style>#go {{ position: absolute; left: 100px; top: 100px; width: 400px; height: 400px }} {style}</style>
        <button id='go'>Go</button><p id='out'>nothing</p><script>
        const go = document.getElementById('go'), seen = [];
        let ready = false;
        for (const kind of ['mousemove', 'mousedown', 'mouseup', 'click']) go.addEventListener(kind, e => {{
          if (kind === 'mousemove' && !ready) return;
          seen.push(kind + (e.isTrusted ? '' : ' of a script') + (ready ? '' : ' too early'));
          if (kind === 'click') out.textContent = seen.join(' ');
        }});
        {begins};
        setTimeout(() => {{ {ends}; ready = true; }}, 1500);
        </script>"
    ))
}

#[tokio::test]
async fn w_24_a_press_waits_for_each_of_what_makes_it_meet_its_element() {
    // It moves and is under the pointer all the time: only its place tells that it is not still.
    let moving = button(
        "@keyframes m { to { left: 160px } }",
        "go.style.animation = 'm 230ms linear infinite'",
        "go.style.animation = ''",
    );
    let covered = button(
        "#veil { position: fixed; inset: 0; z-index: 9 }",
        "document.body.insertAdjacentHTML('beforeend', '<div id=veil></div>')",
        "document.getElementById('veil').remove()",
    );
    let cases = [
        ("/hidden", button("", "go.style.display = 'none'", "go.style.display = ''"), "it cannot be seen"),
        ("/unseen", button("", "go.style.visibility = 'hidden'", "go.style.visibility = ''"), "it cannot be seen"),
        ("/disabled", button("", "go.disabled = true", "go.disabled = false"), "it is disabled"),
        ("/aria", button("", "go.ariaDisabled = 'true'", "go.ariaDisabled = null"), "it is disabled"),
        ("/moving", moving, "it does not stand still"),
        ("/covered", covered, "it is covered by div#veil"),
    ];
    let pages = cases.each_ref().map(|(path, page, _)| (*path, page.clone()));
    let (bench, server) = (Bench::new(), Pages::start(pages).await);
    let read = json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}});
    let press = json!({"action_type": "click", "selector": "#go"});
    let soon = json!({"action_type": "click", "selector": "#go", "timeout": "200ms"});
    let actions = json!({"get": [open("/{page}"), press, read], "get_soon": [open("/{page}"), soon]});
    let peer = bench.site(site(&server, actions));
    for (path, _, why) in &cases {
        let page = json!({"page": path.trim_start_matches('/')});
        let finished = peer.try_out("get", page.clone()).await.unwrap();
        assert_eq!(rows(&finished), &json!([{"said": "mousemove mousedown mouseup click"}]), "{path}");
        let (fault_, code) = fault(peer.try_out("get_soon", page).await);
        assert_eq!(code, "not_actionable", "{path}: {fault_}");
        assert!(fault_.public.contains("step 2") && fault_.public.contains(why), "{path}: {fault_}");
    }
}

/// Read while the focus is still there, and again after it has left.
#[tokio::test]
async fn w_25_typing_fires_input_and_change_at_once_and_change_only_once() {
    let page = html(
        "<input id='a' value='old'><textarea id='b'>old</textarea><div id='c' contenteditable>old</div>
        <div id='host'></div><input id='other'><p id='out'></p><script>
        host.attachShadow({ mode: 'open' }).innerHTML = '<input id=deep value=old>';
        const seen = [], note = e => {
          const el = e.currentTarget;
          seen.push(`${e.type} ${el.id} ${el.value ?? el.textContent}`);
          out.textContent = seen.join(', ');
        };
        const all = [a, b, c, host.shadowRoot.querySelector('input')];
        for (const el of all) for (const kind of ['input', 'change']) el.addEventListener(kind, note);
        </script>",
    );
    let (bench, server) = (Bench::new(), Pages::start([("/", page)]).await);
    let write = |place: &str, text: &str| json!({"action_type": "type", "selector": place, "value": text});
    let read = |name: &str| json!({"action_type": "extract", "selector": "#out", "name": name, "extract_schema": {"said": "."}});
    let both =
        |place: &str| json!([open("/"), write(place, "new"), read("at_once"), write("#other", "x"), read("later")]);
    let again = json!([open("/"), write("#a", "new"), write("#a", "newer"), write("#other", "x"), read("later")]);
    let actions = json!({"get_a": both("#a"), "get_b": both("#b"), "get_c": both("#c"), "get_deep": both("#deep"),
        "get_again": again});
    let peer = bench.site(site(&server, actions));
    for id in ["a", "b", "c", "deep"] {
        let finished = peer.try_out(&format!("get_{id}"), json!({})).await.unwrap();
        let once = json!([{"said": format!("input {id} new, change {id} new")}]);
        assert_eq!(structured(&finished)["extracts"], json!({"at_once": once, "later": once}));
    }
    let finished = peer.try_out("get_again", json!({})).await.unwrap();
    let twice = "input a new, change a new, input a newer, change a newer";
    assert_eq!(rows(&finished), &json!([{ "said": twice }]), "each value once");
}

#[tokio::test]
async fn w_31_attributes_types_and_bounds_of_what_is_taken_out() {
    let page = html(
        "<div class='r'><a href='x/../y?q=1'>a</a><img src='/p.png' alt='p'><input value='typed'>
        <b class='name'>Seen <i style='display:none'>unseen</i></b><b class='price'> 1.299,50 \u{20ac} </b>
        <b class='date'>1 May 2027</b><b class='upper' style='text-transform: uppercase'>loud</b></div><ul></ul><script>
        const rows = Array.from({ length: 1200 }, (_, n) => `<li>${n}</li>`), x = 'x'.repeat(16000);
        document.querySelector('ul').innerHTML = rows.join('');
        document.body.insertAdjacentHTML('beforeend', `<pre class='large'>${x}</pre>`.repeat(300));
        </script>",
    );
    let (bench, server) = (Bench::new(), Pages::start([("/dir/", page)]).await);
    let extract =
        |place: &str, fields: Tree| json!({"action_type": "extract", "selector": place, "extract_schema": fields});
    let fields = json!({"link": "a@href", "picture": "img@src", "alt": "img@alt", "value": "input@value", "name": ".name",
        "upper": ".upper", "price": {"selector": ".price", "type": "price"}, "date": {"selector": ".date", "type": "date"}});
    let mut few = extract("li", json!({"n": {"selector": ".", "type": "number"}}));
    few["max_rows"] = 3.into();
    let get = |step: Tree| json!([open("/dir/"), step]);
    let peer = bench.site(site(
        &server,
        json!({"get": get(extract(".r", fields)), "get_many": get(extract("li", json!({"n": "."}))), "get_few": get(few),
            "get_large": get(extract(".large", json!({"text": "."})))}),
    ));
    let base = server.base();
    let row = json!({"link": format!("{base}/dir/y?q=1"), "picture": format!("{base}/p.png"), "alt": "p", "value": "typed",
        "name": "Seen", "upper": "LOUD", "date": "2027-05-01",
        "price": {"amount": 1299.5, "currency": "EUR", "text": "1.299,50 \u{20ac}"}});
    assert_eq!(rows(&peer.try_out("get", json!({})).await.unwrap()), &json!([row]), "what is seen, as it is seen");
    let many = peer.try_out("get_many", json!({})).await.unwrap();
    assert_eq!(rows(&many).as_array().unwrap().len(), 1_000);
    assert_eq!(rows(&peer.try_out("get_few", json!({})).await.unwrap()), &json!([{"n": 0.0}, {"n": 1.0}, {"n": 2.0}]));
    let (fault_, code) = fault(peer.try_out("get_large", json!({})).await);
    assert_eq!(code, "extraction_invalid", "{fault_}");
    assert!(fault_.public.contains("step 2") && fault_.public.contains("more text than one call may take"), "{fault_}");
}
