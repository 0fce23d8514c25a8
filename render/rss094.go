package render

func appendRSS094(w *writer) {}
