package fulltext

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
)

// These limits apply to one page.
const (
	maxTags  = 50_000 // maximum number of tags that open an element
	minWords = 200    // minimum number of bytes of text of an article
)

var errNoArticle = errors.New("has no article that this server can find: it may need a script or a login")

// Extract returns the article of a page as HTML with absolute URLs, not sanitized. address is the
// URL of the page. The text of the error continues a sentence about the page, such as "has no
// article".
func Extract(page, address string) (string, error) {
	at, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("has an invalid address: %w", err)
	}
	plain, base, err := simplify(page)
	if err != nil {
		return "", err
	}
	if to, err := at.Parse(base); base != "" && err == nil && (to.Scheme == "http" || to.Scheme == "https") {
		at = to
	}
	doc, err := html.Parse(strings.NewReader(plain))
	if err != nil {
		return "", errors.New("is nested too deeply to be read")
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = 2 * maxTags
	parser.DisableJSONLD = true
	article, err := parser.ParseAndMutate(doc, at)
	if err != nil || article.Node == nil {
		return "", errNoArticle
	}
	var out strings.Builder
	if err := article.RenderHTML(&out); err != nil {
		return "", errNoArticle
	}
	return out.String(), nil
}
