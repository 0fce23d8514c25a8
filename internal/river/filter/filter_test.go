package filter_test

import (
	"strings"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/filter"
)

func rule(field, op string, values ...string) filter.Rule {
	return filter.Rule{Conditions: []filter.Condition{{Field: field, Op: op, Values: values}}, Actions: filter.Actions{Read: true}}
}

func TestFilterConditionsCompareFieldsOfTheItem(t *testing.T) {
	t.Parallel()
	it := filter.Item{Title: "Rain in Spain", Text: "The  ÜBER\nplain. Kubernetes 1.30 is out; c++ too", Link: "https://example.org/ads/1",
		Authors: []string{"Ann O'Neil", "Bob"}, Categories: []string{"Big News", "sport"}}
	for _, c := range []struct {
		field, op, value string
		want             bool
	}{
		{filter.Any, filter.Word, "rain", true},
		{filter.Any, filter.Word, "plain", true},
		{filter.Any, filter.Word, "spai", false},
		{filter.Any, filter.Contains, "SPAI", true},
		{filter.Any, filter.Contains, "über plain", true},
		{filter.Any, filter.Word, "1.30", true},
		{filter.Any, filter.Word, "1.3", false},
		{filter.Any, filter.Word, "c++", true},
		{filter.Any, filter.Word, "c", true},
		{filter.Title, filter.Contains, "plain", false},
		{filter.Text, filter.Contains, "rain", false},
		{filter.Author, filter.Word, "o'neil", true},
		{filter.Author, filter.Word, "ann bob", false},
		{filter.Category, filter.Word, "news", true},
		{filter.Category, filter.Contains, "news sport", false},
		{filter.Link, filter.Contains, "/ads/", true},
		{filter.Title, filter.Regexp, `^rain\b.*spain$`, true},
		{filter.Title, filter.Regexp, `^spain`, false},
	} {
		r := rule(c.field, c.op, c.value)
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		compiled, err := filter.Compile(&r)
		if err != nil {
			t.Fatal(err)
		}
		if got := compiled.Match(filter.NewSubject(it), nil); got != c.want {
			t.Errorf("%s %s %q: %v", c.field, c.op, c.value, got)
		}
		r.Conditions[0].Not = true
		if compiled, err = filter.Compile(&r); err != nil {
			t.Fatal(err)
		}
		if got := compiled.Match(filter.NewSubject(it), nil); got == c.want {
			t.Errorf("not %s %s %q: %v", c.field, c.op, c.value, got)
		}
	}
}

func TestFilterMatchesOnlyIfAllConditionsMatch(t *testing.T) {
	t.Parallel()
	r := rule(filter.Title, filter.Word, "rain", "snow")
	r.Conditions = append(r.Conditions, filter.Condition{Field: filter.Text, Op: filter.Contains, Not: true, Values: []string{"sun"}})
	compiled, err := filter.Compile(&r)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"rain/": true, "snow/wind": true, "snow/sunny": false, "fog/": false} {
		title, body, _ := strings.Cut(text, "/")
		if got := compiled.Match(filter.NewSubject(filter.Item{Title: title, Text: body}), nil); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if (&filter.Compiled{}).Match(filter.NewSubject(filter.Item{}), nil) {
		t.Error("a rule without conditions matches")
	}
}

func TestErrorNamesTheFieldOfAnInvalidFilterRule(t *testing.T) {
	t.Parallel()
	with := func(change func(r *filter.Rule)) filter.Rule {
		r := rule(filter.Title, filter.Word, "x")
		change(&r)
		return r
	}
	many := make([]string, filter.MaxValues+1)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	for name, c := range map[string]struct {
		rule  filter.Rule
		field string
	}{
		"no condition":         {filter.Rule{Actions: filter.Actions{Read: true}}, "conditions"},
		"six conditions":       {with(func(r *filter.Rule) { r.Conditions = make([]filter.Condition, 6) }), "conditions"},
		"no action":            {with(func(r *filter.Rule) { r.Actions = filter.Actions{} }), "actions"},
		"hide and star":        {with(func(r *filter.Rule) { r.Hide, r.Star = true, true }), "actions"},
		"feed and category":    {with(func(r *filter.Rule) { r.SourceID, r.Category = 1, "c" }), "source"},
		"long name":            {with(func(r *filter.Rule) { r.Name = strings.Repeat("x", 101) }), "name"},
		"unknown field":        {rule("body", filter.Word, "x"), "conditions[0].field"},
		"unknown op":           {rule(filter.Title, "like", "x"), "conditions[0].op"},
		"only spaces":          {rule(filter.Title, filter.Word, " ", "\t"), "conditions[0].values"},
		"5,000 characters":     {rule(filter.Title, filter.Word, strings.Repeat("x", 5000)), "conditions[0].values"},
		"51 values":            {rule(filter.Title, filter.Word, many...), "conditions[0].values"},
		"invalid pattern":      {rule(filter.Title, filter.Regexp, "a(b"), "conditions[0].values"},
		"lookahead":            {rule(filter.Title, filter.Regexp, "a(?=b)"), "conditions[0].values"},
		"large repetition":     {rule(filter.Title, filter.Regexp, "a{1000}"), "conditions[0].values"},
		"nested repetition":    {rule(filter.Title, filter.Regexp, "((a{9}){9}){9}"), "conditions[0].values"},
		"matches everything":   {rule(filter.Title, filter.Regexp, ".*"), "conditions[0].values"},
		"two patterns":         {rule(filter.Title, filter.Regexp, "a", "b"), "conditions[0].values"},
		"5,000 in a pattern":   {rule(filter.Title, filter.Regexp, strings.Repeat("x", 5000)), "conditions[0].values"},
		"deeply nested":        {rule(filter.Title, filter.Regexp, strings.Repeat("(", 240)+"a"+strings.Repeat(")", 240)), "conditions[0].values"},
		"unicode class blowup": {rule(filter.Title, filter.Regexp, `(\pL{3}){100}`), "conditions[0].values"},
	} {
		err := c.rule.Check()
		if fault.CodeOf(err) != fault.Invalid || fault.FieldOf(err) != c.field {
			t.Errorf("%s: field %q, error %v; want field %q", name, fault.FieldOf(err), err, c.field)
		}
	}
}

