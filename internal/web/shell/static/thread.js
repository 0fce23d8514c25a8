// Inserts new replies into an open thread. The page works without this file.

const thread = document.querySelector("#thread[data-stream]");
const news = document.getElementById("threadnews");
let looking = false;
let again = false;

const listOf = (item, page) => item ? item.querySelector(":scope > ol") : page.querySelector(".replytree");

// Copies the replies that the page lacks, keeps what is open, and removes what is gone.
function merge(from, to, added) {
  const known = new Map([...to.children].map((li) => [li.id, li]));
  const wanted = [...from.children];
  let before = null;
  for (const li of wanted.reverse()) {
    const here = known.get(li.id);
    if (!here) {
      li.classList.add("fresh");
      to.insertBefore(li, before);
      added.push(li);
      before = li;
      continue;
    }
    known.delete(li.id);
    const inside = listOf(li);
    if (inside && !listOf(here)) {
      for (const one of inside.children) one.classList.add("fresh");
      added.push(...inside.children);
      here.append(inside);
    } else if (inside) {
      merge(inside, listOf(here), added);
    } else {
      listOf(here)?.remove();
    }
    before = here;
  }
  for (const gone of known.values()) gone.remove();
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
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-cache" });
      if (!answer.ok) throw answer;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const added = [];
      merge(listOf(null, page), listOf(null, document), added);
      const none = thread.querySelector(".noreplies");
      if (none) none.hidden = Boolean(listOf(null, document).children.length);
      if (added.length) {
        news.textContent = added.length === 1 ? t("1 new reply") : t("%d new replies", added.length);
        document.dispatchEvent(new Event("cloudburst:fresh"));
      }
    } while (again);
  } catch {
    // The next event retries.
  } finally {
    looking = false;
  }
}

if (thread) {
  listen(thread.dataset.stream, {
    open: check, // finds replies between the page and the stream
    message: () => setTimeout(check, Math.random() * 200), // spreads the requests of many clients
  });
}
