package render

func appendPHP(w *writer) {}
