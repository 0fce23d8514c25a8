// Announces new posts and shows them on request, so that nothing moves before. The page
// works without this file.

const list = document.querySelector("[data-stream]");
const pill = document.getElementById("pill");
const news = document.getElementById("news");
const title = document.title;
const posts = (page) => [...page.querySelectorAll(".posts > article")];
const place = (post) => post.querySelector("a.u-uid")?.getAttribute("href");

let fresh = []; // new posts, not shown yet
let looking = false;
let again = false;

// Returns the posts that are newer than those on the page.
async function newer() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-cache" });
  if (!answer.ok) throw answer;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const known = new Set(posts(document).map(place));
  const all = posts(page);
  const end = all.findIndex((post) => known.has(place(post)));
  return end < 0 ? all : all.slice(0, end);
}

async function check() {
  if (looking) {
    again = true; // the page being fetched may be older than the event
    return;
  }
  looking = true;
  try {
    do {
      again = false;
      fresh = await newer();
    } while (again);
    announce();
  } catch {
    // The next event retries.
  } finally {
    looking = false;
  }
}

function announce() {
  const n = fresh.length;
  const text = n ? n === 1 ? t("1 new post") : t("%d new posts", n) : "";
  pill.hidden = !n;
  pill.textContent = news.textContent = text;
  document.title = n ? `(${n}) ${title}` : title;
}

pill.onclick = () => {
  const shown = posts(document);
  const top = fresh[0];
  if (!shown.length) return location.reload(); // the page was empty, so its layout changes
  shown[0].before(...fresh);
  fresh = [];
  announce();
  document.dispatchEvent(new Event("cloudburst:fresh"));
  scrollTo({ top: 0 });
  top.tabIndex = -1;
  top.focus({ preventScroll: true });
};

listen(list.dataset.stream, {
  open: check, // finds posts published between the page and the stream
  message: () => setTimeout(check, list.dataset.many ? Math.random() * 1000 : 0), // spreads the requests of many clients
});
