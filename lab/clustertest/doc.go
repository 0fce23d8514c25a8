// Package clustertest runs the real program several times on one PostgreSQL database,
// does to the machines and to the database what befalls them, and checks from outside
// that nobody noticed.
//
// A [World] is the outside: feeds, thousands of callbacks, clients that register and
// ping at all nodes. Its history is made of what callbacks received and clients were
// answered; the checker knows nothing else of the program but its export at the end.
// Which node sends is in its User-Agent, because each is given a public address of its
// own here; a real cluster has one.
//
// Scenarios are methods of a world: a change told by all nodes together; a node that is
// killed, or stands still for longer than its lease, in the middle of telling; the
// database started anew; a node that is cut off from it, by connections that break and
// by connections that fall silent; nodes replaced one by one by those of another
// version, whose schema is newer; work that is done once in the cluster; pages that are
// live at every node; a nonce that is good at one node only.
//
// Checked of all of them: an acknowledged change reaches everybody who was there, as
// that version or a newer one; nobody is told something older after something newer,
// nor of two things at once, except by a node that stood still or was cut off, which
// cannot know; nothing is told twice, but one page (500) where a node was taken over from;
// acknowledged registrations are there at the end.
//
// A harness that cannot fail proves nothing: there is a program whose store has planted bugs
// (lab/planted), and the tests show that each is caught.
package clustertest
