// Package crashtest kills the real program at random moments and checks, from
// outside, that it kept its guarantees.
//
// [Run] starts the program on a temporary folder. Clients change and ping feeds at all
// endpoints, save feeds, register, subscribe and cancel, while Run kills the process
// repeatedly (SIGKILL, so nothing is flushed). The [history] consists only of responses to clients
// and received notifications; the checker uses only the program's export at the end.
//
// Checks: an acknowledged registration exists; an acknowledged cancel is not undone; an
// acknowledged ping of a change reaches every subscription that was active all the time; no
// subscriber gets more notifications than changes and crashes explain, or two at once, or any
// after a crash without pending work.
//
// WebSub: the callback of an acknowledged request gets a verification or a denial; confirmed
// requests take effect, and refused ones do not; content has the bytes and the type of one
// version, is never older than earlier content, and is signed with the confirmed secret.
// Site pings: they are in the recent changes, and counted, after a restart.
//
// Hosted feeds: the served document is one of the saved documents, complete and with its type;
// it is the last acknowledged one or a later one, and no reader sees an older one afterwards.
// Subscribers of all forms are notified of each acknowledged or seen document. A one-time
// header for a private feed works only once, also for another process.
//
// A callback that confirms cannot know when this is on disk. The confirmation counts as
// certain at the end of the verifying process, or when a delivery proves it.
//
// Most crashes are at random times. Some are at chosen times, with feeds that do not change
// later, so that nothing hides a loss: after acknowledged pings and requests for slow feeds,
// during slow deliveries, right after acknowledged cancels and requests, and after saves. One
// process in ten ends by SIGTERM.
//
// A harness that cannot fail proves nothing: lab/planted builds a program with planted bugs in
// its store, and the tests show that each bug is found.
package crashtest
