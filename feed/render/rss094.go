package render

// appendRSS094 writes RSS 0.94: a description that is not HTML declares its type.
func appendRSS094(w *writer) { w.rss(94, "0.94") }
