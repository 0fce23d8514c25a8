package render

// appendRSS093 writes RSS 0.93: items may have dates and several enclosures.
func appendRSS093(w *writer) { w.rss(93, "0.93") }
