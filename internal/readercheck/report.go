package readercheck

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Verdict is the outcome for a rule.
type Verdict string

// These are the verdicts.
const (
	Kept   Verdict = "kept"
	Broken Verdict = "broken"
	Open   Verdict = "open"   // the rule needs more observations
	Unseen Verdict = "unseen" // the rule cannot be observed from outside
)

// Report is the score of one reader.
type Report struct {
	Reader   string    `json:"reader"` // first word of the reader's User-Agent
	Address  string    `json:"address"`
	Since    time.Time `json:"since"`
	Requests int       `json:"requests"`
	Probes   int       `json:"probes"` // number of requested probes
	Kept     int       `json:"kept"`
	Broken   int       `json:"broken"`
	Open     int       `json:"open"`
	Rules    []Result  `json:"manners"`
}

// Result is a rule with its verdict.
type Result struct {
	Rule
	Verdict Verdict  `json:"verdict"`
	Text    string   `json:"text"`             // reason for the verdict, for people
	Broken  []string `json:"broken,omitempty"` // observed violations, at most 5
	Open    []string `json:"open,omitempty"`   // missing observations, at most 5
}

// finding is the outcome of one probe for a rule.
type finding struct {
	rule    int
	verdict Verdict
	text    string
}

func kept(rule int) finding { return finding{rule: rule, verdict: Kept} }

func broken(rule int, format string, args ...any) finding {
	return finding{rule, Broken, fmt.Sprintf(format, args...)}
}

func open(rule int, format string, args ...any) finding {
	return finding{rule, Open, fmt.Sprintf(format, args...)}
}

const maxPublished = 5

func (s *Server) report(r *reader) Report {
	now := s.now()
	all := r.requestsFor("")
	out := Report{Reader: r.Name, Address: r.Addr, Requests: len(all) + r.dropped}
	if len(all) > 0 {
		out.Since = all[0].At.UTC()
	}
	found := map[int][]finding{}
	add := func(where string, list []finding) {
		for _, f := range list {
			if f.text != "" && where != "" {
				f.text = where + ": " + f.text
			}
			found[f.rule] = append(found[f.rule], f)
		}
	}
	for _, p := range s.probes {
		list := r.requestsFor(p.name)
		if len(list) == 0 {
			continue
		}
		out.Probes++
		add(p.name, p.judge(list, now))
		add(p.name, judgeRequests(list))
	}
	add("", judgeAll(all))
	for _, m := range Rules() {
		j := newResult(m, found[m.Number])
		switch j.Verdict {
		case Kept:
			out.Kept++
		case Broken:
			out.Broken++
		case Open:
			out.Open++
		}
		out.Rules = append(out.Rules, j)
	}
	return out
}

func newResult(m Rule, list []finding) Result {
	j := Result{Rule: m, Verdict: Open, Text: "Not observed yet."}
	if m.Unseen {
		j.Verdict, j.Text = Unseen, "This cannot be observed from outside."
		return j
	}
	seen := 0
	for _, f := range list {
		switch f.verdict {
		case Broken:
			if len(j.Broken) < maxPublished && !slices.Contains(j.Broken, f.text) {
				j.Broken = append(j.Broken, f.text)
			}
		case Open:
			if len(j.Open) < maxPublished && !slices.Contains(j.Open, f.text) {
				j.Open = append(j.Open, f.text)
			}
		case Kept:
			seen++
		}
	}
	switch {
	case len(j.Broken) > 0:
		j.Verdict, j.Text = Broken, j.Broken[0]
	case len(j.Open) > 0:
		j.Text = j.Open[0]
	case seen > 0:
		j.Verdict, j.Text = Kept, "Kept."
	}
	return j
}

// String formats the report for a terminal.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s: %d kept, %d broken, %d open (%d requests for %d probes)\n", r.Reader, r.Address, r.Kept, r.Broken, r.Open, r.Requests, r.Probes)
	for _, m := range r.Rules {
		mark := map[Verdict]string{Kept: "kept", Broken: "BROKEN", Open: "open", Unseen: "unseen"}[m.Verdict]
		fmt.Fprintf(&b, "  %2d  %-6s  %s\n", m.Number, mark, m.Title)
		if m.Verdict == Broken || m.Verdict == Open {
			fmt.Fprintf(&b, "              %s\n", m.Text)
		}
	}
	return b.String()
}
