package render

func appendRDF(w *writer) {}
