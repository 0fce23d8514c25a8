package render

// appendRSS091 writes RSS 0.91, as UserLand and Netscape had it in common. It has no
// DOCTYPE: readers do without, and some refuse documents that have one. Items have a
// title, a link and a text; there are 15 of them.
//
// spec:rss091-1999#lengths
func appendRSS091(w *writer) { w.rss(91, "0.91") }
