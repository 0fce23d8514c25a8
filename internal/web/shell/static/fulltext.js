// Shows the full text of an item without a new page, and shows it when the server has read the
// original page. The form works without this file.

const article = () => document.querySelector(".alone > .item");
let stream = null;

async function replaceWith(answer) {
  if (!answer.ok) throw answer;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector(".alone > .item");
  if (!fresh) throw answer;
  article().replaceWith(fresh);
  history.replaceState(history.state, "", answer.url);
  follow();
  return fresh;
}

// Waits for the text of a page that is being read.
function follow() {
  stream?.close();
  stream = null;
  const item = article();
  if (!item?.dataset.await) return;
  stream = new EventSource(item.dataset.await);
  stream.onmessage = async (event) => {
    const part = document.createElement("template");
    part.innerHTML = event.data; // HTML of the server, with foreign text sanitized
    if (part.content.firstElementChild?.id !== item.id || +part.content.firstElementChild.dataset.seq <= +item.dataset.seq) return;
    stream?.close();
    try {
      await replaceWith(await fetch(location.href, { headers: { Accept: "text/html" } }));
    } catch {
      // The button of the page still works.
    }
  };
}

async function show(form) {
  const button = form.querySelector("button");
  const label = button.textContent;
  button.disabled = true;
  const slow = setTimeout(() => { button.textContent = t("Reading the page"); }, 300);
  try {
    const fresh = await replaceWith(await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "text/html" } }));
    const news = document.getElementById("news");
    if (news) news.textContent = fresh.querySelector(".fulltext .why") ? t("The full text could not be read") : t("Full text shown");
  } catch {
    button.disabled = false;
    button.textContent = label;
    form.submit();
  } finally {
    clearTimeout(slow);
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches(".fulltext")) return;
  event.preventDefault();
  show(event.target);
});
addEventListener("pagehide", () => stream?.close());
follow();
