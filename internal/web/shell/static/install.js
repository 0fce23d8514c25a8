// Registers the service worker, which shows the last river without a connection and stores marks made
// during that time.

const workers = navigator.serviceWorker; // missing without https

workers?.register("/sw.js", { updateViaCache: "none" }).then((registration) => {
  // A new version takes over only while this page is hidden. If it took over while the current
  // version loads a page, browsers would abort the requests or delay the takeover for minutes.
  // Without this request, the new version waits until all pages are closed.
  const renew = () => setTimeout(() => { if (document.hidden) registration.waiting?.postMessage("take over"); }, 1500);
  document.addEventListener("visibilitychange", renew);
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", renew));
  if (document.hidden) registration.update().catch(() => {});
}).catch(() => {}); // the pages work without it

addEventListener("online", () => workers?.controller?.postMessage("replay"));
