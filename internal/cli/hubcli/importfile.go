package hubcli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

// importFile is a file of subscriptions, converted to the format that the server reads.
type importFile struct {
	io.Reader
	// from has the origin of each line of a converted file in the original file; nil: the file was
	// not converted.
	from []string
}

// readImport detects the file format by its first bytes. An export of this program is JSON Lines,
// and each line has the URL of a feed. The file of rsscloud-server is one object whose members are
// feeds.
func readImport(r io.Reader) (*importFile, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(64 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the file cannot be read: %w", err)
	}
	if !foreign(head) {
		return &importFile{Reader: in}, nil
	}
	return convert(in)
}

// foreign reports whether rsscloud-server wrote a file that begins with head. The first member of
// such a file is the version, the feeds, or the URL of a feed with an object or a list. The members
// of an export of this program are strings and numbers.
func foreign(head []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(head))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	name, err := dec.Token()
	if err != nil {
		return false
	}
	if name == json.Delim('}') {
		// The object has no members. This is an empty data file of rsscloud-server, unless more lines
		// follow.
		_, err = dec.Token()
		return errors.Is(err, io.EOF)
	}
	if name == "version" {
		return true
	}
	value, err := dec.Token()
	return err == nil && (value == json.Delim('{') || value == json.Delim('['))
}

// peerSubscription is a subscriber in the file of rsscloud-server. In version 1 of the file,
// notifyProcedure is false if the subscriber has no procedure.
type peerSubscription struct {
	URL             string          `json:"url"`
	Protocol        string          `json:"protocol"`
	NotifyProcedure json.RawMessage `json:"notifyProcedure"`
	WhenCreated     peerTime        `json:"whenCreated"`
	WhenLastUpdate  peerTime        `json:"whenLastUpdate"`
	WhenExpires     peerTime        `json:"whenExpires"`
	Details         struct {
		Secret string `json:"secret"`
	} `json:"details"` // only in version 2 of the file, for WebSub subscriptions
}

// peerTime is a time in ISO 8601. null and the start of 1970 mean never.
type peerTime struct{ time.Time }

// UnmarshalJSON parses an ISO 8601 time, whose zone may contain a colon.
func (t *peerTime) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if text == nil || *text == "" {
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05.999Z0700"} {
		if v, err := time.Parse(layout, *text); err == nil {
			if v.Unix() != 0 {
				t.Time = v.UTC().Truncate(time.Millisecond)
			}
			return nil
		}
	}
	return fmt.Errorf("%q is not a time", *text)
}

// peerFeed is one feed. Version 1 of the file has subscribers, and version 2 has subscriptions.
// Dumps of the older database have pleaseNotify.
type peerFeed struct {
	Subscribers   []json.RawMessage `json:"subscribers"`
	Subscriptions []json.RawMessage `json:"subscriptions"`
	PleaseNotify  []json.RawMessage `json:"pleaseNotify"`
}

// convert converts the file of rsscloud-server, version 1 or 2, to lines of an export.
func convert(r io.Reader) (*importFile, error) {
	var doc map[string]json.RawMessage
	dec := json.NewDecoder(r)
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("it starts like rsscloud-server's subscriptions.json, but is incomplete: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it starts like rsscloud-server's subscriptions.json, but has data after the end")
	}
	feeds := doc
	if raw, ok := doc["version"]; ok {
		var version int
		if json.Unmarshal(raw, &version) != nil || version != 2 {
			return nil, fmt.Errorf("it is version %s of rsscloud-server's subscriptions.json; supported are versions 1 and 2", raw)
		}
		feeds = nil
		if err := json.Unmarshal(doc["feeds"], &feeds); err != nil {
			return nil, fmt.Errorf("its feeds cannot be read: %w", err)
		}
	}
	out := &importFile{from: []string{}}
	var text bytes.Buffer
	enc := shell.JSONLines(&text)
	for _, feed := range slices.Sorted(maps.Keys(feeds)) {
		subs, err := peerSubscribers(feeds[feed])
		if err != nil {
			return nil, fmt.Errorf("the entry of %s cannot be read: %w", feed, err)
		}
		for i, raw := range subs {
			out.from = append(out.from, fmt.Sprintf("subscriber %d of %s", i+1, feed))
			line, err := convertOne(feed, raw)
			if err != nil {
				// The server validates all lines and rejects this line.
				line = map[string]string{"unreadable": err.Error()}
			}
			if err := enc.Encode(line); err != nil {
				return nil, err
			}
		}
	}
	out.Reader = &text
	return out, nil
}

func peerSubscribers(raw json.RawMessage) ([]json.RawMessage, error) {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		var list []json.RawMessage
		return list, json.Unmarshal(raw, &list)
	}
	var f peerFeed
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	return slices.Concat(f.Subscribers, f.Subscriptions, f.PleaseNotify), nil
}

func convertOne(feed string, raw json.RawMessage) (any, error) {
	var s peerSubscription
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	out := client.Subscription{Topic: feed, Protocol: s.Protocol, Callback: s.URL, ExpiresAt: s.WhenExpires.Time}
	if s.Protocol == "websub" {
		out.Secret = s.Details.Secret
	}
	// The values false, null and absent all mean that there is no procedure.
	if json.Unmarshal(s.NotifyProcedure, &out.Procedure) != nil {
		out.Procedure = ""
	}
	if s.WhenExpires.IsZero() {
		// rsscloud-server treats a subscription without an expiry as expired.
		out.ExpiresAt = time.Unix(1, 0).UTC()
	}
	// rsscloud-server renews for 25 hours and does not store the time of the renewal.
	out.RenewedAt = out.ExpiresAt.Add(-25 * time.Hour)
	out.CreatedAt = s.WhenCreated.Time
	if out.CreatedAt.IsZero() || out.CreatedAt.After(out.RenewedAt) {
		out.CreatedAt = out.RenewedAt
	}
	return out, nil
}

// explain prefixes the server's error about a converted line with the position of the line in the
// original file.
func (f *importFile) explain(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if f.from == nil || !ok {
		return err
	}
	before, after, found := strings.Cut(e.Message, "line ")
	n := 0
	for len(after) > 0 && unicode.IsDigit(rune(after[0])) {
		n, after = n*10+int(after[0]-'0'), after[1:]
	}
	if !found || n < 1 || n > len(f.from) {
		return err
	}
	return errors.New(before + f.from[n-1] + after)
}

// merge prefixes the message of each invalid line with the position of the line in the original
// file.
func (f *importFile) merge(res client.ImportResult) client.ImportResult {
	for i, b := range res.BadLines {
		if f.from != nil && b.Line >= 1 && b.Line <= len(f.from) {
			res.BadLines[i].Message = f.from[b.Line-1] + ": " + b.Message
		}
	}
	return res
}