func TestCatastrophicRegularExpressionIsEvaluatedInLinearTime(t *testing.T) {
	t.Parallel()
	r := rule(filter.Text, filter.Regexp, `(a+)+$`)
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	compiled, err := filter.Compile(&r)
	if err != nil {
		t.Fatal(err)
	}
	s := filter.NewSubject(filter.Item{Text: strings.Repeat("a", 8000) + "b"})
	if !compiled.Match(s, nil) { // the pattern reads only the first PatternText bytes
		t.Error("the pattern does not match")
	}
	if compiled.Match(s, &filter.Budget{Left: 1000}) {
		t.Error("the pattern matches without a budget")
	}
}

func TestFilterRulesOfOneUserShareOneLimit(t *testing.T) {
	t.Parallel()
	values := rule(filter.Title, filter.Word, strings.Fields(strings.Repeat("x ", filter.MaxValues))...)
	pattern := rule(filter.Title, filter.Regexp, strings.Repeat("x", 150))
	for name, rules := range map[string][]filter.Rule{"1,000 rules": make([]filter.Rule, 1000), "words": repeat(values, 21), "patterns": repeat(pattern, 5)} {
		if err := filter.CheckAll(rules); fault.CodeOf(err) != fault.TooMany {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := filter.CheckAll(repeat(pattern, 3)); err != nil {
		t.Error(err)
	}
}

func repeat(r filter.Rule, n int) (list []filter.Rule) {
	for range n {
		list = append(list, r)
	}
	return list
}

func TestFilterRulesApplyInTheirOrder(t *testing.T) {
	t.Parallel()
	hide, star, read := filter.Rule{ID: 1, Actions: filter.Actions{Hide: true}}, filter.Rule{ID: 2, Actions: filter.Actions{Star: true, Forward: 9}}, filter.Rule{ID: 3, Actions: filter.Actions{Read: true, Forward: 9}}
	all := func(int) bool { return true }
	if d := filter.Combine([]filter.Rule{hide, star, read}, false, all); d.Hide != 1 || !d.Read || d.Star || len(d.Rules) != 1 {
		t.Errorf("hidden first: %+v", d)
	}
	if d := filter.Combine([]filter.Rule{star, hide, read}, false, all); d.Hide != 0 || !d.Read || !d.Star || len(d.Rules) != 3 || len(d.Forward) != 1 {
		t.Errorf("starred first: %+v", d)
	}
	if d := filter.Combine([]filter.Rule{hide}, true, all); d.Hide != 0 || d.Read {
		t.Errorf("starred by the user: %+v", d)
	}
}

func FuzzRule(f *testing.F) {
	f.Add("title", "word", "rain", "Rain in Spain")
	f.Add("any", "regexp", `(a+)+$`, "aaaaaaaaab")
	f.Add("category", "contains", "É", "é\xff\x00")
	f.Fuzz(func(t *testing.T, field, op, value, text string) {
		r := rule(field, op, value)
		if r.Check() != nil {
			return
		}
		compiled, err := filter.Compile(&r)
		if err != nil {
			t.Fatalf("a checked rule does not compile: %v", err)
		}
		it := filter.Item{Title: text, Text: text, Link: text, Authors: []string{text}, Categories: []string{text}}
		got := compiled.Match(filter.NewSubject(it), nil)
		r.Conditions[0].Not = true
		if compiled, err = filter.Compile(&r); err != nil {
			t.Fatal(err)
		}
		if compiled.Match(filter.NewSubject(it), nil) == got {
			t.Error("a condition and its opposite agree")
		}
		if err := r.Check(); err != nil {
			t.Errorf("a checked rule is invalid when it is checked again: %v", err)
		}
	})
}
