package render

// appendRSS091 writes the common subset of RSS 0.91 by UserLand and by Netscape. It has at
// most 15 items, each with a title, a link and a text. The document has no DOCTYPE: readers do
// not need it, and some reject documents that have one.
//
// spec:rss091-1999#length-limits
func appendRSS091(w *writer) { w.rss(91, "0.91") }
