// Package clustertest runs several nodes of the real program on one PostgreSQL database, makes
// nodes and the database fail, and checks from outside that clients do not notice. If
// CLOUDBURST_TEST_CITUS names a Citus cluster, each test has a distributed database there; see
// packaging/with-citus.sh.
//
// A [Cluster] has feeds, thousands of callbacks, and clients that register and ping at all
// nodes. Its history consists of received notifications and responses to clients. In addition
// the checker uses only the export of the program at the end. The User-Agent identifies the
// sending node, because each node has its own public URL here; a real cluster has one.
//
// Scenarios are methods of a cluster: a change that all nodes deliver together; a node that is
// killed, or paused for longer than its lease, during deliveries; a node alone that is killed and
// starts again; a restart of the database; a
// node without connection to the database, by broken and by silent connections; a rolling
// upgrade to a version with a newer schema; work that is done once in the cluster; live pages
// on every node; a nonce that is accepted once.
//
// All scenarios check: an acknowledged change reaches all subscribers, as that version or a
// newer one. No subscriber gets an older version after a newer one, or two notifications at
// once, except from a paused or disconnected node. No notification is repeated, except one
// batch (500) after a takeover. Acknowledged registrations exist at the end.
//
// A harness that cannot fail proves nothing: lab/planted builds a program with planted bugs in
// its store, and the tests show that each bug is found.
package clustertest
