// Adds new lines at the top of the log or of the changes. Lines never move while the user reads:
// unless the page is at the top and idle, new lines wait behind a button.

const list = document.getElementById("events");
const keep = +list?.dataset.keep || 300; // lines on the page; older ones are on other pages

if (list?.dataset.stream) {
  const pill = document.getElementById("pill");
  const state = document.getElementById("live");
  const stateText = document.getElementById("live-text");
  const seen = new Set([...list.querySelectorAll("[data-id]")].map((li) => li.dataset.id));
  let waiting = [];
  let due = false;

  const say = (text, on) => {
    state.hidden = false;
    state.classList.toggle("on", on);
    if (stateText.textContent !== text) stateText.textContent = text;
  };

  const busy = () =>
    scrollY > 40 ||
    list.querySelector("details[open]") !== null ||
    list.contains(document.activeElement) ||
    list.matches(":hover") ||
    !getSelection().isCollapsed;

  // Changes of one feed that follow each other become one line.
  const frame = document.getElementById("fold");

  const describe = (run) => {
    const lines = run.querySelectorAll(".change");
    if (lines.length === 0) return run.remove();
    const newest = lines[0];
    const oldest = lines[lines.length - 1];
    run.dataset.key = newest.dataset.key;
    run.querySelector(".when").replaceChildren(newest.querySelector("time").cloneNode(true));
    run.querySelector(".oldest").replaceChildren(oldest.querySelector("time").cloneNode(true));
    run.querySelector(".kind").replaceWith(newest.querySelector(".kind").cloneNode(true));
    run.querySelector(".name").textContent = newest.querySelector(".site bdi").textContent;
    run.querySelector(".n").textContent = lines.length.toLocaleString("en");
  };

  const fold = () => {
    if (!frame) return;
    for (let line = list.firstElementChild; line?.nextElementSibling;) {
      const next = line.nextElementSibling;
      if (line.dataset.key !== next.dataset.key) {
        if (!line.matches(".fresh") && !next.matches(".fresh")) return; // the rest is folded
        line = next;
        continue;
      }
      const run = next.matches(".many") ? next : frame.content.firstElementChild.cloneNode(true);
      if (run !== next) {
        next.replaceWith(run);
        run.querySelector("ol").append(next);
      }
      run.querySelector("ol").prepend(...(line.matches(".many") ? line.querySelectorAll(".change") : [line]));
      if (line.parentElement === list) line.remove();
      describe(run);
      line = run;
    }
  };

  const show = () => {
    const fresh = document.createDocumentFragment();
    for (const html of waiting.splice(0).reverse().slice(0, keep)) {
      const part = document.createElement("template");
      part.innerHTML = html; // HTML of the server, with foreign text escaped
      const li = part.content.firstElementChild;
      if (!li) continue;
      li.classList.add("fresh");
      fresh.append(li);
    }
    list.prepend(fresh);
    fold();
    for (let lines; (lines = list.querySelectorAll("[data-id]")).length > keep;) {
      const run = lines[lines.length - 1].closest(".many");
      lines[lines.length - 1].remove();
      if (run) describe(run);
    }
    document.getElementById("empty")?.remove();
    pill.hidden = true;
    document.dispatchEvent(new Event("cloudburst:fresh"));
  };

  const settle = () => {
    due = false;
    if (waiting.length === 0) return;
    if (!busy()) return show();
    const n = waiting.length;
    pill.textContent = n === 1 ? list.dataset.sayOne : list.dataset.sayMany.replace("%d", n > keep ? `${keep}+` : n);
    pill.hidden = false;
  };

  pill.addEventListener("click", () => {
    if (pill.dataset.reload) return location.reload();
    for (const open of list.querySelectorAll("details[open]")) open.open = false;
    show();
    scrollTo({ top: 0 });
  });

  listen(list.dataset.stream, {
    open: () => say(t("Live"), true),
    pause: () => say(t("Paused"), false),
    error: (event) => say(event.target.readyState === EventSource.CLOSED ? t("Not live: reload the page") : t("Reconnecting"), false),
    message: (event) => {
      if (seen.has(event.lastEventId)) return;
      seen.add(event.lastEventId);
      if (seen.size > 2000) seen.delete(seen.values().next().value);
      waiting.push(event.data);
      if (waiting.length > 2 * keep) waiting.splice(0, waiting.length - keep);
      if (!due) {
        due = true;
        setTimeout(settle, 100);
      }
    },
    reset: () => {
      pill.textContent = t("Too many new events: reload the page");
      pill.dataset.reload = "yes";
      pill.hidden = false;
    },
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

// Empty fields are left out of the URL.
document.querySelector("form.filter")?.addEventListener("formdata", (event) => {
  for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
});
