// The outliner of the editor: posts within a post as headlines, each in its own field.
// The hidden field "outline" has them as JSON and fires an event for each change.
// Without this file the page has a plain field for the outline.

const box = document.querySelector("[data-outliner]");
const $ = (selector) => box.querySelector(selector);
const field = $("[name=outline]"), root = $(".outline"), tools = $("[role=toolbar]"), file = $("[type=file]"), plain = $("[data-plain]");
const pattern = document.createElement("template");
pattern.innerHTML = '<li><div class="line"><button type="button" class="wedge" draggable="true" tabindex="-1"></button><textarea rows="1" dir="auto"></textarea><span class="soft facts"></span></div><ul role="list"></ul></li>';

const text = (li) => li.firstElementChild.children[1];
const list = (li) => li.lastElementChild;
const subs = (li) => list(li).children;
const above = (li) => li.parentElement.closest(".outline li");
const level = (li) => (li ? 1 + level(above(li)) : 0);
const everyone = () => [...root.querySelectorAll("li")];
const seen = () => everyone().filter((li) => !li.parentElement.closest("ul[hidden]"));
const neighbour = (li, step) => { const all = seen(); return all[all.indexOf(li) + step]; };
const ending = (li) => text(li).value.length;
const isEmpty = (li) => !text(li).value.trim() && !Object.keys(li.facts).length;
const say = (words) => { $("[role=status]").textContent = words; };

let here = null; // the last focused headline
let leaving = false; // the next Tab leaves the outline

// Converts between headlines and the nodes of the server.
function make({ text: words = "", nodes = [], folded, html, ...facts }) {
  const li = pattern.content.cloneNode(true).firstElementChild;
  li.facts = facts;
  text(li).value = words;
  text(li).nextSibling.textContent = [facts.title, facts.link, ...(facts.enclosures ?? []).map((e) => e.title || e.url)].filter(Boolean).join(" · ");
  list(li).append(...nodes.map(make));
  list(li).hidden = !!folded && nodes.length > 0;
  return li;
}

const read = (ul) => [...ul.children].map((li) => ({
  ...li.facts, text: text(li).value, folded: list(li).hidden || undefined, nodes: subs(li).length ? read(list(li)) : undefined,
}));

function changed(structure = true) {
  if (!root.children.length) root.append(make({}));
  field.value = everyone().every(isEmpty) ? "" : JSON.stringify(read(root));
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (structure) name();
}

// Sets the labels of the headlines and of their fold buttons.
function name() {
  for (const li of everyone()) {
    const n = subs(li).length, wedge = li.firstElementChild.firstElementChild;
    if (!n) list(li).hidden = false;
    const shut = list(li).hidden;
    text(li).ariaLabel = n ? (shut ? t("Headline, level %d, %d inside, folded", level(li), n) : t("Headline, level %d, %d inside", level(li), n)) : t("Headline, level %d", level(li));
    wedge.ariaLabel = n ? (shut ? t("Unfold") : t("Fold")) : t("Drag");
    wedge.ariaExpanded = n ? `${!shut}` : null;
    grow(text(li));
  }
}

function grow(t) {
  if (CSS.supports("field-sizing", "content")) return;
  t.style.height = "auto";
  t.style.height = `${t.scrollHeight}px`;
}

function go(li, at) {
  if (!li) return;
  for (let up = above(li); up; up = above(up)) list(up).hidden = false;
  here = li;
  text(li).focus();
  if (at !== undefined) text(li).setSelectionRange(at, at);
}

// Stores the state before each change. Continuous typing is one change.
const past = [], future = [];
let last = null, when = 0;
const now = () => ({ nodes: JSON.stringify(read(root)), at: everyone().indexOf(here), caret: here ? text(here).selectionStart : 0 });

function before(typed = null) {
  if (typed && typed === last && Date.now() - when < 2000) return;
  last = typed;
  when = Date.now();
  future.length = 0;
  if (past.push(now()) > 200) past.shift();
}

function travel(from, to) {
  const state = from.pop();
  if (!state) return;
  to.push(now());
  last = null;
  root.replaceChildren(...JSON.parse(state.nodes).map(make));
  changed();
  go(everyone()[state.at] ?? root.firstElementChild, state.caret);
}

