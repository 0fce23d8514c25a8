package render

// appendRSS20 writes RSS 2.0 with all modules.
//
// spec:datafeeds-2006#rss-versions
func appendRSS20(w *writer) { w.rss(200, "2.0") }
