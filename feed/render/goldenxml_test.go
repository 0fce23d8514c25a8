package render

import "testing"

// otherXML are the formats of XML that are not RSS.
func otherXML() []string { return []string{"atom", "atom03", "cdf", "scriptingnews", "opml"} }

// The documents in testdata/golden/*.xml are written in every format of XML.
func TestFormatsOfXMLAreWrittenLikeThis(t *testing.T) {
	t.Parallel()
	goldens(t, otherXML())
}
