// Fetches the page anew from time to time and changes what changed, in its place.

const every = 10_000;

async function refresh() {
  if (document.hidden || !getSelection().isCollapsed) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok && answer.status !== 503) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const old of document.querySelectorAll("[data-fresh]")) {
    const fresh = page.getElementById(old.id);
    if (!fresh || fresh.innerHTML === old.innerHTML || old.contains(document.activeElement)) continue;
    old.className = fresh.className;
    old.replaceChildren(...fresh.childNodes);
  }
  document.dispatchEvent(new Event("cloudburst:fresh"));
}

setInterval(() => { refresh().catch(() => {}); }, every);
