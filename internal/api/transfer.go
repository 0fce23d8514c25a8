package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/protocol/websub"
)

const (
	maxCallback = 4096     // maximum bytes of a callback URL
	maxLine     = 64 << 10 // maximum bytes of one line of an import
	maxImport   = 8 << 30  // maximum bytes of an import
	// importBatch is the maximum number of subscriptions in one transaction. It is large enough for
	// the hub to recognize a large topic and to split it into shards before the first change of the
	// topic.
	importBatch = 20_000
	maxBadLines = 20 // maximum number of invalid lines that the result describes
	// uploadPause is the maximum time between two reads of an upload.
	uploadPause = 30 * time.Second
)

// export streams all active subscriptions as JSON Lines, in the order of the store.
func (s *Server) export(w http.ResponseWriter, r *http.Request) error {
	q := hub.SubscriptionQuery{Limit: exchange.MaxLimit}
	rows, err := s.Store.Subscriptions(r.Context(), q)
	if err != nil {
		return err
	}
	// The trailer marks a complete response, because an incomplete response also consists of valid
	// lines.
	w.Header().Set("Trailer", "X-Complete")
	w.Header().Set("Content-Type", "application/x-ndjson")
	now := s.Now()
	var page bytes.Buffer
	enc := json.NewEncoder(&page)
	enc.SetEscapeHTML(false)
	for {
		page.Reset()
		for _, row := range rows {
			if !row.ExpiresAt.After(now) {
				continue
			}
			if err := enc.Encode(form.ExportedSubscription(row.Subscription, row.Topic)); err != nil {
				return s.abort(r, err)
			}
		}
		s.extend(w)
		if _, err := w.Write(page.Bytes()); err != nil {
			return s.abort(r, err)
		}
		if len(rows) < exchange.MaxLimit {
			break
		}
		q.After = rows[len(rows)-1].Key()
		if rows, err = s.Store.Subscriptions(r.Context(), q); err != nil {
			return s.abort(r, err)
		}
	}
	w.Header().Set("X-Complete", "true")
	return nil
}

// abort ends a response that has already started. It only logs the error, because the status has
// been sent.
func (s *Server) abort(r *http.Request, err error) error {
	if r.Context().Err() == nil {
		s.Log.Error("a response was interrupted", "path", r.URL.Path, "err", err)
	}
	return nil
}

// extend sets the write deadline of a response to WriteTimeout from now.
func (s *Server) extend(w http.ResponseWriter) {
	// Ignore the error: a request in this process has no connection and no deadline.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.WriteTimeout))
}

// upload reads a request body. It has no time limit in total as long as data arrives.
type upload struct {
	body    io.Reader
	control *http.ResponseController
}

func (u upload) Read(p []byte) (int, error) {
	_ = u.control.SetReadDeadline(time.Now().Add(uploadPause))
	return u.body.Read(p)
}

// importLines imports uploaded subscriptions. It checks the whole upload before it imports the
// first line, so that an invalid file changes nothing.
func (s *Server) importLines(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "skip-bad")
	skipBad := p.Boolean("skip-bad")
	if p.Err != nil {
		return p.Err
	}
	spool, err := os.CreateTemp(s.Temp, "cloudburst-import-*")
	if err != nil {
		return wrapSpool(err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	body := upload{http.MaxBytesReader(w, r.Body, maxImport), http.NewResponseController(w)}
	res, err := s.check(body, spool)
	if err != nil {
		return err
	}
	if res.Bad > 0 && !skipBad {
		return badLinesError(res)
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return fault.Wrap(fault.Unavailable, err, "The upload cannot be read again")
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	s.apply(w, r, spool, res)
	return nil
}

// badLinesError returns the error for a file that contains invalid lines.
func badLinesError(res client.ImportResult) error {
	first := res.BadLines[0]
	more := ""
	if res.Bad > 1 {
		more = fmt.Sprintf(" (and %d more bad lines)", res.Bad-1)
	}
	return fault.New(fault.Invalid, "Nothing was imported: line %d: %s%s", first.Line, first.Message, more)
}

// check reads the upload and writes the valid lines to spool. res.Imported is the number of valid
// lines.
func (s *Server) check(body io.Reader, spool io.Writer) (client.ImportResult, error) {
	var res client.ImportResult
	now := s.Now()
	lines := bufio.NewReaderSize(body, maxLine)
	out := bufio.NewWriter(spool)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return res, wrapSpool(out.Flush())
		}
		if err != nil && !errors.Is(err, bufio.ErrTooLong) {
			return res, fault.Wrap(fault.Invalid, err, "The upload was interrupted at line %d; nothing was imported", n)
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		res.Lines++
		var sub client.Subscription
		if err == nil {
			sub, err = readSubscription(line)
		}
		switch {
		case err != nil:
			res.Bad++
			if len(res.BadLines) < maxBadLines {
				res.BadLines = append(res.BadLines, client.BadLine{Line: n, Message: err.Error()})
			}
		case !sub.ExpiresAt.After(now):
			res.Expired++
		default:
			res.Imported++
			if _, err := out.Write(append(bytes.TrimRight(line, "\r\n"), '\n')); err != nil {
				return res, wrapSpool(err)
			}
		}
	}
}

func wrapSpool(err error) error {
	if err == nil {
		return nil
	}
	return fault.Unstored(err, "The upload cannot be stored.")
}

// readLine returns the next line. If the line is too long, readLine skips it and returns
// bufio.ErrTooLong.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
		return line, nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, fmt.Errorf("it is longer than %d bytes: %w", maxLine, bufio.ErrTooLong)
}

