package render

func appendCDF(w *writer) {}
