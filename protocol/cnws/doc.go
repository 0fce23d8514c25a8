// Package cnws speaks the change notification web service on the wire: a
// publisher tells every subscriber that asked to know when a resource changed.
//
// It follows the proposal of 8 April 2003. Every message is an XML document that is
// posted, and every answer is one:
//
//   - A subscriber posts [Subscribe] to the publisher ([Client.Subscribe]). The
//     [Result] says whether it is on the list, and what the resource is called.
//   - When the resource changes the publisher posts [Change] to each subscriber
//     ([Client.Notify]). A Result that is false ends the subscription; there is no
//     other way to end one.
//
// Start with [Client] to ask and to tell, with [Handler] to answer; one handler
// takes both kinds of message, and a program that plays one part leaves the other
// out. The package knows bytes and nothing else: who is on the list, and what
// becomes of a subscriber that does not answer, is the business of whoever
// implements [Publisher].
//
// A subscription has no end. After an outage of his own, and when a publisher has
// been silent for 30 days, a subscriber subscribes again; [ConfirmAt] says when.
//
// # Interoperability
//
//   - What is written is as the proposal shows it: one default namespace, no
//     prefixes but for elements of other namespaces, UTF-8.
//   - What is read may come in any form that means the same in XML, in any
//     encoding that internal/xmlsafe knows. The namespace must be there; the version
//     may be missing, and any but 1.0 is refused.
//   - Elements of other namespaces inside resourceChange and result are kept as
//     trees ([Element]) and can be written again. Everywhere else, and for names of
//     this namespace that nobody knows, they are passed over.
//   - A changeTime that is missing or cannot be read is the zero time: what changed
//     matters more than when. Zones such as BST are understood.
//   - The proposal names no way to find a publisher's door, and no challenge.
package cnws
