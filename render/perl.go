package render

func appendPerl(w *writer) {}
