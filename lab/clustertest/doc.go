// Package clustertest runs several nodes of the real program on one PostgreSQL database. It makes
// nodes and the database fail, and checks from outside that clients do not notice the failure. If
// CLOUDBURST_TEST_CITUS names a Citus cluster, each test uses a distributed database on this
// cluster; packaging/with-citus.sh starts one.
//
// A [Cluster] has feeds, thousands of callbacks, and clients that register and ping at all nodes.
// Its history contains only notifications that callbacks received and responses that clients
// received. At the end, the checker also uses the export of the program. The User-Agent of a
// notification identifies the sending node, because each node has its own public URL in these
// tests. In production, all nodes have the same public URL.
//
// Each scenario is a method of Cluster. The scenarios are: all nodes deliver a change together; a
// node is killed, or paused for longer than its lease, during deliveries; a single node is killed
// and restarted; the database restarts; a node loses its connection to the database, with or
// without an error; nodes are upgraded one by one to a version with a newer schema; work is done
// only once in the cluster; live pages work on every node; a nonce is accepted only once.
//
// All scenarios check these guarantees. An acknowledged change reaches all subscribers, as this
// version or a newer one. No subscriber receives an older version after a newer one, or two
// notifications at the same time, except from a paused or disconnected node. No notification is
// repeated, except for one batch (500) after a takeover. Acknowledged registrations exist at the
// end.
//
// To test the harness itself, lab/planted builds a program with planted bugs in its store. The
// tests check that each bug is found.
package clustertest
