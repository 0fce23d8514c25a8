// Package crashtest kills the real program at random times, and checks from outside that the
// program kept its guarantees.
//
// [Run] starts the program on a temporary folder. Clients change and ping feeds at all endpoints,
// save feeds, register, subscribe and cancel. Meanwhile, Run repeatedly kills the process with
// SIGKILL, so the process cannot flush data. The history contains only responses that clients
// received and notifications that callbacks received. The checker also uses the program's export
// at the end.
//
// Run checks these guarantees of rssCloud. An acknowledged registration exists. An acknowledged
// cancel is not undone. An acknowledged ping of a change reaches every subscription that was
// active during the whole time. No subscriber receives more notifications than changes and
// crashes explain, or two at the same time, or any after a crash without pending work.
//
// For WebSub: the callback of an acknowledged request receives a verification or a denial.
// Confirmed requests take effect, and declined requests do not. Content has the bytes and the
// type of one version, is never older than earlier content, and is signed with the confirmed
// secret. For site pings: after a restart, the recent changes list and count them.
//
// For hosted feeds: the served document is complete, has its type, and is one of the saved
// documents. It is the last acknowledged document or a later one, and no reader receives an older
// document afterwards. Subscribers in all formats are notified of each document that was
// acknowledged or seen. A one-time header for a private feed is accepted only once, even by
// another process.
//
// A callback that confirms a verification does not know when the program has stored this. The
// confirmation counts as certain when the verifying process ends, or when a delivery proves it.
//
// Most crashes occur at random times. Some occur at chosen times, with feeds that do not change
// later, so that no later change can hide a loss. The chosen times are: after acknowledged pings
// and requests for slow feeds, during slow deliveries, immediately after acknowledged cancels and
// requests, and after saves. One process in ten ends by SIGTERM.
//
// To test the harness itself, lab/planted builds a program with planted bugs in its store. The
// tests check that each bug is found.
package crashtest
