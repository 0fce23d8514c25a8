// Makes the river live: at the top of the page new items appear by themselves; elsewhere they
// wait behind a button, so that nothing moves while the user reads. Older items, whole texts
// and marks load without a new page. The pages work without this file, except for live updates.

const keep = 400; // maximum number of items on an open page; older ones are on the next page
const minutes = -new Date().getTimezoneOffset();
const byId = (id) => document.getElementById(id);
const items = () => [...document.querySelectorAll("#days .item")];
const title = () => document.title.replace(/^\(\d+\) /, "");

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || minutes;
if (!document.cookie.split("; ").includes(`tz=${zone}`)) {
  document.cookie = `tz=${zone}; path=/; max-age=31536000; samesite=lax`;
}

function say(text) {
  const news = byId("news");
  if (news) news.textContent = text;
}

// Dates and times in the time zone of the browser.
const dateOf = (ms) => new Date(ms - new Date(ms).getTimezoneOffset() * 60000).toISOString().slice(0, 10);

function clocks(scope) {
  for (const el of scope.querySelectorAll("time[data-clock]")) {
    const at = new Date(el.dateTime);
    const day = el.closest(".item")?.dataset.at;
    const far = day && dateOf(+day) !== dateOf(+at);
    el.textContent = `${far ? at.toLocaleDateString(dates, { day: "numeric", month: "short" }) + " " : ""}${at.toTimeString().slice(0, 5)}`;
  }
}

function nameDays() {
  const today = dateOf(Date.now() + +(document.body.dataset.ahead ?? 0));
  for (const day of document.querySelectorAll("#days .day")) {
    const days = Math.round((Date.parse(today) - Date.parse(day.dataset.day)) / 864e5);
    const name = days <= 0 ? t("Today") : days === 1 ? t("Yesterday") : null;
    const span = day.querySelector("h2 span");
    if (name) span.textContent = name;
    else if (!/[\d,]/.test(span.textContent)) {
      span.textContent = new Date(day.dataset.day).toLocaleDateString(dates, { weekday: "long", timeZone: "UTC" });
    }
  }
}

