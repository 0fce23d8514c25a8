// Completes the last of several words, according to the ARIA combobox pattern.
export function complete(input, done) {
  const list = Object.assign(document.createElement("ul"), { id: "w-list", role: "listbox", hidden: true, ariaLabel: t("Categories") });
  input.parentElement.append(list);
  Object.assign(input, { role: "combobox", ariaExpanded: "false", ariaAutoComplete: "list" });
  input.setAttribute("aria-controls", "w-list");
  let at = -1, timer = 0;
  const cut = () => input.value.lastIndexOf(",") + 1;
  const close = () => { list.hidden = true; input.ariaExpanded = "false"; input.removeAttribute("aria-activedescendant"); at = -1; };
  const mark = (n) => {
    const all = [...list.children];
    at = (n + all.length) % all.length;
    all.forEach((li, i) => { li.ariaSelected = String(i === at); });
    input.setAttribute("aria-activedescendant", all[at].id);
  };
  const choose = (li) => {
    const before = input.value.slice(0, cut());
    input.value = `${before}${before ? " " : ""}${li.dataset.label}, `;
    close();
    input.focus();
    done();
  };
  async function ask() {
    const word = input.value.slice(cut()).trim();
    const there = input.value.split(",").map((s) => s.trim().toLowerCase());
    try {
      const a = await (await fetch(`/write/categories?prefix=${encodeURIComponent(word)}`)).json();
      const fit = (a.categories ?? []).filter((c) => !there.includes(c.label.toLowerCase()));
      if (!fit.length || document.activeElement !== input) return close();
      list.replaceChildren(...fit.map((c, i) => {
        const li = Object.assign(document.createElement("li"), { id: `w-list-${i}`, role: "option", ariaSelected: "false", textContent: c.label });
        li.dataset.label = c.label;
        li.append(Object.assign(document.createElement("span"), { className: "soft num", textContent: c.posts }));
        return li;
      }));
      list.hidden = false;
      input.ariaExpanded = "true";
      at = -1;
    } catch { close(); }
  }
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
  if (input.value.slice(cut()).trim()) ask();
  input.addEventListener("blur", close);
  list.addEventListener("mousedown", (e) => { e.preventDefault(); const li = e.target.closest("li"); if (li) choose(li); });
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" && list.hidden) return void ask();
    if (list.hidden || e.ctrlKey || e.metaKey) return;
    if (e.key === "ArrowDown") mark(at + 1);
    else if (e.key === "ArrowUp") mark(at - 1);
    else if ((e.key === "Enter" || e.key === "Tab") && at >= 0) choose(list.children[at]);
    else if (e.key === "Escape") close();
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
}
