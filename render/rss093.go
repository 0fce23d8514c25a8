package render

func appendRSS093(w *writer) {}
