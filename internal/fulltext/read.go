package fulltext

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/charset"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/item"
	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
)

// maxTries is the number of attempts for one page.
//
// spec:cloudburst#full-text-polite
const maxTries = 4

// retryAfter returns the wait after failed attempt number tries, from 1.
func retryAfter(tries int) time.Duration {
	return [...]time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour}[min(max(tries, 1), 3)-1]
}

// maxRetryAfter is the maximum wait that a server can request with Retry-After.
const maxRetryAfter = 24 * time.Hour

// problem is the reason why a page has no text.
type problem struct {
	text  string        // reason, as a sentence
	again bool          // another attempt may succeed
	after time.Duration // wait from Retry-After; 0: none
}

// read reads one page and stores the result.
func (s *Service) read(ctx context.Context, p Page) {
	html, trouble := s.page(ctx, &p)
	s.hosts.leave(p.Link, s.Now())
	if ctx.Err() != nil && html == "" {
		return // the program stops; the claim expires
	}
	r := Result{Page: p, HTML: html, At: s.Now()}
	if trouble != nil {
		r.Problem, r.Tries = text.ClipRunes(trouble.text, 500), p.Tries+1
		if trouble.again && r.Tries < maxTries {
			r.NextAt = r.At.Add(max(retryAfter(r.Tries), min(trouble.after, maxRetryAfter)))
		}
	}
	s.save(context.WithoutCancel(ctx), r)
}

// page fetches a page and extracts its text.
func (s *Service) page(ctx context.Context, p *Page) (string, *problem) {
	where := text.ClipRunes(fetch.Redact(p.Link), 200)
	res, err := s.Fetch.Get(ctx, fetch.Request{URL: p.Link, Accept: "text/html, application/xhtml+xml;q=0.9"})
	if err != nil {
		return "", requestProblem(where, err)
	}
	if trouble := responseProblem(where, res, s.Now()); trouble != nil {
		return "", trouble
	}
	s.parsing.Lock()
	defer s.parsing.Unlock()
	decoded := charset.Decode(res.Body, res.Header.Get("Content-Type"))
	res.Body = nil
	html, err := Extract(decoded.Text, res.URL)
	if err != nil {
		return "", &problem{text: fmt.Sprintf("The page %s %v. Open the original instead.", where, err)}
	}
	html = s.clean.Page(html)
	switch words := item.TextOf(html); {
	case len(words) < minWords:
		return "", &problem{text: fmt.Sprintf("The page %s %v. Open the original instead.", where, errNoArticle)}
	case len(words) <= len(p.Words) && len(p.Words) < item.TextLongest:
		return "", &problem{text: fmt.Sprintf("The page %s has no more text than the feed.", where)}
	}
	return html, nil
}

// requestProblem explains why no response arrived.
func requestProblem(where string, err error) *problem {
	kind := fetch.KindOf(err)
	out := &problem{again: kind != fetch.BadURL && kind != fetch.Refused && kind != fetch.TooLarge && kind != fetch.TooManyRedirects && kind != fetch.Malformed}
	why := strings.TrimRight(fetch.Text(err), ".")
	switch kind {
	case fetch.Refused:
		why = "is on a network that this server does not read"
	case fetch.TimedOut:
		why = "could not be read: its server answered too slowly"
	case fetch.TooLarge:
		why = "is too large to be read"
	}
	out.text = fmt.Sprintf("The page %s %s. Open the original instead.", where, why)
	return out
}

// responseProblem explains why a response contains no page; nil: it contains a page.
func responseProblem(where string, res *fetch.Response, now time.Time) *problem {
	if !res.OK() {
		reply := strings.TrimSpace(fmt.Sprint(res.Status, " ", http.StatusText(res.Status)))
		out := &problem{text: fmt.Sprintf("The page %s could not be read: its server answered %s. Open the original instead.", where, reply)}
		switch s := res.Status; {
		case s >= 500, s == http.StatusRequestTimeout, s == http.StatusTooEarly, s == http.StatusTooManyRequests:
			out.again, out.after = true, wirehttp.ParseRetryAfter(res.Header.Get("Retry-After"), now)
		}
		return out
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == "" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(res.Body))
	}
	if kind != "text/html" && kind != "application/xhtml+xml" {
		return &problem{text: fmt.Sprintf("The link %s leads to a file of type %s, not to a page with text. Open the original instead.", where, text.ClipRunes(kind, 60))}
	}
	return nil
}
