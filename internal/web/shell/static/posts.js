// Says that there are new posts and shows them when their reader wants them; nothing moves
// before. The page does without this file.

const list = document.querySelector("[data-stream]");
const pill = document.getElementById("pill");
const news = document.getElementById("news");
const title = document.title;
const posts = (page) => [...page.querySelectorAll(".posts > article")];
const place = (post) => post.querySelector("a.u-uid")?.getAttribute("href");

let fresh = []; // posts that are not shown yet
let looking = false;
let again = false;

// What stands on the page now, as far as it is newer than what is shown.
async function newer() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-cache" });
  if (!answer.ok) throw answer;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const known = new Set(posts(document).map(place));
  const all = posts(page);
  const end = all.findIndex((post) => known.has(place(post)));
  return end < 0 ? all : all.slice(0, end);
}

async function look() {
  if (looking) {
    again = true; // what is being read may be older than the news
    return;
  }
  looking = true;
  try {
    do {
      again = false;
      fresh = await newer();
    } while (again);
    tell();
  } catch {
    // The next post tells of both.
  } finally {
    looking = false;
  }
}

function tell() {
  const n = fresh.length;
  const text = n ? `${n} new post${n === 1 ? "" : "s"}` : "";
  pill.hidden = !n;
  pill.textContent = news.textContent = text;
  document.title = n ? `(${n}) ${title}` : title;
}

pill.onclick = () => {
  const shown = posts(document);
  const top = fresh[0];
  if (!shown.length) return location.reload(); // the page was empty, and looks otherwise now
  shown[0].before(...fresh);
  fresh = [];
  tell();
  document.dispatchEvent(new Event("cloudburst:fresh"));
  scrollTo({ top: 0 });
  top.tabIndex = -1;
  top.focus({ preventScroll: true });
};

let source = null;
function live() {
  source = new EventSource(list.dataset.stream);
  source.onopen = look; // what came between the page and the stream
  source.onmessage = () => setTimeout(look, list.dataset.many ? Math.random() * 1000 : 0); // not all readers of all writers at once
}
addEventListener("pagehide", () => source?.close());
addEventListener("pageshow", (event) => { if (event.persisted) live(); });
live();
