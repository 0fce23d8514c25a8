package render

func appendRSS090(w *writer) {}
