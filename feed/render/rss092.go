package render

// appendRSS092 writes RSS 0.92: items have an enclosure, a source and categories too,
// the channel has a cloud, and nothing in an item is required.
func appendRSS092(w *writer) { w.rss(92, "0.92") }
