package render

func appendPython(w *writer) {}
