// Package hubsim runs the real delivery engine in a simulation that a seed determines: time,
// store, network and machines. A seed that violates a guarantee does so on every run.
//
// [Run] plays one seed in a bubble of testing/synctest. One to three machines, each with its own
// clock, run a [cloudburst/internal/hub.Hub] on one [Disk]. The Disk is an in-memory store of the
// hub that meets the same contract as the production stores. Subscribers register, renew, cancel
// and subscribe by WebSub; feeds change and are pinged. Callbacks answer, fail, are slow, or
// answer while the connection breaks. The store becomes unavailable, or completes an operation and
// loses its answer. Machines crash, freeze for longer than a lease, and start again. Then all
// faults end, and all pending deliveries must arrive.
//
// The history records the observations of subscribers, publishers and machines; see history.go.
// The checks use the history. Only one check reads the store: it verifies that no work is left.
//
// The result does not depend on the order in which goroutines run. The duration and outcome of an
// operation are a hash of the seed, the caller and the time, so that no two operations end at the
// same moment. The simulation runs on one processor.
//
// To prove that the checks detect bugs, flaws.go plants bugs between the engine and its store, and
// a test shows that each is detected.
package hubsim
