// Updates relative times and makes the copy buttons work. The pages show the same
// content without this file.

// The texts of the scripts in the language of the page, by their English text. English pages have
// none. A text with plural forms has an object.
const { lang } = document.documentElement;
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
globalThis.dates = lang === "en" ? "en-GB" : lang;
globalThis.t = (text, ...values) => {
  const found = words[text] ?? text;
  const form = found.other ? found[new Intl.PluralRules(lang).select(values[0])] ?? found.other : found;
  return form.replace(/%[ds]/g, (verb) => {
    const value = values.length ? values.shift() : verb;
    return typeof value === "number" ? value.toLocaleString(lang) : value;
  });
};

const units = [
  [3600, 3600, t("%d h")],
  [60, 60, t("%d min")],
  [0, 1, t("%d s")],
];

function lasting(seconds, format, days) {
  if (seconds >= 172800) return days(Math.floor(seconds / 86400));
  const [, size, unit] = units.find(([from]) => seconds >= from);
  return format.replace("%s", unit.replace("%d", Math.floor(seconds / size)));
}

// The same words as the server's.
function relative(then, now) {
  const seconds = (now - then) / 1000;
  if (Math.abs(seconds) < 1) return t("now");
  if (seconds < 0) return lasting(-seconds + (seconds <= -3600 ? 1800 : 0), t("in %s"), (n) => t("in %d days", n));
  if (seconds < 604800) return lasting(seconds, t("%s ago"), (n) => t("%d days ago", n));
  return null;
}

// The time of the server, if the page has it: the clock of the browser may differ. A page from a cache
// has an old time.
const { transferSize, responseStart, nextHopProtocol } = performance.getEntriesByType("navigation")[0] ?? {};
const skew = transferSize ? document.getElementById("river")?.dataset.now - (Date.now() - performance.now() + responseStart) : 0;
const ahead = Math.abs(skew) > 5000 ? skew : 0;
const time = () => Date.now() + ahead;
document.body.dataset.ahead = ahead;

function tick() {
  const now = time();
  for (const el of document.querySelectorAll("time[datetime]:not([data-clock])")) {
    const text = relative(Date.parse(el.dateTime), now);
    if (text !== null && text !== el.textContent) el.textContent = text;
  }
}

tick();
setInterval(() => { if (!document.hidden) tick(); }, 5000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) tick(); });
document.addEventListener("cloudburst:fresh", tick);

// On a narrow window, the current tab can be out of sight.
const current = document.querySelector(".section [aria-current]");
if (current) current.parentElement.scrollLeft += current.getBoundingClientRect().right - innerWidth + 40;

// If an icon cannot be loaded, the letter behind it stays visible.
const letter = (img) => { if (img.matches?.(".tile img, .mono img")) img.remove(); };
document.addEventListener("error", (event) => letter(event.target), true);
for (const img of [...document.images]) if (img.complete && !img.naturalWidth) letter(img);

// The forms of the hub were on the front page.
if (location.pathname === "/" && /^#s-(cloud|ping|register)$/.test(location.hash)) location.replace(`/hub${location.hash}`);

// A countdown shows how long an action can be undone.
for (const button of document.querySelectorAll("[data-until]")) {
  const end = Date.parse(button.dataset.until);
  const rest = button.parentElement.querySelector(".left");
  const tick = () => {
    const left = Math.ceil((end - time()) / 1000);
    if (left <= 0) return button.closest(".undo").remove();
    rest.textContent = t("%d s", left);
    setTimeout(tick, 1000);
  };
  if (end - time() < 61000) tick(); // else the clocks of browser and server differ
}

// A click outside or Escape closes the menu.
const menu = document.querySelector(".menu details");
document.addEventListener("click", (event) => { if (menu?.open && !menu.contains(event.target)) menu.open = false; });
menu?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  menu.open = false;
  menu.firstElementChild.focus();
});

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard && !document.execCommand) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    let done = false;
    try {
      await navigator.clipboard.writeText(source.textContent);
      done = true;
    } catch {
      // Without https there is no clipboard API: select the text and use the copy command.
      getSelection().selectAllChildren(source);
      done = document.execCommand("copy");
    }
    button.textContent = done ? t("Copied") : t("Press Ctrl+C");
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// A browser has six connections to a server with HTTP/1.1, and each live stream needs one. If too many
// pages want a stream, visible pages come first, and then those used last. The others pause, and
// receive later what they missed.
const most = /^h[23]/.test(nextHopProtocol) ? 50 : 4;
const me = Math.random();
const others = new Map(); // key: another page of the browser; value: its rank
let rank = 0;
let stream = null;
let source = null;
let channel = null;

function stop() {
  source?.close();
  source = null;
}

function update() {
  if ([...others.values()].filter((other) => other > rank).length >= most) {
    if (source) stream.on.pause?.();
    return stop();
  }
  if (source || !channel) return;
  const { url, on } = stream;
  source = new EventSource(url);
  for (const name in on) {
    source.addEventListener(name, (event) => {
      if (event.lastEventId) url.searchParams.set("since", event.lastEventId);
      on[name](event);
    });
  }
}

function use() {
  rank = Date.now() + Math.random() + (document.hidden ? 0 : 1e14);
  channel?.postMessage([me, rank]);
  update();
}

function begin() {
  if (!stream || channel) return;
  others.clear();
  channel = new BroadcastChannel("live");
  channel.onmessage = ({ data: [page, at] }) => {
    if (at && !others.has(page)) channel.postMessage([me, rank]); // a new page knows no others
    if (at) others.set(page, at);
    else others.delete(page);
    update();
  };
  use();
}

function end() {
  channel?.postMessage([me, 0]);
  channel?.close();
  channel = null;
  stop();
}

// Opens the live stream of this page, instead of an earlier one. on has a function for each event.
globalThis.listen = (path, on) => {
  end();
  stream = path ? { url: new URL(path, location.href), on } : null;
  begin();
};

for (const name of ["focus", "blur"]) addEventListener(name, use);
document.addEventListener("visibilitychange", use);
document.addEventListener("freeze", stop);
document.addEventListener("resume", update);
addEventListener("pagehide", end);
addEventListener("pageshow", begin);
