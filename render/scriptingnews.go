package render

func appendScriptingNews(w *writer) {}
