package docsui

import (
	"fmt"
	"html"
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/shell"
)

// codeBlock matches a block of code in the output of goldmark.
var codeBlock = regexp.MustCompile(`(?s)<pre><code(?: class="language-(\w+)")?>(.*?)</code></pre>`)

// blocks makes each block of code focusable, so that the keyboard can scroll it. Commands and
// requests get a button that copies them. A block of HTTP becomes two blocks: the request and the
// response.
func blocks(body string) string {
	n := 0
	printed := func(label, text string) string {
		n++
		return fmt.Sprintf(`<pre tabindex="0" class="printed" aria-label="%s %d"><code>%s</code></pre>`, label, n, text)
	}
	one := func(label, text string) string {
		n++
		return fmt.Sprintf(`<div class="copy"><pre tabindex="0" aria-label="%s %d"><code id="code-%d">%s</code></pre><button type="button" data-copy="code-%d" hidden>Copy</button></div>`,
			label, n, n, text, n)
	}
	return codeBlock.ReplaceAllStringFunc(body, func(found string) string {
		m := codeBlock.FindStringSubmatch(found)
		request, response, ok := strings.Cut(m[2], "\n\nHTTP/1.1 ")
		switch {
		case m[1] == "http" && ok:
			response = "HTTP/1.1 " + response
			if strings.Contains(request, "\nHost: reader.example") {
				return `<div class="exchange"><p class="who">The server sends</p>` + printed("Request", request) + `<p class="who">You reply</p>` + printed("Response", response) + `</div>`
			}
			return `<div class="exchange"><p class="who">You send</p>` + one("Request", request) + `<p class="who">The server replies</p>` + printed("Response", response) + `</div>`
		case m[1] == "output":
			return printed("Output", m[2])
		}
		return one("Example", m[2])
	})
}

// Headings, tables and column heads of a page in the output of goldmark.
var (
	headingOrTable = regexp.MustCompile(`<h[1-6][^>]*>.*?</h[1-6]>|<table>`)
	emptyHead      = regexp.MustCompile(`<th(?: [^>]*)?></th>`)
	columnHead     = regexp.MustCompile(`<th( [^>]*)?>`)
)

// tables wraps each table of a page in a region named after the heading above it.
func tables(body string) string {
	heading, seen := "", map[string]int{}
	body = headingOrTable.ReplaceAllStringFunc(body, func(found string) string {
		if found != "<table>" {
			heading = strings.TrimSpace(sanitize.Text(found))
			return found
		}
		name := "Table: " + heading
		if seen[name]++; seen[name] > 1 {
			name += ", " + shell.FormatCount(seen[name])
		}
		return `<div class="scroll" role="region" aria-label="` + template.HTMLEscapeString(name) + `" tabindex="0"><table>`
	})
	body = emptyHead.ReplaceAllString(strings.ReplaceAll(body, "</table>", "</table></div>"), "<td></td>")
	return columnHead.ReplaceAllString(body, `<th scope="col"$1>`)
}

// exampleCloud is the <cloud> element in the documentation, escaped for HTML.
const exampleCloud = `&lt;cloud domain=&quot;hub.example&quot; port=&quot;5337&quot; path=&quot;/rsscloud/pleaseNotify&quot; registerProcedure=&quot;&quot; protocol=&quot;http-post&quot;/&gt;`

// ownURL replaces the example servers by this server: base is its public URL without a trailing
// slash, cloud its <cloud> element.
func ownURL(body template.HTML, base, cloud string) template.HTML {
	host := base
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		host = u.Host
	}
	base, host = html.EscapeString(base), html.EscapeString(host)
	form := html.EscapeString(url.QueryEscape(host))
	return template.HTML(strings.NewReplacer( //nolint:gosec // both are escaped
		exampleCloud, html.EscapeString(cloud),
		"http://127.0.0.1:5337", base, "http://hub.example:5337", base, "http%3A%2F%2Fhub.example%3A5337", html.EscapeString(url.QueryEscape(base)),
		"hub.example:5337", host, "hub.example%3A5337", form,
	).Replace(string(body)))
}