// Changes the outline, then moves the focus to a headline.
function change(todo, li, at, words) {
  before();
  todo();
  changed();
  go(li, at);
  if (words) say(words);
}

function split(li) {
  const t = text(li), from = t.selectionStart, rest = t.value.slice(t.selectionEnd), made = make({});
  if (!from && rest) return change(() => li.before(made), li, 0); // nested headlines stay with their parent
  change(() => {
    t.value = t.value.slice(0, from);
    text(made).value = rest;
    if (subs(li).length && !list(li).hidden) list(li).prepend(made);
    else li.after(made);
  }, made, 0);
}

// Joins a headline with the previous one.
function join(li) {
  const to = li && neighbour(li, -1);
  if (!to) return;
  const at = ending(to);
  change(() => {
    text(to).value += text(li).value;
    to.facts = { ...li.facts, ...to.facts };
    if (to.contains(li)) li.after(...subs(li));
    else list(to).append(...subs(li));
    li.remove();
  }, to, at);
}

const move = (li, to, todo, words) => to && change(() => todo(to), li, text(li).selectionStart, words ?? t("Level %d", level(li)));

const acts = {
  indent: (li) => move(li, li.previousElementSibling, (to) => { list(to).hidden = false; list(to).append(li); }, t("Level %d", level(li) + 1)),
  outdent: (li) => move(li, above(li), (to) => to.after(li), t("Level %d", level(li) - 1)),
  up: (li) => move(li, li.previousElementSibling, (to) => to.before(li), t("Moved up")),
  down: (li) => move(li, li.nextElementSibling, (to) => to.after(li), t("Moved down")),
  fold(li) {
    const n = subs(li).length;
    if (n) move(li, li, () => { list(li).hidden = !list(li).hidden; }, list(li).hidden ? t("Unfolded") : t("Folded, %d inside", n));
  },
  remove(li) {
    const all = seen(), at = all.indexOf(li), next = all.find((o, i) => i > at && !li.contains(o)) ?? all[at - 1];
    change(() => { li.remove(); here = null; }, next, next && ending(next), t("Deleted; undo restores it"));
    if (!next) go(root.firstElementChild);
  },
  add(li) {
    const made = make({});
    change(() => li.after(made), made, 0);
  },
  undo: () => travel(past, future),
  redo: () => travel(future, past),
  open: () => file.click(),
};

function across(li, step, e) {
  const t = text(li), style = getComputedStyle(t);
  const lines = (t.scrollHeight - 2 * parseFloat(style.paddingTop)) / parseFloat(style.lineHeight);
  if (lines > 1.5 && t.selectionStart !== (step < 0 ? 0 : ending(li))) return; // the caret moves inside the headline
  const to = neighbour(li, step);
  e.preventDefault();
  if (to) go(to, Math.min(t.selectionStart, ending(to)));
}

// Returns the action of a key, if it replaces the browser's default.
function meaning(e, li, t) {
  const mod = e.ctrlKey || e.metaKey, { shiftKey: shift, altKey: alt } = e;
  const place = t.selectionStart === t.selectionEnd ? t.selectionStart : -1;
  switch (e.key.toLowerCase()) {
    case "tab": return !mod && !leaving && (() => acts[shift ? "outdent" : "indent"](li));
    case "enter": return !mod && !shift && !alt && (() => split(li));
    case "backspace": return mod && shift ? () => acts.remove(li) : !mod && !place && (() => join(li));
    case "delete": return !mod && place === ending(li) && (() => join(neighbour(li, 1)));
    case "arrowup": return mod || alt ? () => acts.up(li) : !shift && across(li, -1, e);
    case "arrowdown": return mod || alt ? () => acts.down(li) : !shift && across(li, 1, e);
    case "home": return mod && (() => go(root.firstElementChild, 0));
    case "end": return mod && (() => go(seen().at(-1), ending(seen().at(-1))));
    case ".": return e.ctrlKey && (() => acts.fold(li));
    case ",": return e.metaKey && (() => acts.fold(li));
    case "y": return mod && acts.redo;
    case "z": return mod && (shift ? acts.redo : acts.undo);
  }
}

