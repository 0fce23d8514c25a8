// One player for all audio and video of the river. It keeps playing while the user opens
// other parts of the river, and stores its position for the next visit.

const byId = (id) => document.getElementById(id);
const kept = "river-playing";
const bar = byId("player");
let media = null;
let now = null; // { src, kind, text, href, at }

const remember = () => {
  try {
    if (now && !media?.ended) localStorage.setItem(kept, JSON.stringify({ ...now, at: media?.currentTime || now.at, on: Date.now() }));
    else localStorage.removeItem(kept);
  } catch { /* storage is not available */ }
};

function showState() {
  for (const link of document.querySelectorAll("a.play")) link.classList.toggle("on", !!media && !media.paused && link.href === now.src);
}

function put(what) {
  media?.remove();
  now = what;
  media = document.createElement(what.kind === "video" ? "video" : "audio");
  media.controls = true;
  media.preload = "none";
  media.src = what.src;
  if (what.at) media.addEventListener("loadedmetadata", () => { media.currentTime = what.at; }, { once: true });
  for (const name of ["play", "pause", "ended"]) media.addEventListener(name, () => { showState(); remember(); });
  media.addEventListener("error", () => { byId("player-what").textContent = t("This browser cannot play %s", what.text); });
  let last = 0;
  media.addEventListener("timeupdate", ({ target }) => {
    if (target === media && Math.abs(target.currentTime - last) > 5) { // a closed player sends a last event
      last = target.currentTime;
      remember();
    }
  });
  const link = byId("player-what");
  link.textContent = what.text;
  link.href = what.href;
  bar.querySelector(".now").after(media);
  bar.hidden = false;
  document.body.classList.add("playing");
  if ("mediaSession" in navigator) navigator.mediaSession.metadata = new MediaMetadata({ title: what.text });
}

function close() {
  media?.pause();
  media?.remove();
  media = now = null;
  bar.hidden = true;
  document.body.classList.remove("playing");
  remember();
  showState();
}

function play(link) {
  if (now?.src === link.href) return media.paused ? media.play().catch(() => {}) : media.pause();
  const item = link.closest(".item");
  const title = item?.querySelector("h1:not(.sr), h3")?.textContent || link.textContent;
  const feed = item?.querySelector("[id^=f]")?.textContent;
  put({ src: link.href, kind: link.dataset.kind, text: feed ? `${title.trim()} · ${feed}` : title, href: `${location.pathname.match(/^\/rivers\/[^/]+\/[^/]+/)?.[0] ?? "/river"}/item/${item?.id.slice(1)}` });
  media.play().catch(() => {});
}

// During playback, links of the river load into this page.
async function visit(href, push) {
  try {
    const answer = await fetch(href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const river = page.getElementById("river");
    if (!river) throw answer;
    for (const link of page.querySelectorAll("link[rel=stylesheet]")) if (!document.querySelector(`link[href="${link.getAttribute("href")}"]`)) document.head.append(link);
    byId("river").replaceWith(river);
    document.title = page.title;
    if (push) history.pushState(null, "", href);
    scrollTo({ top: 0 });
    byId("main").focus({ preventScroll: true });
    document.dispatchEvent(new Event("cloudburst:river"));
    document.dispatchEvent(new Event("cloudburst:fresh"));
    showState();
  } catch {
    location.href = href;
  }
}

const ours = (url) => url.origin === location.origin && /^\/rivers?(\/|$)/.test(url.pathname) && !/\/(stream|opml|feed\.\w+)$/.test(url.pathname);

if (bar) {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest("a[href]");
    if (!link) return;
    if (link.matches(".play")) {
      event.preventDefault();
      play(link);
    } else if (now && ours(new URL(link.href)) && !link.hash) {
      event.preventDefault();
      visit(link.href, true);
    }
  });
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || !now || !event.target.matches(".find")) return;
    event.preventDefault();
    const url = new URL(event.target.action);
    url.search = new URLSearchParams(new FormData(event.target));
    visit(url.href, true);
  });
  addEventListener("popstate", () => { if (now) visit(location.href, false); });
  addEventListener("pagehide", remember);
  byId("player-close").addEventListener("click", close);
  try {
    const before = JSON.parse(localStorage.getItem(kept));
    if (before && Date.now() - before.on < 7 * 864e5 && /^https?:/.test(before.src)) put(before);
  } catch { /* no stored playback */ }
}
