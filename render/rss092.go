package render

func appendRSS092(w *writer) {}
