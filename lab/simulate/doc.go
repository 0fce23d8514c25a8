// Package simulate calculates the machines that an installation of any size needs, from the
// measured costs of single operations.
//
// The package contains no costs in its code. [Costs] come from a file that "cloudburst-lab bench
// costs" writes; one file is embedded. A [Load] describes the requests, and a [Machine] describes
// the hardware. [New] creates a [Plan]: the number of nodes and databases, the usage of each
// resource, and the first bottleneck when the load grows. [Plan.Fail] simulates the backlog after
// a failure, second by second. The same seed gives the same result.
//
// The plan distributes feeds over shards. Each shard is a separate installation with some nodes
// on one PostgreSQL database. A proxy in front of all shards sends each feed to its shard. The
// program does not contain such a proxy.
package simulate
