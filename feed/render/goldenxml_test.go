package render

import "testing"

// otherXML returns the XML formats that are not RSS.
func otherXML() []string { return []string{"atom", "atom03", "cdf", "scriptingnews", "opml"} }

// The documents in testdata/golden/*.xml in every other XML format.
func TestRenderedXMLMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	goldens(t, otherXML())
}
