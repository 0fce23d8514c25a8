package render

func appendJSONFeed(w *writer) {}
