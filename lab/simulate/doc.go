// Package simulate calculates the needs of an installation of any size from the measured costs
// of single operations.
//
// The package contains no costs: [Costs] come from the file that "cloudburst-lab bench costs"
// writes; one is embedded. A [Load] describes the requests, a [Machine] the hardware. [New]
// makes a [Plan] from them: the number of nodes and databases, the usage of each resource, and
// the first bottleneck when the load grows. [Plan.Fail] simulates the backlog of a failure,
// second by second; the same seed gives the same result.
//
// The database is divided by feeds: each shard is an installation of its own, with some nodes on
// one PostgreSQL, and a proxy in front sends each feed to its shard. The program does not do
// that by itself.
package simulate
