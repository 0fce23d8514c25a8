package render

func appendRSS20(w *writer) {}
