// Package simulate reckons what an installation of any size needs, from what single
// things were measured to cost the program.
//
// Nothing here says what anything costs: [Costs] come from the file that "cloudburst-lab bench
// costs" writes, one of which is embedded. A [Load] is what the world asks for, a [Machine]
// what one of ours has. [New] makes a [Plan] of both: how many nodes, how many databases,
// what is used how far, and what breaks first when the load grows. [Plan.Fail] plays what
// a failure leaves, second by second, the same for the same seed.
//
// The database is divided by feeds: each shard is an installation of its own, some nodes
// on one PostgreSQL, and somebody in front sends each feed to its shard. The program does
// not do that by itself.
package simulate
