// Package cnws implements the change notification web service: a publisher notifies its
// subscribers when a resource changes.
//
// The package follows the proposal of 8 April 2003. Every message is an XML document sent
// by POST, and so is every response:
//
//   - A subscriber posts [Subscribe] to the publisher ([Client.Subscribe]). The [Result]
//     reports whether it is subscribed, and has the resource's title.
//   - When the resource changes, the publisher posts [Change] to each subscriber
//     ([Client.Notify]). A Result with Status false ends the subscription. There is no
//     other way to end one.
//
// Use [Client] to subscribe and to notify, and [Handler] to respond. One handler accepts
// both kinds of message; a program with one role leaves the other one out. The package
// implements the messages only. An implementation of [Publisher] stores the subscribers and
// removes unreachable ones.
//
// A subscription does not expire. A subscriber subscribes again after an outage of its own, and
// when a publisher has sent nothing for 30 days; [ConfirmAt] returns the time.
//
// # Interoperability
//
//   - Documents are written like those of the proposal: in UTF-8, with one default
//     namespace, and with prefixes for elements of other namespaces only.
//   - Documents are read in any form with the same meaning in XML and in any encoding that
//     internal/xmlsafe supports. The namespace is required. The version may be missing;
//     other versions than 1.0 are rejected.
//   - Elements of other namespaces inside resourceChange and result are read into trees
//     ([Element]) and can be written again. All other unknown elements are ignored.
//   - A missing or invalid changeTime becomes the zero time, because the change matters
//     more than its time. Zones such as BST are understood.
//   - The proposal defines neither discovery of a publisher's endpoint nor a challenge.
package cnws
