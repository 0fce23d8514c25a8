package render

func appendRuby(w *writer) {}
