package render

func appendOPML(w *writer) {}
