package writerui

import (
	"testing"

	"cloudburst/internal/fault"
)

func TestErrorsAreAssignedToFieldsByPath(t *testing.T) {
	t.Parallel()
	in := func(fields ...string) error {
		err := error(fault.New(fault.Invalid, "No good."))
		for _, f := range fields {
			err = fault.In(err, f)
		}
		return err
	}
	var w wrongs
	for _, c := range []struct {
		err  error
		want *string
	}{
		{in("title"), &w.Title}, {in("source"), &w.Source}, {in("link"), &w.Link}, {in("language"), &w.Language}, {in("[3]", "categories"), &w.Categories},
		{in("url", "[0]", "enclosures"), &w.Files}, {in("guid", "reply"), &w.Reply}, {in("nodes", "[1]", "outline"), &w.Outline}, {in("at"), &w.When}, {in(), &w.Source},
	} {
		if got := w.field(c.err); got != c.want {
			t.Errorf("an error in %q is next to another field", fault.FieldOf(c.err))
		}
	}
	var v profileView
	for field, at := range map[string]*string{
		"title": &v.TitleWrong, "blurb": &v.BlurbWrong, "link": &v.LinkWrong, "language": &v.LanguageWrong, "accent": &v.AccentWrong,
		"avatar": &v.AvatarWrong, "sinks[2]": &v.PingTargetsError, "theme": &v.AllWrong,
	} {
		v = profileView{}
		v.setError(in(field))
		if *at != "No good." {
			t.Errorf("an error in %q is in the wrong place: %+v", field, v)
		}
	}
	v = profileView{}
	if v.setError(fault.In(fault.New(fault.Unavailable, "Later."), "title")); v.AllWrong != "Later." {
		t.Errorf("%+v", v)
	}
	f := postForm{When: "some day"}
	if _, err := f.date(); topField(err) != "at" {
		t.Errorf("an unreadable date is in the field %q", fault.FieldOf(err))
	}
}
