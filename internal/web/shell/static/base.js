// Updates relative times and makes the copy buttons work. The pages show the same
// content without this file.

const units = [
  [172800, 86400, "day", "days"],
  [3600, 3600, "h", "h"],
  [60, 60, "min", "min"],
  [0, 1, "s", "s"],
];

function lasting(seconds) {
  for (const [from, size, one, many] of units) {
    if (seconds >= from) {
      const n = Math.floor(seconds / size);
      return `${n} ${n === 1 ? one : many}`;
    }
  }
}

// The same words as the server's.
function relative(then, now) {
  const seconds = (now - then) / 1000;
  if (seconds < 0) return seconds > -1 ? "now" : `in ${lasting(-seconds + (seconds <= -3600 ? 1800 : 0))}`;
  if (seconds < 1) return "now";
  if (seconds < 604800) return `${lasting(seconds)} ago`;
  return null;
}

// The time of the server, if the page has it: the clock of the browser may differ. A page from a cache
// has an old time.
const { transferSize, responseStart } = performance.getEntriesByType("navigation")[0] ?? {};
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

// If an icon cannot be loaded, the letter behind it stays visible.
const letter = (img) => { if (img.matches?.(".tile img, .mono img")) img.remove(); };
document.addEventListener("error", (event) => letter(event.target), true);
for (const img of [...document.images]) if (img.complete && !img.naturalWidth) letter(img);

// The forms of the hub were on the front page.
if (location.pathname === "/" && /^#s-(cloud|ping|register)$/.test(location.hash)) location.replace(`/hub${location.hash}`);

// A countdown shows how long an action can be undone.
for (const button of document.querySelectorAll("[data-until]")) {
  const end = Date.parse(button.dataset.until);
  const words = button.parentElement.querySelector(".left");
  const tick = () => {
    const left = Math.ceil((end - time()) / 1000);
    if (left <= 0) return button.closest(".undo").remove();
    words.textContent = `${left} s`;
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
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
