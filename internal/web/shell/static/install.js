// Registers the service worker: the last river without a connection, and marks made meanwhile.

const workers = navigator.serviceWorker; // missing without https

workers?.register("/sw.js", { updateViaCache: "none" }).then((registration) => {
  // A new version takes over while this page is hidden: while the current one serves a page,
  // browsers break its answers off, or hold the takeover back for minutes. A page that is left is
  // hidden too, but its timers end. Without this, the new version waits until all pages are closed.
  const renew = () => setTimeout(() => { if (document.hidden) registration.waiting?.postMessage("take over"); }, 1500);
  document.addEventListener("visibilitychange", renew);
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", renew));
  if (document.hidden) registration.update().catch(() => {});
}).catch(() => {}); // the pages work without it

addEventListener("online", () => workers?.controller?.postMessage("replay"));
