package feedstate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"cloudburst/internal/validator"
)

// AppendJSON appends s as JSON, which is what json.Marshal makes of it but for the
// escapes of <, > and &. It is there for those who write many.
func (s *State) AppendJSON(b []byte) ([]byte, error) {
	w := jsonWriter{b: append(b, '{')}
	w.text("url", s.URL, true)
	if v := s.Validators; v != (Validators{}) {
		if utf8.ValidString(v.ETag) && utf8.ValidString(v.LastModified) {
			w.name("validators")
			in := jsonWriter{b: append(w.b, '{')}
			in.text("url", v.URL, false)
			in.text("etag", v.ETag, false)
			in.text("lastModified", v.LastModified, false)
			w.b = append(in.b, '}')
		} else {
			w.any("validators", v)
		}
	}
	w.text("hash", s.Hash, false)
	w.evidence(&s.Evidence)
	w.any("hints", omitted(reflect.ValueOf(&s.Hints).Elem().IsZero(), &s.Hints))
	w.time("hintsAt", s.HintsAt)
	w.any("cache", omitted(s.Cache == (Cache{}), &s.Cache))
	w.time("checkedAt", s.CheckedAt)
	w.time("polledAt", s.PolledAt)
	w.time("readAt", s.ReadAt)
	w.time("changedAt", s.ChangedAt)
	w.time("nextAt", s.NextAt)
	w.text("reason", s.Reason, false)
	w.time("followUpAt", s.FollowUpAt)
	w.time("newest", s.Newest)
	w.number("spacing", int64(s.Spacing))
	w.any("changes", omitted(len(s.Changes) == 0, &s.Changes))
	w.number("failures", int64(s.Failures))
	w.number("limited", int64(s.Limited))
	w.any("failure", omitted(s.Failure == nil, s.Failure))
	w.time("since", s.Since)
	w.any("wait", omitted(s.Wait == nil, s.Wait))
	w.any("candidate", omitted(s.Candidate == nil, s.Candidate))
	w.any("moves", omitted(len(s.Moves) == 0, &s.Moves))
	w.text("refused", s.Refused, false)
	w.any("push", omitted(s.Push == (Push{}), &s.Push))
	w.number("interval", int64(s.Interval))
	w.any("gone", omitted(s.Gone == nil, s.Gone))
	return append(w.b, '}'), w.err
}

// omitted is nil, or v.
func omitted(omit bool, v any) any {
	if omit {
		return nil
	}
	return v
}

// jsonWriter writes the members of an object.
type jsonWriter struct {
	b   []byte
	err error
}

func (w *jsonWriter) name(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *jsonWriter) text(name, v string, always bool) {
	if v == "" && !always {
		return
	}
	for i := range len(v) {
		if c := v[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			w.any(name, v)
			return
		}
	}
	w.name(name)
	w.b = append(append(append(w.b, '"'), v...), '"')
}

func (w *jsonWriter) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.name(name)
	var err error
	if w.b, err = t.AppendText(append(w.b, '"')); err != nil && w.err == nil {
		w.err = err
	}
	w.b = append(w.b, '"')
}

func (w *jsonWriter) evidence(e *Evidence) {
	if *e == (Evidence{}) {
		return
	}
	w.name("evidence")
	in := jsonWriter{b: append(w.b, '{'), err: w.err}
	in.text("proof", string(e.Proof), false)
	in.flag("recent", e.Recent)
	in.flag("believed", e.Believed)
	in.time("fullAt", e.FullAt)
	w.b, w.err = append(in.b, '}'), in.err
}

func (w *jsonWriter) flag(name string, v bool) {
	if v {
		w.name(name)
		w.b = append(w.b, "true"...)
	}
}

func (w *jsonWriter) number(name string, n int64) {
	if n != 0 {
		w.name(name)
		w.b = strconv.AppendInt(w.b, n, 10)
	}
}

func (w *jsonWriter) any(name string, v any) {
	if v == nil {
		return
	}
	w.name(name)
	text, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.b = append(w.b, text...)
}

// ParseJSON makes s what JSON says, as json.Unmarshal does with a new State, and fast
// with what AppendJSON wrote.
func (s *State) ParseJSON(b []byte) error {
	if quick, ok := parseQuickly(b); ok {
		*s = quick
		return nil
	}
	var slow State
	err := json.Unmarshal(b, &slow)
	*s = slow
	return err
}

// parseQuickly knows the form that AppendJSON writes, and no other.
func parseQuickly(b []byte) (s State, ok bool) {
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return s, false
	}
	seen := 0
	for b = b[1 : len(b)-1]; len(b) > 0; {
		if seen > 0 {
			if b[0] != ',' {
				return s, false
			}
			b = b[1:]
		}
		seen++
		name, rest, ok := quickText(b)
		if !ok || len(rest) < 2 || rest[0] != ':' {
			return s, false
		}
		n := valueEnd(rest[1:])
		if n == 0 || !s.member(string(name), rest[1:1+n]) {
			return s, false
		}
		b = rest[1+n:]
	}
	return s, seen > 0
}

