// What runs beside a page, in a world of its own: the page's scripts can neither see nor change it. It finds elements, waits
// until they can be used, says where they are, and reads what is asked for. It presses nothing: real input comes from
// outside. One call for each step; every answer is plain data.
(() => {
  if (globalThis.__interlingua) return;

  const TICK = 25, STILL = 500, MAX_CANDIDATES = 400, MAX_CHARS = 16384, MAX_TOTAL = 4 << 20;

  // ---- finding ----

  const cut = (text, most) => String(text ?? '').slice(0, most).toWellFormed();
  const squeeze = text => String(text ?? '').replace(/\s+/g, ' ').trim();

  // The document, its open shadow roots and the documents of its same-origin frames, in order.
  function roots(root = document, found = []) {
    found.push(root);
    for (const el of root.querySelectorAll('*')) {
      if (el.shadowRoot) roots(el.shadowRoot, found);
      if (el.localName === 'iframe' || el.localName === 'frame') {
        let inner = null;
        try { inner = el.contentDocument; } catch { /* another origin */ }
        if (inner && inner.documentElement) roots(inner, found);
      }
      if (found.length > 500) break;
    }
    return found;
  }

  const unquote = text => text.replace(/^(["'])(.*)\1$/, '$2');

  function matcher(selector) {
    const [, prefix, rest] = /^(xpath|css|text|role|label|placeholder|test)=([\s\S]*)$/.exec(selector) ?? [null, '', selector];
    if (prefix === 'xpath' || (!prefix && /^(\/\/|\.\/\/|\()/.test(selector))) return root => {
      const doc = root.ownerDocument ?? root;
      if (root instanceof ShadowRoot) return [];
      const set = doc.evaluate(rest, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
      return Array.from({ length: Math.min(set.snapshotLength, 5000) }, (_, i) => set.snapshotItem(i)).filter(n => n.nodeType === 1);
    };
    if (prefix === 'text') {
      const exact = /^["']/.test(rest), wanted = squeeze(unquote(rest)).toLowerCase();
      const has = el => { if (/^(script|style|template|head|html|title)$/.test(el.localName)) return false; const t = squeeze(el.innerText ?? el.value ?? '').toLowerCase(); return exact ? t === wanted : t.includes(wanted); };
      return root => [...root.querySelectorAll('*')].filter(el => has(el) && ![...el.children].some(has));
    }
    if (prefix === 'role') {
      const [, role, name] = /^([a-z]+)(?:\[name=(.*)\])?$/.exec(rest) ?? [null, rest, undefined];
      const wanted = name === undefined ? null : squeeze(unquote(name)).toLowerCase();
      return root => [...root.querySelectorAll('*')].filter(el => roleOf(el) === role && (wanted === null || nameOf(el).toLowerCase() === wanted));
    }
    if (prefix === 'label') {
      const wanted = squeeze(unquote(rest)).toLowerCase();
      return root => [...root.querySelectorAll('input,textarea,select,[contenteditable],[role]')].filter(el => labelOf(el).toLowerCase() === wanted || nameOf(el).toLowerCase() === wanted);
    }
    const css = prefix === 'placeholder' ? `[placeholder=${JSON.stringify(unquote(rest))}]`
      : prefix === 'test' ? ['data-testid', 'data-test', 'data-test-id'].map(a => `[${a}=${JSON.stringify(unquote(rest))}]`).join()
      : rest;
    return root => [...root.querySelectorAll(css)];
  }

  // In the page itself first; only where nothing is found also below shadow roots and in frames.
  function all(selector, within) {
    const find = matcher(selector);
    const near = find(within ?? document);
    if (near.length) return near;
    const places = within ? roots(within).slice(1) : roots().slice(1);
    return places.flatMap(find);
  }

  // ---- what an element is ----

  function shown(el, transparent = true) {
    if (!el.isConnected || !el.checkVisibility({ visibilityProperty: true, opacityProperty: !transparent })) return false;
    if (el.localName === 'option') return true;
    const box = el.getBoundingClientRect();
    return (box.width > 0 && box.height > 0) || getComputedStyle(el).display === 'contents';
  }

  // innerText leaves out what is not drawn, and has what is drawn as nothing: without colour or without size.
  function seenText(el) {
    const drawn = [], walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode;
      if (data.trim() && parentElement.checkVisibility({ visibilityProperty: true })) drawn.push(walker.currentNode);
    }
    const seen = drawn.filter(node => shown(node.parentElement, false));
    if (seen.length === drawn.length) return el.innerText;
    const block = node => { let e = node.parentElement; while (e !== el && /^(inline|contents)/.test(getComputedStyle(e).display)) e = e.parentElement; return e; };
    let text = '', last = null;
    for (const node of seen) {
      const own = block(node);
      text += (last && last !== own ? '\n' : '') + node.data.replace(/\s+/g, ' ');
      last = own;
    }
    return text;
  }

  function roleOf(el) {
    const said = el.getAttribute('role');
    if (said) return said.split(' ')[0];
    const tag = el.localName, type = (el.getAttribute('type') ?? '').toLowerCase();
    if (tag === 'a' && el.hasAttribute('href')) return 'link';
    if (tag === 'button' || (tag === 'input' && /^(submit|button|image|reset)$/.test(type))) return 'button';
    if (tag === 'input' && /^(checkbox|radio)$/.test(type)) return type;
    if (tag === 'input' && type === 'search') return 'searchbox';
    if (tag === 'input' || tag === 'textarea' || el.isContentEditable) return 'textbox';
    if (tag === 'select') return 'combobox';
    if (/^h[1-6]$/.test(tag)) return 'heading';
    return '';
  }

  function labelOf(el) {
    const by = el.getAttribute('aria-labelledby');
    if (by) return cut(squeeze(by.split(/\s+/).map(id => el.getRootNode().getElementById?.(id)?.innerText ?? '').join(' ')), 120);
    if (el.labels?.length) return cut(squeeze([...el.labels].map(l => l.innerText).join(' ')), 120);
    return '';
  }

  function nameOf(el) {
    const own = el.getAttribute('aria-label') || labelOf(el);
    if (own) return cut(squeeze(own), 120);
    const role = roleOf(el);
    if (/^(button|link|heading|option|tab|menuitem)$/.test(role)) return cut(squeeze(el.innerText || el.value || el.getAttribute('title')), 120);
    return cut(squeeze(el.getAttribute('title') || el.getAttribute('placeholder') || ''), 120);
  }

  const transient = /^(is-|has-|js-)?(active|focus(ed)?|hover(ed)?|open(ed)?|selected|loading|loaded|disabled|visible|hidden|show|animat\w*)$/;

  function print(el) {
    const path = [];
    for (let e = el; e && e.localName !== 'body' && path.length < 12; e = e.parentElement) path.unshift(e.localName);
    return {
      tag: el.localName, type: (el.getAttribute('type') ?? '').toLowerCase(), role: roleOf(el), name: nameOf(el), label: labelOf(el),
      field: cut(el.getAttribute('name'), 80), id: cut(el.id, 80), placeholder: cut(el.getAttribute('placeholder'), 120),
      text: /^(input|textarea|select)$/.test(el.localName) ? '' : cut(squeeze(el.innerText), 80),
      test: cut(el.getAttribute('data-testid') ?? el.getAttribute('data-test'), 80),
      classes: [...el.classList].filter(c => !transient.test(c)).slice(0, 8).map(c => cut(c, 60)),
      path: path.join('>'), selector: selectorOf(el),
    };
  }

  // A selector for this element alone: by what tends to stay, else by its place.
  function selectorOf(el) {
    const root = el.getRootNode();
    const alone = css => { try { return root.querySelectorAll(css).length === 1; } catch { return false; } };
    const q = JSON.stringify;
    const tests = ['data-testid', 'data-test', 'name', 'aria-label', 'placeholder'].filter(a => el.getAttribute(a)).map(a => `${el.localName}[${a}=${q(el.getAttribute(a))}]`);
    const tries = [el.id && `#${CSS.escape(el.id)}`, ...tests, ...[...el.classList].map(c => `${el.localName}.${CSS.escape(c)}`)].filter(Boolean);
    const found = tries.find(alone);
    if (found) return cut(found, 500);
    const steps = [];
    for (let e = el; e && e.localName !== 'html' && steps.length < 30; e = e.parentElement) {
      if (e !== el && e.id && alone(`#${CSS.escape(e.id)}`)) { steps.unshift(`#${CSS.escape(e.id)}`); break; }
      const same = e.parentElement ? [...e.parentElement.children].filter(o => o.localName === e.localName) : [e];
      steps.unshift(same.length > 1 ? `${e.localName}:nth-of-type(${same.indexOf(e) + 1})` : e.localName);
    }
    return cut(steps.join(' > '), 500);
  }

  // ---- waiting until it can be used ----

  const frame = most => new Promise(done => { const timer = setTimeout(done, most); requestAnimationFrame(() => { clearTimeout(timer); done(); }); });
  const pause = () => new Promise(done => setTimeout(done, TICK));
  let listed = [];

  function locate(tries, picked) {
    if (picked !== undefined && picked !== null) return { el: listed[picked], used: -1 };
    let hidden = null;
    for (const [used, selector] of tries.entries()) {
      const found = all(selector);
      const seen = found.find(el => shown(el));
      if (seen) return { el: seen, used };
      if (found.length && !hidden) hidden = { el: found[0], used };
    }
    return hidden ?? { el: null, used: -1 };
  }

  // `probe` says what stands in the way, or nothing. Missing elements are waited for only as long as `patience` once the page
  // has loaded, so that repair does not start late.
  async function until({ tries, picked, limit, patience }, probe) {
    const begun = performance.now();
    for (;;) {
      const at = locate(tries, picked);
      const waited = performance.now() - begun;
      const why = at.el ? await probe(at.el) : { why: 'missing' };
      if (!why) return { ok: true, el: at.el, used: at.used };
      const early = why.why === 'missing' && patience && waited >= patience && document.readyState === 'complete';
      if (early || waited >= limit) return { ok: false, ...why };
      await pause();
    }
  }

  // What is animated moves from one frame to the next, not between them and not in the one in which it begins. On a busy
  // machine a frame takes its time.
  async function steady(el) {
    const place = () => { const { x, y, width, height } = el.getBoundingClientRect(); return [x, y, width, height].join(); };
    const first = place();
    await frame(STILL);
    await frame(STILL);
    return place() === first;
  }

  const off = el => el.matches(':disabled') || el.closest('[aria-disabled="true"]') !== null;

  function describe(el) {
    return cut(el.localName + (el.id ? `#${el.id}` : '') + [...el.classList].slice(0, 2).map(c => `.${c}`).join(''), 80);
  }

  // Where the middle of an element is in the window, through the frames around it.
  function middle(el) {
    const box = [...el.getClientRects()].find(r => r.width > 0 && r.height > 0) ?? el.getBoundingClientRect();
    let x = box.x + box.width / 2, y = box.y + box.height / 2;
    const own = { x, y };
    for (let view = el.ownerDocument.defaultView; view && view.frameElement; view = view.parent) {
      const outer = view.frameElement.getBoundingClientRect();
      x += outer.x + view.frameElement.clientLeft;
      y += outer.y + view.frameElement.clientTop;
    }
    return { x, y, own };
  }

  // What the pointer would meet there.
  function under(doc, x, y) {
    let hit = doc.elementFromPoint(x, y);
    while (hit?.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  }

  function holds(el, hit) {
    for (let e = hit; e; e = e.parentElement ?? e.getRootNode().host) if (e === el) return true;
    return hit?.closest?.('label')?.control === el;
  }

  // The element or, in a frame, each frame around it.
  function covered(el) {
    const { own } = middle(el);
    const hit = under(el.ownerDocument, own.x, own.y);
    if (!holds(el, hit)) return hit ? describe(hit) : 'the edge of the page';
    for (let view = el.ownerDocument.defaultView, p = own; view && view.frameElement; view = view.parent) {
      const outer = view.frameElement.getBoundingClientRect();
      p = { x: p.x + outer.x + view.frameElement.clientLeft, y: p.y + outer.y + view.frameElement.clientTop };
      const over = under(view.frameElement.ownerDocument, p.x, p.y);
      if (over !== view.frameElement) return over ? describe(over) : 'the edge of the page';
    }
    return null;
  }

  async function pressable(el) {
    if (!shown(el)) return { why: 'hidden' };
    if (off(el)) return { why: 'disabled' };
    el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    if (!await steady(el)) return { why: 'moving' };
    const by = covered(el);
    return by ? { why: 'covered', by } : null;
  }

  const typed = 'date time month week datetime-local color range'.split(' ');
  const unwritable = 'checkbox radio file submit button image reset hidden'.split(' ');

  function writable(el) {
    if (!shown(el)) return { why: 'hidden' };
    if (off(el)) return { why: 'disabled' };
    const box = el.localName === 'input' ? !unwritable.includes(el.type) : el.localName === 'textarea' || el.isContentEditable;
    if (!box) return { why: 'unfit', by: describe(el) };
    return el.readOnly ? { why: 'readonly' } : null;
  }

  // A picture shows nothing of what it holds: dots for letters, and nothing at all of what has no letters of its own. It stays
  // where it is and can be used.
  function hide(el) {
    const [name, value] = typed.includes(el.type) || el.localName === 'select' ? ['mask', 'linear-gradient(#0000 0 0)'] : ['-webkit-text-security', 'disc'];
    el.style.setProperty(name, value, 'important');
  }

  // A label stands for its control.
  const control = el => (el.localName === 'label' && el.control) || el;

  let landed = null, disarm = () => {}, written = null;

  const base = () => ({ href: cut(location.href, 2000) });

  const ops = {
    // Ready to be pressed: where, and a watch on whether the press meets it.
    async press(a) {
      const r = await until(a, pressable);
      if (!r.ok) return r;
      const { x, y } = middle(r.el);
      disarm();
      landed = null;
      const watch = e => {
        landed = e.composedPath().some(n => n === r.el) || holds(r.el, e.target) || r.el.labels && [...r.el.labels].some(l => l.contains(e.target));
        if (!landed) { e.preventDefault(); e.stopImmediatePropagation(); }
      };
      const view = r.el.ownerDocument.defaultView;
      view.addEventListener('mousedown', watch, { capture: true, once: true });
      disarm = () => view.removeEventListener('mousedown', watch, { capture: true });
      return { ok: true, x, y, used: r.used, print: print(r.el) };
    },
    async pressed() {
      disarm();
      await frame(TICK);
      return { ok: true, landed: landed !== false };
    },

    // Ready to be written into: focused, with all it holds selected. What has no text of its own is set here.
    async fill(a) {
      const r = await until(a, el => writable(control(el)));
      if (!r.ok) return r;
      const el = control(r.el), seen = print(el);
      el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      el.focus();
      if (a.secret) hide(el);
      if (el.localName === 'input' && typed.includes(el.type)) {
        el.value = a.text;
        if (a.text && !el.value) return { ok: false, why: 'value', by: el.type };
        el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
        el.dispatchEvent(new Event('change', { bubbles: true }));
        return { ok: true, insert: false, used: r.used, print: seen };
      }
      if (el.select) el.select(); else el.ownerDocument.getSelection().selectAllChildren(el);
      written = el;
      return { ok: true, insert: true, used: r.used, print: seen };
    },
    // Real input has no `change` before the focus leaves, and the focus stays: lists of suggestions close without it. Whoever
    // listens is told now, and of the same value not a second time.
    async filled() {
      const el = written;
      if (!el?.isConnected) return { ok: true };
      el.dispatchEvent(new Event('change', { bubbles: true }));
      const root = el.getRootNode(), at = root.defaultView ?? root, told = el.value;
      const again = e => {
        if (!e.isTrusted || e.composedPath()[0] !== el) return;
        at.removeEventListener('change', again, true);
        if (el.value === told) e.stopImmediatePropagation();
      };
      at.addEventListener('change', again, true);
      return { ok: true };
    },

    // By value or by label; options may come late.
    async choose(a) {
      const pick = el => [...el.options].find(o => o.value === a.text) ?? [...el.options].find(o => squeeze(o.label || o.text) === squeeze(a.text));
      const r = await until(a, el => {
        el = control(el);
        if (!shown(el)) return { why: 'hidden' };
        if (off(el)) return { why: 'disabled' };
        if (el.localName !== 'select') return { why: 'unfit', by: describe(el) };
        return pick(el) ? null : { why: 'option' };
      });
      if (!r.ok) return r;
      const el = control(r.el), seen = print(el);
      el.focus();
      if (a.secret) hide(el);
      pick(el).selected = true;
      el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
      el.dispatchEvent(new Event('change', { bubbles: true }));
      return { ok: true, used: r.used, print: seen };
    },

    async wait(a) {
      const r = await until(a, el => shown(el) ? null : { why: 'hidden' });
      return r.ok ? { ok: true, used: r.used, print: print(r.el) } : r;
    },

    // Every row with its fields, in one go.
    async rows(a) {
      let found = [], used = -1, total = 0;
      for (const [i, selector] of a.tries.entries()) {
        found = all(selector);
        if (found.length) { used = i; break; }
      }
      const text = el => {
        if (/^(input|textarea|select)$/.test(el.localName)) return el.value;
        return seenText(el) ?? el.textContent;
      };
      const attribute = (el, name) => /^(href|src|value|currentSrc)$/.test(name) && typeof el[name] === 'string' ? el[name] : el.getAttribute(name);
      const rows = found.slice(0, a.most).map(row => {
        const item = {};
        for (const f of a.fields) {
          const places = f.selector === '.' ? [row] : all(f.selector, row);
          // What nobody can see is nobody's word. An attribute is never seen.
          const usable = f.attribute ? places : places.filter(el => shown(el, false));
          const read = el => { const v = cut(f.attribute ? attribute(el, f.attribute) : text(el), MAX_CHARS + 1); total += v.length; return v; };
          if (f.list) item[f.name] = usable.slice(0, 200).map(read);
          else if (usable.length && (!f.attribute || attribute(usable[0], f.attribute) !== null)) item[f.name] = read(usable[0]);
          if (total > MAX_TOTAL) break;
        }
        return item;
      });
      return { ok: true, rows: total > MAX_TOTAL ? [] : rows, tooMuch: total > MAX_TOTAL, count: found.length, used };
    },

    // What could be meant: everything that can be used, or everything that has a name.
    async candidates({ kind }) {
      const css = kind === 'any' ? '[id],[class],[role],main,section,ul,ol,table' : 'input,textarea,select,button,a[href],[role],[contenteditable],[onclick],label';
      listed = roots().flatMap(root => [...root.querySelectorAll(css)]).filter(el => shown(el)).slice(0, MAX_CANDIDATES);
      return { ok: true, candidates: listed.map(print) };
    },

    // Elements that stand side by side and are built alike.
    async alike() {
      const groups = [];
      for (const parent of roots().flatMap(root => [...root.querySelectorAll('*')])) {
        if (parent.children.length < 2 || groups.length >= 60) continue;
        const kinds = new Map();
        for (const child of parent.children) {
          const key = `${child.localName}(${[...child.children].map(c => c.localName).join()})`;
          kinds.set(key, [...(kinds.get(key) ?? []), child]);
        }
        for (const same of kinds.values()) {
          if (same.length < 2 || !shown(same[0])) continue;
          const leaves = leavesOf(same[0]);
          if (!leaves.length) continue;
          const shared = [...same[0].classList].find(c => same.every(el => el.classList.contains(c)));
          const own = shared ? `.${CSS.escape(shared)}` : '';
          groups.push({ selector: cut(`${selectorOf(parent)} > ${same[0].localName}${own}`, 500), class: cut([...same[0].classList].join(' '), 200), count: same.length, leaves });
        }
      }
      return { ok: true, groups };
    },

    // What the page's origin keeps, and keeping it again.
    async stored() {
      const stored = Object.entries(localStorage);
      return stored.reduce((sum, [key, value]) => sum + key.length + value.length, 0) > MAX_TOTAL ? { ok: false } : { ok: true, stored };
    },
    async store({ items }) {
      for (const [key, value] of items) localStorage.setItem(key, value);
      return { ok: true };
    },

    async where() { return { ok: true }; },
  };

  function leavesOf(row) {
    const leaves = [];
    for (const el of row.querySelectorAll('*')) {
      if (![...el.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !shown(el) || leaves.length >= 20) continue;
      const steps = [];
      for (let e = el; e !== row; e = e.parentElement) {
        const same = [...e.parentElement.children].filter(o => o.localName === e.localName);
        steps.unshift(same.length > 1 ? `${e.localName}:nth-of-type(${same.indexOf(e) + 1})` : e.localName);
      }
      const named = [...el.classList].find(c => row.querySelectorAll(`.${CSS.escape(c)}`).length === 1);
      const marks = [...el.classList, el.getAttribute('itemprop'), el.getAttribute('data-testid'), el.getAttribute('aria-label'), el.localName];
      leaves.push({ selector: named ? `.${CSS.escape(named)}` : `:scope > ${steps.join(' > ')}`, class: cut(marks.filter(Boolean).join(' '), 200), text: cut(squeeze(el.innerText), 80) });
    }
    return leaves;
  }

  globalThis.__interlingua = async (op, a) => {
    try {
      const r = await ops[op](a);
      const { el, ...plain } = r;
      return { ...plain, ...base() };
    } catch (e) {
      return { ok: false, why: 'selector', by: cut(e?.message ?? e, 200), ...base() };
    }
  };
})();
