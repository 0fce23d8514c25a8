// Package hubsim runs the real delivery engine in a simulation of time, store, network and
// machines. A seed decides everything, so a seed that breaks a guarantee breaks it every time.
//
// [Run] runs one seed inside a testing/synctest bubble. One to three machines, each with its
// own clock, run a [cloudburst/internal/hub.Hub] on one [Disk], an in-memory store that passes
// the contract of the real stores. Subscribers register, renew, cancel and subscribe by WebSub;
// feeds change and are pinged; callbacks respond, fail, are slow, or their responses get lost;
// the store fails, before or after its work; machines crash, pause longer than a lease, and
// restart. Then all faults end, and all pending notifications must arrive.
//
// history.go records the view of subscribers, publishers and machines. The checks use this
// history; only one uses the store, to check that no work is left.
//
// Results do not depend on the order of goroutines: the duration and result of an operation
// are a hash of the seed, the machine and the time, so that no two operations end at the same
// time, and the simulation uses one processor.
//
// A harness that cannot fail proves nothing: flaws.go plants bugs between the engine and its
// store, and a test shows that each bug is found.
package hubsim
