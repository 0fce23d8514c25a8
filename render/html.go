package render

func appendHTML(w *writer) {}
