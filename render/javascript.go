package render

func appendJS(w *writer) {}

func appendJSONP(w *writer) {}
