// Fetches the page periodically and replaces the parts that changed.

const often = () => document.querySelector("[data-every]"); // shows progress until it is done
const every = Number(often()?.dataset.every) || 10_000;
const ends = often() !== null;

async function refresh() {
  if (document.hidden || !getSelection().isCollapsed) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok && answer.status !== 503) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const old of document.querySelectorAll("[data-fresh]")) {
    const fresh = page.getElementById(old.id);
    if (!fresh || fresh.innerHTML === old.innerHTML || old.contains(document.activeElement)) continue;
    old.className = fresh.className;
    if (!fresh.dataset.every) delete old.dataset.every;
    old.replaceChildren(...fresh.childNodes);
  }
  document.dispatchEvent(new Event("cloudburst:fresh"));
}

const timer = setInterval(() => {
  if (ends && !often()) clearInterval(timer);
  else refresh().catch(() => {});
}, every);
