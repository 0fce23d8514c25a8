package render

func appendText(w *writer) {}
