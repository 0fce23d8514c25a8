package render

func appendAtom10(w *writer) {}
