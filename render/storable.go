package render

func appendStorable(w *writer) {}
