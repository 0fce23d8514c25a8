package render

// formatWriter returns the function that writes a format, or nil if the format is unknown. Each
// format has its own file, a case in this function and an entry in Formats.
func formatWriter(name string) func(*writer) {
	switch name {
	case "rss090":
		return appendRSS090
	case "rss091":
		return appendRSS091
	case "rss092":
		return appendRSS092
	case "rss093":
		return appendRSS093
	case "rss094":
		return appendRSS094
	case "rss20":
		return appendRSS20
	case "rdf":
		return appendRDF
	case "atom":
		return appendAtom10
	case "atom03":
		return appendAtom03
	case "jsonfeed":
		return appendJSONFeed
	case "cdf":
		return appendCDF
	case "scriptingnews":
		return appendScriptingNews
	case "opml":
		return appendOPML
	}
	return formatWriterOfData(name)
}

// formatWriterOfData is like formatWriter for formats other than feed formats: tables, data of
// programming languages, HTML and plain text.
func formatWriterOfData(name string) func(*writer) {
	switch name {
	case "csv":
		return appendCSV
	case "tsv":
		return appendTSV
	case "phps":
		return appendPHPSerialize
	case "storable":
		return appendStorable
	case "php":
		return appendPHP
	case "perl":
		return appendPerl
	case "python":
		return appendPython
	case "ruby":
		return appendRuby
	case "js":
		return appendJS
	case "jsonp":
		return appendJSONP
	case "html":
		return appendHTML
	case "text":
		return appendText
	}
	return nil
}
