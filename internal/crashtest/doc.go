// Package crashtest kills the real program at random moments and checks, from
// outside, that it kept its promises.
//
// [Run] starts the program on a temporary folder, lets clients change and ping
// feeds, register and cancel, and kills the process again and again (SIGKILL, so
// nothing is flushed and nothing is said). The [history] is made only of what
// clients were answered and what callbacks received; the checker knows nothing of
// the program's store but its own export at the end.
//
// Checked: an acknowledged registration is there; an acknowledged cancel is not
// undone; an acknowledged ping of a change reaches every subscription that was
// live all the while; nobody is told more often than changes and deaths explain, nor
// of two things at once, nor anything at all after a death with nothing to do.
//
// Most deaths are at random moments. Some are at chosen ones, on feeds to which
// nothing happens later that could hide a loss: after a ping was acknowledged whose
// feed is slow, while a callback takes long, right after a cancel. One life in ten
// ends by SIGTERM, in good order.
//
// A harness that cannot fail proves nothing: the program can be built with
// planted bugs (build tag plantedbugs), and the tests show that each is caught.
package crashtest
