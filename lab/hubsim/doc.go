// Package hubsim runs the real delivery engine in a simulation that depends only on a seed: time,
// store, network and machines. A seed that violates a guarantee does so in every run.
//
// [Run] runs the simulation of one seed in a bubble of testing/synctest. One to three machines,
// each with its own clock, run a [cloudburst/internal/hub.Hub] on one [Disk]. The Disk is an
// in-memory store that follows the same contract as the production stores. Subscribers register,
// renew, cancel and subscribe over WebSub; feeds change and are pinged. Callbacks respond, fail,
// are slow, or lose their connection during the response. The store becomes unavailable, or
// executes an operation and loses the response. Machines crash, freeze for longer than a lease,
// and restart. Then all faults end, and all pending deliveries must arrive.
//
// The history records the observations of subscribers, publishers and machines; see history.go.
// The checks use the history. Only one check reads the store: it verifies that no work is
// pending.
//
// The result does not depend on the order in which goroutines run. The duration and outcome of an
// operation are a hash of the seed, the caller and the time, so that no two operations end at the
// same time. The simulation runs on one processor.
//
// To test the checks themselves, flaws.go plants bugs between the engine and its store. A test
// shows that the checks detect each bug.
package hubsim
