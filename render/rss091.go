package render

func appendRSS091(w *writer) {}
