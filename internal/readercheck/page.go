package readercheck

import (
	"bytes"
	"html/template"
	"net/http"
	"time"
)

const pageText = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="30"><title>Polite fetching rules</title>
<style>
:root{color-scheme:light dark;--ink:light-dark(#222,#e6e2da);--soft:light-dark(#666,#a8a297);--line:light-dark(#ddd,#3a3733);--ok:light-dark(#1c6b3a,#7fce9d);--no:light-dark(#a3341f,#f0937e);--open:light-dark(#7a5600,#e2bd63)}
body{font:15px/22px system-ui,sans-serif;color:var(--ink);background:light-dark(#fdfbf7,#1b1a18);max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:20px}h2{font-size:17px;margin-top:2rem;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%}td,th{border-top:1px solid var(--line);padding:4px 8px;text-align:left;vertical-align:top}
td:first-child{font-variant-numeric:tabular-nums;text-align:right}.kept{color:var(--ok)}.broken{color:var(--no);font-weight:600}.open{color:var(--open)}.unseen,small{color:var(--soft)}code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
</style></head><body><main>
<h1>Polite fetching rules</h1>
<p>Subscribe a feed reader to the list <a href="/probes.opml"><code>{{.Base}}/probes.opml</code></a> and let it run for three or four days, because most rules are about waiting times. This page reloads every 30 seconds; <a href="/report.json">report.json</a> contains the same data as JSON.</p>
{{range .Reports}}<section><h2><bdi>{{.Reader}}</bdi> <small>at {{.Address}}</small></h2>
<p>{{.Kept}} kept, {{.Broken}} broken, {{.Open}} open, after {{.Requests}} requests for {{.Probes}} of {{$.Probes}} probes since <time datetime="{{.Since.Format "2006-01-02T15:04:05Z07:00"}}">{{.Since.Format "2 January, 15:04 MST"}}</time>.</p>
<table><thead><tr><th scope="col">No.</th><th scope="col">Rule</th><th scope="col">Verdict</th></tr></thead><tbody>
{{range .Rules}}<tr><td>{{.Number}}</td><td>{{.Title}}{{if eq .Verdict "broken"}}{{range .Broken}}<br><small>{{.}}</small>{{end}}{{else if eq .Verdict "open"}}<br><small>{{.Text}}</small>{{end}}</td><td class="{{.Verdict}}">{{.Verdict}}</td></tr>
{{end}}</tbody></table></section>
{{else}}<p>No reader has requested a probe yet.</p>
{{end}}</main></body></html>
`

func parsedPage() (*template.Template, error) { return template.New("page").Parse(pageText) }

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	t, err := parsedPage()
	var b bytes.Buffer
	if err == nil {
		err = t.Execute(&b, struct {
			Base    string
			Probes  int
			Reports []Report
			Now     time.Time
		}{s.base(r), len(s.probes), s.Reports(), s.now()})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes()) // the client may have closed the connection
}
