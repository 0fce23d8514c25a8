package render

import "testing"

// otherXML returns the XML formats that are not RSS.
func otherXML() []string { return []string{"atom", "atom03", "cdf", "scriptingnews", "opml"} }

// This test writes the documents in testdata/golden/*.xml in every XML format that is not RSS.
func TestRenderedXMLMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	goldens(t, otherXML())
}
