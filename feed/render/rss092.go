package render

// appendRSS092 writes RSS 0.92. Items may have an enclosure, a source and categories, the
// channel may have a cloud, and items have no required elements.
func appendRSS092(w *writer) { w.rss(92, "0.92") }
