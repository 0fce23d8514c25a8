// The keyboard shortcuts of the river. The ? dialog has the same list.

const byId = (id) => document.getElementById(id);
const items = () => [...document.querySelectorAll("#days .item")];
const places = { r: "/river", f: "/feeds", s: "/river?starred=1", l: "/log", d: "/docs" };
let went = 0; // time of the last g

const mine = () => document.activeElement?.closest?.(".item");

// The target of a key: the item with the focus, else the first visible one.
function current() {
  return mine() ?? items().find((item) => item.getBoundingClientRect().bottom > 60) ?? document.querySelector(".alone .item");
}

function go(item) {
  if (!item) return;
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "start" });
}

function step(by, list = items()) {
  const here = mine();
  if (!here) return go(by > 0 ? list.find((item) => item.getBoundingClientRect().top > -20) : list.findLast((item) => item.getBoundingClientRect().top < 0));
  const after = by > 0 ? list.find((item) => here.compareDocumentPosition(item) & 4) : list.findLast((item) => here.compareDocumentPosition(item) & 2);
  if (after) return go(after);
  if (by > 0) byId("older")?.firstElementChild.click();
}

// Shows a message for a key that has no effect.
let fades = 0;
function notice(words, label, act) {
  const toast = byId("toast");
  if (!toast) return;
  toast.textContent = words;
  if (label) toast.append(Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: label, onclick: act }));
  clearTimeout(fades);
  fades = setTimeout(() => { toast.textContent = ""; }, 8000);
}

function press(selector, otherwise) {
  const button = current()?.querySelector(selector);
  if (button) button.click();
  else if (otherwise) notice(otherwise);
}

// Opens the display settings.
function display() {
  const box = byId("v-marks");
  if (!box) return void (location.href = "/river#v-marks");
  byId("toast").textContent = "";
  box.closest("details").open = true;
  box.focus();
}
if (location.hash === "#v-marks" && byId("v-marks")) display();

function open() {
  const link = current()?.querySelector("a.open") ?? current()?.querySelector("a.at");
  if (link) window.open(link.href, "_blank", "noopener");
}

function unfold() {
  const item = current();
  const rest = item?.querySelector(".whole");
  if (rest) return rest.click();
  const fold = item?.querySelector("details");
  if (fold) fold.open = !fold.open;
  else notice("This item is shown completely.");
}

function read() {
  const item = current();
  if (item && !item.querySelector(".marks")) return notice("Sign in to mark items read.");
  const marks = item?.querySelector(".readmark");
  if (marks?.checkVisibility()) marks.click();
  else notice("Read tracking is off. ", "Turn it on under Display", display);
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  n: () => step(1, items().filter((item) => item.matches(".first"))),
  p: () => step(-1, items().filter((item) => item.matches(".first"))),
  o: open,
  v: open,
  x: unfold,
  m: read,
  s: () => press(".star", "Sign in to star items."),
  "/": () => byId("q")?.focus(),
  "?": () => byId("keys")?.showModal(),
  ".": () => { const pill = byId("pill"); if (pill && !pill.hidden) pill.click(); else notice("No new items."); },
  g: () => { went = Date.now(); },
};

// Follows the ARIA feed pattern: Page Down and Page Up move from item to item, but do not
// skip the unseen part of a long item.
function inFeed(event) {
  const item = mine();
  if (!item || event.altKey || event.metaKey) return false;
  const box = item.getBoundingClientRect();
  if (event.ctrlKey) {
    if (event.key === "End") (document.querySelector("#older a") ?? document.querySelector("footer a")).focus();
    else if (event.key === "Home") byId("q")?.focus();
    else return false;
  } else if (event.key === "PageDown" && box.bottom <= innerHeight) step(1);
  else if (event.key === "PageUp" && box.top >= 0) step(-1);
  else if (event.key === "Enter" && document.activeElement === item) open();
  else return false;
  return true;
}

const hint = byId("keyhint");
if (hint) hint.hidden = false;
hint?.addEventListener("click", (event) => { if (!event.ctrlKey && !event.metaKey) keys["?"](); });

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (inFeed(event)) return event.preventDefault();
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("audio, video")) return;
  if (Date.now() - went < 1500 && places[event.key]) {
    event.preventDefault();
    went = 0;
    location.href = places[event.key];
    return;
  }
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
