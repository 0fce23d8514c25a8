package render

func appendAtom03(w *writer) {}
