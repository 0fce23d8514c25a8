package render

func appendPHPSerialize(w *writer) {}
