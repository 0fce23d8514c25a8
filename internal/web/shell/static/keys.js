// The keyboard shortcuts. "rows" is the only list of keys: the ? dialog shows the rows that
// apply to the page, and a key without effect says why.

const byId = (id) => document.getElementById(id);
const one = (selector) => document.querySelector(selector);
const items = () => [...document.querySelectorAll("#days .item")].filter((item) => item.checkVisibility());
const river = () => byId("days");
const reading = () => one(".alone > .item");
let went = 0; // time of the last g

const mine = () => document.activeElement?.closest?.(".item");

// The target of a key: the item with the focus, else the first visible one.
const current = () => reading() ?? mine() ?? items().find((item) => item.getBoundingClientRect().bottom > 60);

function go(item) {
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "start" });
}

// Shows a message for a key that has no effect.
const toast = byId("toast") ?? document.body.appendChild(Object.assign(document.createElement("div"), { className: "toast", id: "toast", role: "status" }));
let fades = 0;
function notice(words, label, act) {
  toast.textContent = words;
  if (label) toast.append(Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: label, onclick: act }));
  clearTimeout(fades);
  fades = setTimeout(() => { toast.textContent = ""; }, 8000);
}

const visit = (url) => { location.href = url; };
const follow = (selector, otherwise) => { const link = one(selector); if (link) link.click(); else notice(otherwise); };

const inRiver = (act) => () => { if (river()) act(); else notice(t("This key works in the river.")); };

// Goes to the next or previous item that fits.
function step(by, fits = () => true, none = by > 0 ? t("This is the last item.") : t("This is the first item.")) {
  if (reading()) return follow(by > 0 ? ".pages a[rel=next]" : ".pages a[rel=prev]", none);
  if (!river()) return notice(t("This page has no items."));
  const list = items().filter(fits);
  const here = mine();
  const found = by > 0
    ? list.find((item) => (here ? here.compareDocumentPosition(item) & 4 : item.getBoundingClientRect().top > -20))
    : list.findLast((item) => (here ? here.compareDocumentPosition(item) & 2 : item.getBoundingClientRect().top < 0));
  if (found) go(found);
  else if (by > 0 && byId("older")) byId("older").firstElementChild.click();
  else notice(none);
}

const first = (item) => item.matches(".first");

function press(selector, otherwise) {
  const item = current();
  const button = item?.querySelector(selector);
  if (button) button.click();
  else notice(item ? otherwise : t("There is no item here."));
}

// Opens the display settings.
function display() {
  const box = byId("v-marks");
  if (!box) return visit("/river/display");
  toast.textContent = "";
  box.closest("details").open = true;
  box.focus();
}
const tracks = () => one(".marking") || notice(t("Read tracking is off. "), t("Turn it on under Display"), display);

function open() {
  const link = current()?.querySelector("a.open, a.at");
  if (!link) return notice(current() ? t("This item has no link.") : t("There is no item here."));
  window.open(link.href, "_blank", "noopener");
  link.dispatchEvent(new Event("cloudburst:opened", { bubbles: true }));
}

function unfold() {
  const item = current();
  const rest = item?.querySelector(".whole");
  if (rest) return rest.click();
  const fold = item?.querySelector(".fold") ?? item?.parentElement.closest(".flood");
  if (fold) fold.open = !fold.open;
  else notice(item ? t("This item is shown completely.") : t("There is no item here."));
}

function read() {
  const item = current();
  if (item && !("own" in item.dataset)) notice(t("Sign in to mark items read."));
  else if (!item || tracks()) press(".readmark");
}

function unread() {
  if (reading()) return follow(".step .up");
  if (!river() || tracks()) step(1, (item) => !item.matches(".read"), t("No unread item follows."));
}

function all() {
  const button = one('.allread[action="/river/read"]:not([hidden]) button');
  if (button) button.click();
  else if (tracks()) notice(t("Everything here is read."));
}

function fresh(reload) {
  const pill = byId("pill");
  if (pill && !pill.hidden) pill.click();
  else if (reload) location.reload();
  else notice(t("No new items."));
}

function compose() {
  if (one('a[href="/write"]')) visit("/write");
  else notice(t("Sign in as an author to write."));
}

function search() {
  const field = one("#q, main input[type=search]");
  if (!field) return notice(t("This page has no search."));
  field.closest("details")?.setAttribute("open", "");
  field.focus();
}

const places = {
  r: [t("River"), "/river"], u: [t("Unread"), "/river?unread=1"], s: [t("Starred"), "/river?starred=1"], f: [t("Feeds"), "/feeds"], w: [t("Write"), "/write"],
  h: [t("Hub"), "/hub"], l: [t("Log"), "/log"], t: [t("Topics"), "/topics"], d: [t("Docs"), "/docs"], a: [t("Account"), "/account"],
};

