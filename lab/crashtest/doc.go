// Package crashtest kills the real program at random moments and checks, from
// outside, that it kept its promises.
//
// [Run] starts the program on a temporary folder, lets clients change and ping
// feeds by all doors, save some here, register, subscribe and cancel, and kills the process again and
// again (SIGKILL, so nothing is flushed and nothing is said). The [history] is made
// only of what clients were answered and what callbacks received; the checker knows
// nothing of the program's store but its own export at the end.
//
// Checked: an acknowledged registration is there; an acknowledged cancel is not
// undone; an acknowledged ping of a change reaches every subscription that was
// live all the while; nobody is told more often than changes and deaths explain, nor
// of two things at once, nor anything at all after a death with nothing to do.
//
// Of WebSub also: the callback of an acknowledged request is asked, or told that it is
// denied; what it says yes to is done, and what it says no to changes nothing; content
// has the bytes and the type of one version, is never older than what came before, and
// is signed with the secret that was confirmed, not with one that was only asked for.
// Of pings of sites: they are on the list of changes, and counted, after a restart.
//
// Of the feeds that the program keeps: what is served is one of the documents that were
// sent, whole and of its own type; an acknowledged one is there, or one that may have
// come after it, and no reader sees an older one later; who follows the feed in any
// form is told of each that was acknowledged, or seen by anybody. A header that opened
// a private feed opens nothing a second time, not even for another process.
//
// When a callback has said yes it cannot know when that is on disk. It is taken for
// certain at the end of the process that asked last, or when a delivery shows it.
//
// Most deaths are at random moments. Some are at chosen ones, on feeds to which
// nothing happens later that could hide a loss: after pings and requests were
// acknowledged whose feed is slow, while callbacks take long, right after a cancel and
// requests were acknowledged, when a document was saved. One life in ten ends by SIGTERM, in good order.
//
// A harness that cannot fail proves nothing: there is a program whose store has planted
// bugs (lab/planted), and the tests show that each is caught.
package crashtest
