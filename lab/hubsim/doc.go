// Package hubsim runs the real engine of deliveries in a world that is simulated and
// that a seed decides: time, store, network, machines. A seed that breaks a promise
// breaks it again, every time.
//
// [Run] plays one seed inside a bubble of testing/synctest. One to three machines, each
// with a clock of its own, run a [cloudburst/internal/hub.Hub] on one [Disk], which is
// the hub's store in memory and passes the contract of the stores that people use.
// Subscribers register, renew, cancel and ask by WebSub; feeds change and are pinged;
// callbacks answer, fail, take long, or answer where nobody hears it; the store is away
// or does what it was asked to and does not say so; machines die, stand still longer
// than a lease, and start again. Then all of that ends, and what is owed has to arrive.
//
// What happened is written down as subscribers, publishers and machines saw it, see
// history.go. The checks read that, and only one of them the store: that no work is left.
//
// Nothing in it depends on which goroutine runs first: what an operation takes, and
// what becomes of it, is a hash of the seed, of who does it and of the moment, so that
// no two of them end in one moment; and one processor runs it.
//
// A harness that cannot fail proves nothing: flaws.go has bugs to plant between the
// engine and its store, and a test shows that each is found.
package hubsim
