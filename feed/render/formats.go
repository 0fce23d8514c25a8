package render

// formatWriter returns the function that writes a format, or nil if the format is unknown. Each
// format has its own file, a row in this table and an entry in Formats.
func formatWriter(name string) func(*writer) {
	for _, format := range [...]struct {
		name  string
		write func(*writer)
	}{
		{"rss090", appendRSS090}, {"rss091", appendRSS091}, {"rss092", appendRSS092}, {"rss093", appendRSS093}, {"rss094", appendRSS094},
		{"rss20", appendRSS20}, {"rdf", appendRDF}, {"atom", appendAtom10}, {"atom03", appendAtom03}, {"jsonfeed", appendJSONFeed},
		{"cdf", appendCDF}, {"scriptingnews", appendScriptingNews}, {"opml", appendOPML}, {"csv", appendCSV}, {"tsv", appendTSV},
		{"phps", appendPHPSerialize}, {"storable", appendStorable}, {"php", appendPHP}, {"perl", appendPerl}, {"python", appendPython},
		{"ruby", appendRuby}, {"js", appendJS}, {"jsonp", appendJSONP}, {"html", appendHTML}, {"text", appendText},
	} {
		if format.name == name {
			return format.write
		}
	}
	return nil
}
