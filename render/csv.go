package render

func appendCSV(w *writer) {}

func appendTSV(w *writer) {}
