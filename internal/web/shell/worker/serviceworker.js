// The service worker. The server puts two lines before this file: version, a hash of all files
// of the program, and files, the paths that work without a connection.
//
// It keeps the last river of one session, and queues read marks and stars that are made without
// a connection. Everything else goes to the network: streams, forms, other people's pages, files
// and the administration are never stored.

const shell = `cloudburst-shell-${version}`;
const river = `cloudburst-river-${version}`;
const markPath = "/river/mark";

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(shell);
    await cache.addAll(files.map((path) => new Request(path, { credentials: "omit", cache: "reload" })));
  })());
});

// Hidden pages ask a waiting worker to take over.
self.addEventListener("message", (event) => {
  if (event.data === "take over") self.skipWaiting();
  if (event.data === "replay") event.waitUntil(replay());
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("cloudburst-") && name !== shell && name !== river) await caches.delete(name);
    }
    await self.clients.claim();
    await prime().catch(() => {});
  })());
});

self.addEventListener("sync", (event) => {
  if (event.tag === "marks") event.waitUntil(replay());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin || url.pathname.startsWith("/admin") || url.pathname.startsWith("/api")) return;
  if (request.method === "POST") {
    if (url.pathname === markPath && request.headers.get("accept") === "text/plain") event.respondWith(mark(request));
    else if (url.pathname === "/logout") event.waitUntil(forget());
    return;
  }
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(navigate(event, url));
  else if (url.pathname.startsWith("/static/") || files.includes(url.pathname)) event.respondWith(file(request));
});

const stored = (cacheName, path) => caches.match(path, { cacheName }); // does not create the cache

async function file(request) {
  const { pathname } = new URL(request.url);
  return (await stored(shell, pathname)) ?? (await stored(river, pathname)) ?? fetch(request);
}

// Pages come from the network. Without it, the river is the stored one, and other pages are the
// offline page.
async function navigate(event, url) {
  let answer;
  try {
    answer = await fetch(event.request);
  } catch {
    const last = url.pathname === "/river" ? await lastRiver() : null;
    return last ?? (await stored(shell, "/offline")) ?? Response.error();
  }
  if (answer.type !== "basic" || !answer.ok || !/^text\/html/.test(answer.headers.get("content-type"))) return answer;
  const wanted = url.pathname === "/river" && url.search === "" ? answer.clone() : null;
  event.waitUntil(arrived(answer.headers, wanted).catch(() => {}));
  return answer;
}

// A page has arrived: its headers name the session. wanted is the river to store, if it is one.
async function arrived(headers, wanted) {
  const reader = headers.get("cloudburst-reader") ?? "";
  if (reader !== (await reading())) {
    await caches.delete(river);
    await setReading(reader);
  }
  if (wanted) await store(wanted);
  await replay();
}

// The pages that were open before the first worker are not stored, so it reads the river itself.
async function prime() {
  const answer = await fetch("/river", { headers: { accept: "text/html" } });
  if (answer.ok && !answer.redirected) await arrived(answer.headers, answer);
}

// The stored river has the files that it needs, even if they are newer than this worker.
async function store(answer) {
  const text = await answer.text();
  const cache = await caches.open(river);
  const needed = [...new Set([...text.matchAll(/\/static\/[\w.\/-]+\.(?:css|js)/g)].map((m) => m[0]))].filter((path) => !files.includes(path));
  await Promise.all(needed.map(async (path) => { if (!(await cache.match(path))) await cache.add(path); }));
  await cache.put("/river", new Response(text, { headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": answer.headers.get("content-security-policy") ?? "", "x-stored": String(Date.now()) } }));
}

async function lastRiver() {
  const last = await stored(river, "/river");
  if (!last) return null;
  const at = new Date(Number(last.headers.get("x-stored")));
  const clock = at.toTimeString().slice(0, 5);
  const day = at.toDateString() === new Date().toDateString() ? "" : ` on ${at.toLocaleDateString("en-GB", { day: "numeric", month: "long" })}`;
  const note = `<p class="note" role="status" id="offline">You are offline; this is the river of ${clock}${day}. Stars and read marks are saved here and sent later.</p>`;
  const text = (await last.text()).replace(/<main id="main"[^>]*>/, (tag) => tag + note);
  return new Response(text, { headers: last.headers });
}

// Marks, in the order in which they were made. The server applies the last one of each item.

async function mark(request) {
  const body = await request.clone().text();
  if (!(await count())) {
    try {
      return await fetch(request);
    } catch {
      // no connection: queue it
    }
  }
  await add(body);
  self.registration.sync?.register("marks").catch(() => {});
  replay();
  return new Response(null, { status: 202 });
}

let replaying = null;

function replay() {
  replaying ??= send().catch(() => {}).finally(() => { replaying = null; });
  return replaying;
}

async function send() {
  for (;;) {
    const [next] = await all(1);
    if (!next) return;
    const now = user(await reading());
    if (now === "") return; // nobody is signed in
    if (next.user === now) { // else another user made it
      const answer = await fetch(markPath, { method: "POST", body: new URLSearchParams(next.body), headers: { accept: "text/plain" }, credentials: "same-origin" });
      if (answer.redirected || answer.status >= 500 || answer.status === 429) return; // signed out, or later
    }
    await remove(next.id);
  }
}

const user = (reader) => reader.split(".")[0];

// What a session left behind is removed when it ends here.
async function forget() {
  await caches.delete(river);
  await change("marks", (marks) => marks.clear());
  await setReading("");
}

// The database: the queue of marks, and the session whose pages arrive.

let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const ask = indexedDB.open("cloudburst", 1);
    ask.onupgradeneeded = () => {
      ask.result.createObjectStore("marks", { keyPath: "id", autoIncrement: true });
      ask.result.createObjectStore("state");
    };
    ask.onsuccess = () => resolve(ask.result);
    ask.onerror = () => { opened = null; reject(ask.error); };
  });
  return opened;
}

async function change(name, act, mode = "readwrite") {
  const db = await database();
  return new Promise((resolve, reject) => {
    const run = db.transaction(name, mode);
    const request = act(run.objectStore(name));
    run.oncomplete = () => resolve(request?.result);
    run.onabort = run.onerror = () => reject(run.error);
  });
}

const all = (n) => change("marks", (marks) => marks.getAll(null, n), "readonly");
const count = () => change("marks", (marks) => marks.count(), "readonly");
const remove = (id) => change("marks", (marks) => marks.delete(id));
const add = async (body) => {
  const made = { body, user: user(await reading()) };
  return change("marks", (marks) => marks.add(made));
};
const reading = async () => (await change("state", (state) => state.get("reader"), "readonly")) ?? "";
const setReading = (reader) => change("state", (state) => state.put(reader, "reader"));