// readSubscription decodes one line and checks it by the rules for a registration.
func readSubscription(line []byte) (client.Subscription, error) {
	var sub client.Subscription
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&sub); err != nil {
		return sub, fmt.Errorf("it is not a subscription in JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return sub, errors.New("more follows after the object")
	}
	if err := exchange.CheckURL("topic", sub.Topic, exchange.MaxURL); err != nil {
		return sub, err
	}
	if err := exchange.CheckURL("callback", sub.Callback, maxCallback); err != nil {
		return sub, err
	}
	if err := checkProtocol(sub.Protocol); err != nil {
		return sub, err
	}
	needs := sub.Protocol == hub.XMLRPC || sub.Protocol == hub.SOAP
	if sub.Procedure == "" && needs {
		return sub, fmt.Errorf("procedure is missing, and %s needs one", sub.Protocol)
	}
	if !isProcedure(sub.Procedure) {
		return sub, fmt.Errorf("procedure is %q: it may contain only letters, digits and _ . : /, at most 128 characters", cut(sub.Procedure, 200))
	}
	if err := checkSecret(sub); err != nil {
		return sub, err
	}
	if sub.ExpiresAt.IsZero() {
		return sub, errors.New("expires_at is missing")
	}
	return sub, nil
}

// checkSecret returns an error if a subscription has a secret although its protocol has no secrets,
// or if it has two secrets.
func checkSecret(sub client.Subscription) error {
	switch {
	case sub.Secret == "" && len(sub.SecretBase64) == 0:
		return nil
	case sub.Secret != "" && len(sub.SecretBase64) > 0:
		return errors.New("secret and secret_base64 are both set; set only one")
	case sub.Protocol != hub.WebSub:
		return fmt.Errorf("secret is set, but the protocol is %s: only websub has secrets", sub.Protocol)
	case len(sub.Secret)+len(sub.SecretBase64) > websub.MaxSecret:
		return fmt.Errorf("secret has %d bytes; at most %d are accepted", len(sub.Secret)+len(sub.SecretBase64), websub.MaxSecret)
	}
	return nil
}

// isProcedure reports whether name is empty or a valid name of a procedure.
func isProcedure(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("_.:/", rune(c)) {
			return false
		}
	}
	return len(name) <= 128
}

// apply imports the checked lines in batches and sends progress lines. Each batch is one
// transaction. If a batch fails, the earlier batches stay imported, and the client can repeat the
// import.
func (s *Server) apply(w http.ResponseWriter, r *http.Request, spool io.Reader, res client.ImportResult) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	report := func(v any) error {
		s.extend(w)
		if err := enc.Encode(v); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	total, done := res.Imported, 0
	lines := bufio.NewReaderSize(spool, maxLine)
	for done < total {
		batch, err := s.batch(lines, min(s.batchSize, total-done))
		if err == nil {
			_, err = s.Hub.Import(r.Context(), batch)
		}
		if err != nil {
			s.Log.Error("import failed", "imported", done, "of", total, "err", err)
			_ = report(exchange.ErrorAnswer{Error: exchange.BodyOf(fault.Wrap(fault.CodeOf(err), err,
				"The import stopped after %d of %d subscriptions; running it again is safe", done, total))})
			return
		}
		done += len(batch)
		if err := report(map[string]int{"imported": done, "total": total}); err != nil {
			_ = s.abort(r, err)
			return
		}
	}
	_ = report(map[string]any{"result": res})
}

func (s *Server) batch(lines *bufio.Reader, n int) ([]hub.SubscriptionInfo, error) {
	list := make([]hub.SubscriptionInfo, 0, n)
	for range n {
		line, err := readLine(lines)
		if err != nil {
			return nil, fmt.Errorf("reading the upload again: %w", err)
		}
		sub, err := readSubscription(line)
		if err != nil {
			return nil, fmt.Errorf("reading the upload again: %w", err)
		}
		list = append(list, s.subscriptionFrom(sub))
	}
	return list, nil
}

// subscriptionFrom converts a line of an import. It sets the times that the line omits.
func (s *Server) subscriptionFrom(c client.Subscription) hub.SubscriptionInfo {
	if c.RenewedAt.IsZero() {
		c.RenewedAt = s.Now()
	}
	if c.CreatedAt.IsZero() {
		c.CreatedAt = c.RenewedAt
	}
	return hub.SubscriptionInfo{Topic: c.Topic, Subscription: hub.Subscription{
		TopicID: hub.TopicID(c.Topic), ID: hub.SubscriptionID(c.Protocol, c.Callback),
		Protocol: c.Protocol, Callback: c.Callback, Procedure: c.Procedure, Secret: c.Secret + string(c.SecretBase64),
		CreatedAt: form.Milli(c.CreatedAt), RenewedAt: form.Milli(c.RenewedAt), ExpiresAt: form.Milli(c.ExpiresAt),
	}}
}