// Each row: the condition for pages, the description, and its keys. See inFeed for Enter.
const list = () => river() || reading();
const rows = [
  [list, t("next, previous item"), { j: () => step(1), k: () => step(-1) }],
  [river, t("next, previous feed"), { n: inRiver(() => step(1, first)), p: inRiver(() => step(-1, first)) }],
  [list, t("open the original in a new tab"), { o: open, v: open }],
  [river, t("the same, for the item with the focus"), { Enter: null }],
  [list, t("show more, or unfold"), { x: unfold }],
  [list, t("star"), { s: () => press(".star", t("Sign in to star items.")) }],
  [list, t("mark read or unread"), { m: read }],
  [river, t("next unread item"), { u: unread }],
  [reading, t("back to the river"), { u: unread }],
  [reading, t("show the full text, or the text of the feed"), { f: () => press(".fulltext :is(button, a)", t("This item has no page with a full text.")) }],
  [river, t("mark all read"), { A: inRiver(all) }],
  [river, t("show what is new"), { ".": inRiver(fresh) }],
  [null, t("show what is new, or reload"), { r: () => fresh(true) }],
  [null, t("compose a post"), { c: compose }],
  [null, t("search"), { "/": search }],
  [null, t("show these keys"), { "?": () => byId("keys").showModal() }],
];
const keys = Object.assign({ g: () => { went = Date.now(); } }, ...rows.map((row) => row[2]));

// Builds the dialog.
function dialog() {
  const make = (name, text = "") => Object.assign(document.createElement(name), { textContent: text });
  const box = make("dialog");
  const dl = Object.assign(make("dl"), { className: "keylist" });
  const add = (names, words) => {
    const line = make("div");
    const dt = make("dt");
    for (const name of names) dt.append(make("kbd", name), " ");
    line.append(dt, make("dd", words));
    dl.append(line);
  };
  for (const [on, words, those] of rows) if (!on || on()) add(Object.keys(those).map((key) => (key === "A" ? "Shift+A" : key)), words);
  for (const [key, [name]] of Object.entries(places)) add(["g", key], name);
  box.id = "keys";
  box.append(Object.assign(make("h2", t("Keys")), { id: "keys-name" }), dl, make("form"));
  box.setAttribute("aria-labelledby", "keys-name");
  box.lastChild.method = "dialog";
  box.lastChild.append(make("button", t("Close")));
  byId("keys")?.remove();
  document.body.append(box);
}
dialog();
document.addEventListener("cloudburst:river", dialog);

// A button shows the keys: in the head of the river, else in the footer.
let hint = byId("keyhint");
if (!hint) {
  hint = Object.assign(document.createElement("button"), { type: "button", className: "keyhint", id: "keyhint", innerHTML: `<kbd>?</kbd> ${t("Keys")}` });
  const end = Object.assign(document.createElement("span"), { className: "keyend" });
  end.append(" · ", hint);
  one("footer p")?.append(end);
}
hint.hidden = false;
document.addEventListener("click", (event) => { if (event.target.closest("#keyhint")) keys["?"](); });

// Follows the ARIA feed pattern: Page Down and Page Up move from item to item, but do not
// skip the unseen part of a long item.
function inFeed(event) {
  const item = mine();
  if (!item || reading() || event.altKey || event.metaKey) return false;
  const box = item.getBoundingClientRect();
  if (event.ctrlKey) {
    if (event.key === "End") (one("#older a") ?? one("footer a")).focus();
    else if (event.key === "Home") byId("q")?.focus();
    else return false;
  } else if (event.key === "PageDown" && box.bottom <= innerHeight) step(1);
  else if (event.key === "PageUp" && box.top >= 0) step(-1);
  else if (event.key === "Enter" && document.activeElement === item) open();
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || one("dialog[open]")) return;
  if (event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) {
    if (event.key === "Escape" && event.target.type === "search") event.target.blur();
    return;
  }
  if (inFeed(event)) return event.preventDefault();
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("audio, video")) return;
  const { key } = event;
  if (key.length === 1 && Date.now() - went < 1500) {
    event.preventDefault();
    went = 0;
    if (Object.hasOwn(places, key)) visit(places[key][1]);
    else notice(t("There is no page for g %s. Press ? for the keys.", key));
  } else if (Object.hasOwn(keys, key) && keys[key]) {
    event.preventDefault();
    keys[key]();
  }
});
