package render

// appendRSS094 writes RSS 0.94: a description says of which type it is, if that is not
// HTML.
func appendRSS094(w *writer) { w.rss(94, "0.94") }