// Returns the items of a day, and creates it if it does not exist.
function feedOf(date) {
  const days = [...document.querySelectorAll("#days .day")];
  const there = days.find((d) => d.dataset.day === date);
  if (there) return there.querySelector(".entries");
  const made = document.createElement("section");
  made.className = "day";
  made.dataset.day = date;
  const long = new Date(date).toLocaleDateString(dates, { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  made.innerHTML = `<h2 id="d${date}"><span></span></h2><div class="entries"></div>`;
  const span = made.querySelector("span");
  span.textContent = span.title = long;
  byId("days").insertBefore(made, days.find((d) => d.dataset.day < date) ?? null);
  return made.querySelector(".entries");
}

// Marks the first item of each group.
function markFirst(feed) {
  let before = null;
  for (const item of feed.querySelectorAll(".item")) {
    item.classList.toggle("first", before !== item.dataset.group);
    before = item.dataset.group;
  }
}

// Folds the old items that one check brought, except the newest three, as the server does.
function fold(feed) {
  if (!("fold" in byId("river").dataset)) return;
  const groups = {};
  for (const item of feed.querySelectorAll("[data-old]")) (groups[item.dataset.group] ??= []).push(item);
  for (const list of Object.values(groups).filter((g) => g.length > 3)) {
    let box = list.find((item) => item.closest(".flood"))?.closest(".flood");
    if (!box) {
      box = document.createElement("details");
      box.className = "fold flood";
      box.append(document.createElement("summary"));
      list.at(-1).after(box);
    }
    if (list.slice(3).some((item) => !box.contains(item))) box.firstElementChild.after(...list.slice(3));
    const n = box.querySelectorAll(".item").length + +(box.dataset.more ?? 0);
    const from = list[0].querySelector("[id^=f]").textContent;
    box.firstElementChild.textContent = n === 1 ? t("1 older item from %s", from) : t("%d older items from %s", n, from);
  }
}

const above = (a, b) => a.dataset.at - b.dataset.at || a.dataset.said - b.dataset.said || (BigInt(a.id.slice(1)) > BigInt(b.id.slice(1)) ? 1 : -1);

function insert(item) {
  const feed = feedOf(dateOf(+item.dataset.at));
  const all = [...feed.querySelectorAll(".item")];
  let i = all.findIndex((other) => above(item, other) > 0);
  while (i > 0 && !all[i].matches(".first") && all[i].dataset.group !== item.dataset.group) i--; // a group stays together
  if (i < 0) feed.append(item);
  else all[i].before(item);
  clocks(item);
  return feed;
}

function trim() {
  const all = items();
  if (all.length <= keep) return;
  let n = keep; // a group stays together, because its items are not in the order of the river
  while (all[n] && all[n].dataset.group === all[n - 1].dataset.group) n++;
  for (const item of all.slice(n)) {
    const day = item.closest(".day");
    const box = item.closest(".flood");
    item.remove();
    if (!box?.querySelector(".item")) box?.remove();
    if (!day.querySelector(".item")) day.remove();
  }
  const last = all.slice(0, n).filter((item) => item.dataset.group === all[n - 1].dataset.group)
    .reduce((a, b) => ((a.dataset.at - b.dataset.at || (BigInt(a.id.slice(1)) < BigInt(b.id.slice(1)) ? -1 : 1)) < 0 ? a : b));
  const url = new URL(byId("river").dataset.plain, location.href);
  url.searchParams.set("before", `${last.dataset.at}.${last.id.slice(1)}`);
  let older = byId("older");
  if (!older) {
    older = document.createElement("nav");
    older.className = "pages";
    older.id = "older";
    older.ariaLabel = t("Older items");
    older.innerHTML = `<a rel="next">${t("Older")}</a>`;
    byId("days").after(older);
  }
  older.firstElementChild.href = url.href;
}

function swap(old, fresh) {
  fresh.classList.toggle("first", old.classList.contains("first"));
  const height = document.documentElement.scrollHeight;
  const passed = old.getBoundingClientRect().bottom <= 0;
  const focused = old.contains(document.activeElement);
  old.replaceWith(fresh);
  if (passed && !CSS.supports("overflow-anchor", "auto")) scrollBy(0, document.documentElement.scrollHeight - height);
  if (focused) fresh.focus({ preventScroll: true });
  clocks(fresh);
}

// A visible item changes only when the user clicks the button.
function renew(old, fresh) {
  const box = old.getBoundingClientRect();
  const seen = !document.hidden && box.bottom > 0 && box.top < innerHeight;
  if (!seen && !old.contains(document.activeElement)) return swap(old, fresh);
  old.dataset.seq = fresh.dataset.seq;
  let button = old.querySelector(".held");
  if (!button) {
    button = document.createElement("button");
    button.className = "held";
    old.querySelector(".about").append(button);
  }
  button.textContent = fresh.querySelector(".taken") ? t("Removed from the feed: show") : "full" in fresh.dataset && !("full" in old.dataset) ? t("Full text: show") : t("Edited: show");
  button.onclick = () => swap(old, fresh);
}

// Reports whether new items can appear without disturbing the user.
const idle = () => scrollY < 40 && !document.hidden && getSelection().isCollapsed && !document.activeElement?.closest(".item, dialog") && !document.querySelector("dialog[open]");

let paused = false; // the page may have missed marks
let waiting = new Map();
let show = () => {};
let settle = () => {};

function live() {
  listen();
  waiting = new Map();
  settle = () => {};
  document.title = title();
  const root = byId("river");
  if (navigator.share) for (const button of document.querySelectorAll(".share")) button.textContent = t("Share");
  if (root && +root.dataset.minutes !== minutes) clocks(root);
  if (!root?.dataset.stream) return;
  const pill = byId("pill");
  const state = byId("live");
  const setLive = (text, on) => {
    state.hidden = false;
    state.classList.toggle("on", on);
    if (byId("live-text").textContent !== text) byId("live-text").textContent = text;
  };

  show = () => {
    if (pill.dataset.reload) return location.reload();
    const fresh = [...waiting.values()].sort(above);
    waiting.clear();
    pill.hidden = true;
    document.title = title();
    byId("empty")?.remove();
    new Set(fresh.map((item) => { item.classList.add("fresh"); return insert(item); })).forEach((feed) => { fold(feed); markFirst(feed); });
    nameDays();
    trim();
    document.dispatchEvent(new Event("cloudburst:fresh"));
    return fresh.at(-1);
  };
  pill.onclick = () => {
    const top = show();
    scrollTo({ top: 0 });
    top?.focus({ preventScroll: true });
  };

  let soon = 0;
  settle = () => {
    soon = 0;
    if (!waiting.size) return;
    const text = t("%d new", waiting.size);
    if (idle() || !items().length) { // on an empty page nothing moves
      say(text);
      return show();
    }
    pill.textContent = text;
    pill.hidden = false;
    document.title = `(${waiting.size}) ${title()}`;
    say(text);
  };

  const receive = (event) => {
    const part = document.createElement("template");
    part.innerHTML = event.data; // HTML of the server, with foreign text sanitized
    const item = part.content.firstElementChild;
    if (!item) return;
    const there = byId(item.id);
    if (there) {
      if (+there.dataset.seq < +item.dataset.seq) renew(there, item);
      return;
    }
    const last = items().at(-1);
    if (last && byId("older") && above(item, last) < 0) return; // it belongs to another page
    const unread = item.querySelector(".readmark[name=read]");
    if (root.dataset.unread !== undefined && !unread) return;
    if (unread && root.matches("[data-counts]") && !waiting.has(item.id)) recount(item, 1);
    waiting.set(item.id, item);
    soon ||= setTimeout(settle, 20); // the items of one check appear together
  };
  const askReload = (text) => {
    pill.textContent = text;
    pill.dataset.reload = "yes";
    pill.hidden = false;
  };
  listen(root.dataset.stream, {
    open: () => {
      setLive(t("Live"), true);
      if (paused) counting ||= setTimeout(renewCounts, 1000);
    },
    pause: () => {
      setLive(t("Paused"), false);
      paused = true;
    },
    error: (event) => setLive(event.target.readyState === EventSource.CLOSED ? t("Not live: reload the page") : t("Reconnecting"), false),
    message: receive,
    reset: () => askReload(t("Too many new items: reload the page")),
    marks: (event) => marked(JSON.parse(event.data), askReload),
  });
}

// Shows the marks that another page, browser or app of the user set.
let counting = 0;
function marked({ ids, read, starred }, askReload) {
  if (!ids) return document.hidden ? location.reload() : askReload(t("Marks changed: reload the page"));
  let elsewhere = false;
  for (const id of ids) {
    const item = byId(`i${id}`) ?? waiting.get(`i${id}`);
    const set = (name, value) => { if (typeof value === "boolean" && item?.querySelector(name)) setMark(item.querySelector(name), value); };
    elsewhere ||= !item;
    set(".readmark", read);
    set(".star", starred);
  }
  if (elsewhere) counting ||= setTimeout(renewCounts, 1000);
}

async function renewCounts() {
  counting = 0;
  const all = readAll(document);
  if (!all && !paused && !byId("river")?.matches("[data-counts]")) return;
  const page = await load(byId("river").dataset.plain);
  if (paused) copyMarks(page);
  if (all) {
    const later = [...items(), ...waiting.values()].filter((item) => item.dataset.at > +all.elements.to.value && item.querySelector(".readmark[name=read]"));
    offerAll(all, (readAll(page) ? allUnread(readAll(page)) : 0) - later.length);
  }
  const fresh = page.querySelectorAll("#feedlist a");
  const links = document.querySelectorAll("#feedlist a");
  if (fresh.length === links.length) links.forEach((link, i) => link.replaceWith(fresh[i]));
}

// Copies the marks of a page. A page of all unread items lacks those that were marked read.
function copyMarks(page) {
  paused = false;
  const unread = byId("river").dataset.unread !== undefined && !page.getElementById("older");
  for (const item of [...items(), ...waiting.values()]) {
    const same = page.getElementById(item.id);
    for (const button of item.querySelectorAll(".readmark, .star")) {
      const other = same?.querySelector(button.matches(".star") ? ".star" : ".readmark");
      if (other) setMark(button, other.name.startsWith("un"));
      else if (!same && unread && button.matches(".readmark")) setMark(button, true);
    }
  }
}

// The form that marks all items read counts the items that the server had when it made the page.
const readAll = (page) => page.querySelector('.allread[action="/river/read"]');
const allUnread = (form) => form.hidden ? 0 : parseInt(form.querySelector("button").textContent.replace(/\D/g, ""));

function offerAll(form, n) {
  form.hidden = n <= 0;
  form.querySelector("button").textContent = n === 1 ? t("Mark 1 item read") : t("Mark all %d read", n);
}

// Changes the unread counts of the page after an item was marked.
function recount(item, by) {
  const adjust = (link) => {
    if (!link?.closest(".rail")) return;
    const n = link.querySelector(".num");
    const left = Math.max(0, (n ? parseInt(n.firstChild.data.replace(/\D/g, "")) : 0) + by);
    if (!n) link.insertAdjacentHTML("beforeend", ` <span class="num">1<span class="sr"> ${t("unread")}</span></span>`);
    else if (left) n.firstChild.data = left.toLocaleString(document.documentElement.lang);
    else n.remove();
  };
  const all = readAll(document);
  if (all && item.dataset.at <= +all.elements.to.value) offerAll(all, allUnread(all) + by);
  const rail = byId("feedlist");
  if (!rail?.querySelector(".num") && by < 0) return;
  adjust(rail?.querySelector("li > a"));
  for (const link of rail?.querySelectorAll(".branch li a") ?? []) {
    if (link.getAttribute("href") !== item.dataset.feed) continue;
    adjust(link);
    adjust(link.closest(".branch").querySelector(":scope > a"));
  }
}

// Shows a mark on its button and its item.
function setMark(button, value) {
  const star = button.matches(".star");
  if (button.name.startsWith("un") === value) return;
  button.name = (value ? "un" : "") + (star ? "star" : "read");
  if (button.ariaPressed) button.ariaPressed = value;
  else button.textContent = button.name === "read" ? t("Mark read") : t("Mark unread");
  if (star) return void (button.firstElementChild.textContent = value ? "★" : "☆");
  const item = button.closest(".item");
  item.classList.toggle("read", value);
  recount(item, value ? -1 : 1);
}

async function sendMarks(marks) {
  const answer = await fetch("/river/mark", { method: "POST", body: new URLSearchParams(marks), headers: { Accept: "text/plain" }, keepalive: true }); // even if the user leaves the page
  if (!answer.ok || answer.redirected) throw answer;
}

// Marks: the button changes at once, and reverts on failure.
async function mark(button) {
  const on = button.name.startsWith("un");
  const star = button.matches(".star");
  const marks = { [button.name]: button.value };
  setMark(button, !on);
  try {
    await sendMarks(marks);
    say(star ? (on ? t("Star removed") : t("Starred")) : on ? t("Marked unread") : t("Marked read"));
  } catch {
    setMark(button, on);
    byId("toast").textContent = t("The mark could not be saved. Check the connection, and that you are signed in.");
    setTimeout(() => { byId("toast").textContent = ""; }, 8000);
  }
}

// An item whose original is opened counts as read.
function opened(event) {
  const link = !(event.button > 1) && event.target.closest("#days .item .open, #days .item .rest a");
  const button = link && link.closest(".marking .item")?.querySelector(".readmark[name=read]");
  if (button) mark(button);
}
document.addEventListener("click", opened);
document.addEventListener("auxclick", opened);
document.addEventListener("cloudburst:opened", opened);

async function share(button) {
  const { url } = button.dataset;
  try {
    if (navigator.share) return await navigator.share({ url, title: title() });
    await navigator.clipboard.writeText(url);
  } catch (error) {
    if (error.name === "AbortError") return;
    const field = Object.assign(document.createElement("textarea"), { value: url }); // without https there is no clipboard API
    button.after(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) return;
  }
  button.textContent = t("Copied");
}

async function load(href) {
  const answer = await fetch(href, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw answer;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

async function whole(link) {
  const item = link.closest(".item");
  try {
    const page = await load(link.href);
    const text = page.querySelector(".item .e-content");
    item.querySelector(":scope > .e-content").replaceWith(text);
    link.closest(".rest").remove();
    item.focus({ preventScroll: true });
  } catch {
    location.href = link.href;
  }
}

async function older(link) {
  const slow = setTimeout(() => { link.textContent = t("Loading older items"); }, 300);
  try {
    const page = await load(link.href);
    const before = items().length;
    for (const day of page.querySelectorAll("#days .day")) {
      const feed = feedOf(day.dataset.day);
      feed.parentElement.querySelector("h2").replaceChildren(...day.querySelector("h2").childNodes);
      for (const item of day.querySelectorAll(".item")) if (byId(item.id)) item.remove();
      feed.append(...day.querySelector(".entries").children);
      markFirst(feed);
      if (+page.getElementById("river").dataset.minutes !== minutes) clocks(feed);
    }
    const next = page.getElementById("older");
    if (next) byId("older").replaceWith(next);
    else byId("older").remove();
    document.dispatchEvent(new Event("cloudburst:fresh"));
    items()[before]?.focus({ preventScroll: true });
  } catch {
    location.href = link.href;
  } finally {
    clearTimeout(slow);
  }
}

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const hit = event.target.closest("button[form=marks], a.whole, #older a, .share");
  if (!hit) return;
  event.preventDefault();
  if (hit.matches(".share")) share(hit);
  else if (hit.matches("button")) mark(hit);
  else if (hit.matches(".whole")) whole(hit);
  else older(hit);
});

// Empty fields are left out of the URL.
document.addEventListener("formdata", (event) => {
  if (event.target.matches(".find")) for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden || !byId("days")) return;
  nameDays();
  settle();
});
// The space of an image fits the image only where that moves nothing in the window: half a window
// below it, because margins collapse and the page may scroll before the next frame.
function fit(img, missing) {
  if (!img.matches?.(".item img") || img.getBoundingClientRect().top < 1.5 * innerHeight) return;
  img.classList.remove("unsized");
  if (missing && !img.alt) img.hidden = true;
}
document.addEventListener("load", (event) => fit(event.target), true);
document.addEventListener("error", (event) => fit(event.target, true), true);
for (const img of document.images) if (img.complete) fit(img, !img.naturalWidth);
document.addEventListener("cloudburst:river", live); // another river was loaded into this page
addEventListener("pageshow", (event) => { if (event.persisted && byId("river")?.dataset.stream) location.reload(); });
live();

// Marks items read that have been scrolled past, if the user wants it: several in one request.
const passed = new Set();
let sending = 0;
addEventListener("scroll", () => {
  const root = byId("river");
  if (root?.dataset.scroll === undefined) return;
  for (const item of items()) {
    if (item.getBoundingClientRect().bottom > 0) break;
    if (item.querySelector(".readmark[name=read]")) passed.add(item);
  }
  if (passed.size && !sending) sending = setTimeout(sendPassed, 1000);
}, { passive: true });

async function sendPassed() {
  const list = [...passed];
  passed.clear();
  sending = 0;
  const ids = list.map((item) => item.id.slice(1)).join(",");
  try {
    await sendMarks({ read: ids });
    for (const item of list) setMark(item.querySelector(".readmark"), true);
  } catch {
    // They stay unread, and the next scroll sends them again.
  }
}