// quickText takes a string off b that has no escapes.
func quickText(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return b[1:i], b[i+1:], true
		case c < ' ' || c > '~' || c == '\\':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// valueEnd is where the value ends that b begins with; 0: it has no end. What is in it is
// looked at by who reads it.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) {
				return 0
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return 0
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	if depth != 0 {
		return 0
	}
	return len(b)
}

// member reads one member. Those that stand there twice, or in other letters, are for
// json.Unmarshal to judge.
func (s *State) member(name string, v []byte) bool {
	switch name {
	case "url":
		return readText(v, &s.URL)
	case "hash":
		return readText(v, &s.Hash)
	case "reason":
		return readText(v, &s.Reason)
	case "refused":
		return readText(v, &s.Refused)
	case "hintsAt":
		return readTime(v, &s.HintsAt)
	case "checkedAt":
		return readTime(v, &s.CheckedAt)
	case "polledAt":
		return readTime(v, &s.PolledAt)
	case "readAt":
		return readTime(v, &s.ReadAt)
	case "changedAt":
		return readTime(v, &s.ChangedAt)
	case "nextAt":
		return readTime(v, &s.NextAt)
	case "followUpAt":
		return readTime(v, &s.FollowUpAt)
	case "newest":
		return readTime(v, &s.Newest)
	case "since":
		return readTime(v, &s.Since)
	case "validators":
		return s.Validators == (Validators{}) && s.Validators.quickly(v)
	case "evidence":
		return s.Evidence == (Evidence{}) && evidenceQuickly(v, &s.Evidence)
	}
	into := s.rare(name)
	return into != nil && json.Unmarshal(v, into) == nil
}

// rare is where a member goes that few feeds have.
func (s *State) rare(name string) any {
	switch name {
	case "hints":
		return &s.Hints
	case "cache":
		return &s.Cache
	case "spacing":
		return &s.Spacing
	case "changes":
		return &s.Changes
	case "failures":
		return &s.Failures
	case "limited":
		return &s.Limited
	case "failure":
		return &s.Failure
	case "wait":
		return &s.Wait
	case "candidate":
		return &s.Candidate
	case "moves":
		return &s.Moves
	case "push":
		return &s.Push
	case "interval":
		return &s.Interval
	case "gone":
		return &s.Gone
	}
	return nil
}

func readText(v []byte, into *string) bool {
	if *into != "" {
		return false
	}
	if text, rest, ok := quickText(v); ok {
		*into = string(text)
		return len(rest) == 0
	}
	return json.Unmarshal(v, into) == nil
}

func readTime(v []byte, into *time.Time) bool {
	text, rest, ok := quickText(v)
	return ok && len(rest) == 0 && into.IsZero() && into.UnmarshalText(text) == nil
}

// quickly reads validators without escapes.
func (v *Validators) quickly(b []byte) bool {
	if bytes.IndexByte(b, '\\') >= 0 || len(b) < 2 || b[0] != '{' {
		return json.Unmarshal(b, v) == nil
	}
	rest := b[1:]
	for _, m := range []struct {
		name string
		into *string
	}{{`"url":`, &v.URL}, {`"etag":`, &v.ETag}, {`"lastModified":`, &v.LastModified}} {
		after, ok := bytes.CutPrefix(rest, []byte(m.name))
		if !ok {
			continue
		}
		text, after, ok := quickText(after)
		if !ok || len(after) == 0 {
			return false
		}
		*m.into = string(text)
		if rest = after; rest[0] == ',' && len(rest) > 1 && rest[1] == '"' {
			rest = rest[1:]
		}
	}
	return len(rest) == 1 && rest[0] == '}'
}

// evidenceQuickly reads evidence in the form that AppendJSON writes.
func evidenceQuickly(b []byte, into *Evidence) (ok bool) {
	rest, first := b, true
	member := func(name string) bool {
		after := rest
		if !first {
			if after, ok = bytes.CutPrefix(after, []byte(",")); !ok {
				return false
			}
		}
		if after, ok = bytes.CutPrefix(after, []byte(name)); ok {
			rest, first = after, false
		}
		return ok
	}
	if rest, ok = bytes.CutPrefix(rest, []byte("{")); !ok {
		return false
	}
	if member(`"proof":`) {
		var text []byte
		if text, rest, ok = quickText(rest); !ok {
			return false
		}
		into.Proof = validator.Proof(text)
	}
	into.Recent = member(`"recent":true`)
	into.Believed = member(`"believed":true`)
	if member(`"fullAt":`) {
		return len(rest) > 1 && readTime(rest[:len(rest)-1], &into.FullAt)
	}
	return len(rest) == 1
}