root.addEventListener("keydown", (e) => {
  if (!e.target.matches("textarea") || e.isComposing) return;
  if (leaving && e.key === "Tab") text(seen().at(e.shiftKey ? 0 : -1)).focus(); // the browser continues from there
  const todo = meaning(e, e.target.closest("li"), e.target);
  if (todo) {
    e.preventDefault();
    todo();
  }
  if (e.key !== "Shift") leaving = e.key === "Escape";
  if (leaving) say(t("Tab leaves the outline now"));
});
root.addEventListener("beforeinput", (e) => {
  if (!e.inputType.startsWith("history")) return before(here);
  e.preventDefault();
  acts[e.inputType === "historyUndo" ? "undo" : "redo"]();
});
root.addEventListener("input", (e) => {
  e.stopPropagation(); // the hidden field fires the event
  grow(e.target);
  changed(false);
});
root.addEventListener("focusin", (e) => { here = e.target.closest("li"); });
root.addEventListener("click", (e) => { if (e.target.matches(".wedge")) acts.fold(here = e.target.closest("li")); });

tools.addEventListener("pointerdown", (e) => { if (e.target.dataset.do) e.preventDefault(); }); // the headline keeps the focus
tools.addEventListener("click", (e) => acts[e.target.dataset.do]?.(here?.isConnected ? here : root.lastElementChild));

// The outliner replaces the plain field, and the text box while it is on.
$("[name=outline-text]").disabled = plain.hidden = true;
root.hidden = tools.hidden = false;
function load() {
  root.replaceChildren(...JSON.parse(field.value || "[]").map(make));
  if (!root.children.length) root.append(make({}));
  past.length = future.length = 0;
  name();
}
load();
field.addEventListener("change", load); // another script has changed the field

// Lines become headlines according to their indentation.
function nodesOf(words) {
  const lines = words.split(/[\r\n]+/).filter((l) => l.trim());
  const bullets = lines.every((l) => /^\s*[-*+•] /.test(l)) ? 2 : 0, nodes = [], open = [];
  for (const line of lines) {
    const width = line.match(/^\s*/)[0].replaceAll("\t", "  ").length >> 1;
    while (open.at(-1)?.width >= width) open.pop();
    const node = { text: line.trim().slice(bullets), nodes: [] };
    (open.at(-1)?.nodes ?? nodes).push(node);
    open.push({ width, nodes: node.nodes });
  }
  return nodes;
}
const isPlain = (nodes) => nodes.every(({ text: words, nodes: all = [], folded, html, ...facts }) => !Object.keys(facts).length && isPlain(all));
const listed = (nodes, deep = "") => nodes.map((n) => `${deep}- ${n.text}\n${listed(n.nodes ?? [], `${deep}  `)}`).join("");
const textOf = (nodes) => nodes.some((n) => n.nodes?.length) ? listed(nodes).trimEnd() : nodes.map((n) => n.text).join("\n\n");

// Switching moves the text to headlines and back, so nothing is lost.
const on = document.getElementById("ask-outline"), source = document.getElementById("w-source");
function begin() {
  const nodes = read(root);
  if (on.checked && !field.value) {
    const from = nodesOf(source.value);
    if (from.length) {
      root.replaceChildren(...from.map(make));
      source.value = "";
      changed();
      source.dispatchEvent(new Event("input", { bubbles: true }));
    }
    go(root.firstElementChild);
  } else if (!on.checked && field.value) {
    if (!isPlain(nodes)) {
      on.checked = true;
      return say(t("The outline stays on, because its headlines have links or files"));
    }
    source.value = [source.value, textOf(nodes)].filter((s) => s.trim()).join("\n\n");
    root.replaceChildren();
    changed();
    source.dispatchEvent(new Event("input", { bubbles: true }));
    source.focus();
  }
}
on.addEventListener("change", begin);
if (on.checked) begin();
box.outliner = { make, change, isEmpty, text, list, say, nodesOf }; // for outlinein.js
box.dispatchEvent(new Event("outliner"));
