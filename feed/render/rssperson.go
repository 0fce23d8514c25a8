package render

import (
	"strings"

	"cloudburst/feed"
)

// channelPersons writes who writes and publishes a feed.
func (r *rss) channelPersons() {
	f := r.f
	if r.v < 200 {
		r.plainEditors()
		return
	}
	r.authors("managingEditor", f.Authors, f.ITunes)
	r.contributors(f.Contributors)
	if p := f.Publisher; p != nil && !(f.ITunes != nil && f.ITunes.Owner != nil && *f.ITunes.Owner == *p) {
		if isMail(p.Email) {
			r.mailElement("webMaster", p)
		} else {
			r.leaf("dc:publisher", nameOf(p))
		}
		r.lose(lostPersons, p.URL != "" || p.Avatar != "")
	}
}

// plainEditors writes the persons that early versions have, who are mail addresses.
func (r *rss) plainEditors() {
	f := r.f
	written := false
	for i := range f.Authors {
		if who := &f.Authors[i]; !written && isMail(who.Email) {
			r.mailElement("managingEditor", who)
			written = true
		} else {
			r.lose(lostAuthors, true)
		}
	}
	r.lose(lostPersons, len(f.Contributors) > 0)
	if p := f.Publisher; p != nil && isMail(p.Email) {
		r.mailElement("webMaster", p)
	} else {
		r.lose(lostPersons, p != nil)
	}
}

// authors writes each person in an element that holds a mail address, which is used once,
// or in dc:creator. The first person with a URL, or with elements of other vocabularies, has
// an atom:author as well, which holds them: few readers look for that element alone.
//
// spec:rss20-2003#author
func (r *rss) authors(element string, persons []feed.Person, it *feed.ITunes) {
	line := ""
	if it != nil {
		line = it.Author
	}
	mail, atom := true, true
	for i := range persons {
		who := &persons[i]
		switch {
		case line != "" && isLine(who, line): // which the element of iTunes says
			line = ""
		case (who.URL != "" || who.Extension != nil) && atom:
			atom = false
			switch {
			case isMail(who.Email) && mail && inOneLine(who.Name) && !strings.ContainsAny(who.Name, `()[]<>\`):
				mail = false
				r.mailElement(element, who)
			case inOneLine(who.Name):
				r.leaf("dc:creator", who.Name)
			}
			r.atomPerson("atom:author", who)
		case isMail(who.Email) && mail:
			mail = false
			r.mailElement(element, who)
			r.lose(lostPersons, who.URL != "" || who.Avatar != "")
			r.loseExtension(who.Extension)
		default:
			r.creator("dc:creator", who)
		}
	}
}

// inOneLine reports a name that readers find unchanged in an element that is one line: a
// mail address or an escaped character within it would be read as such.
func inOneLine(name string) bool {
	return name != "" && !strings.Contains(name, "@") && !(strings.Contains(name, "&") && strings.Contains(name, ";"))
}

func (r *rss) contributors(persons []feed.Person) {
	for i := range persons {
		if who := &persons[i]; who.URL != "" || who.Extension != nil || isMail(who.Email) {
			r.atomPerson("atom:contributor", who)
		} else {
			r.creator("dc:contributor", who)
		}
	}
}

// creator writes the name of somebody, which is all that Dublin Core has.
func (w *writer) creator(element string, who *feed.Person) {
	w.leaf(element, nameOf(who))
	w.lose(lostMail, who.Email != "" && who.Name != "")
	w.lose(lostPersons, who.URL != "" && who.Name+who.Email != "" || who.Avatar != "")
	w.loseExtension(who.Extension)
}

// mailElement writes somebody in an element that holds a mail address.
func (w *writer) mailElement(element string, who *feed.Person) {
	w.tag(element, nil)
	w.b = append(w.b, '>')
	w.escape(who.Email, element, inText)
	if who.Name != "" {
		w.b = append(w.b, " ("...)
		w.escape(w.inBrackets(who.Name, element), element, inText)
		w.b = append(w.b, ')')
	}
	w.endTag(element)
}

// inBrackets is a name that can stand in brackets: those in it are balanced.
func (w *writer) inBrackets(name, where string) string {
	open := 0
	for i := range len(name) {
		switch name[i] {
		case '(':
			open++
		case ')':
			open--
		}
		if open < 0 || name[i] == '\\' {
			break
		}
	}
	if open == 0 && strings.IndexByte(name, '\\') < 0 {
		return name
	}
	w.warn("person-brackets", where, "This name stands in brackets, so those in it are written as square ones: ", short(name), ".")
	return strings.NewReplacer("(", "[", ")", "]", "\\", "/").Replace(name)
}

// atomPerson writes somebody as Atom has persons, in a document that is not Atom.
func (w *writer) atomPerson(element string, who *feed.Person) {
	w.openExtended(element, ownAttrs(who.Extension))
	w.element("atom:name", nameOf(who))
	w.leaf("atom:uri", w.address(who.URL, "author"))
	w.leaf("atom:email", w.mailbox(who.Email, "author"))
	w.portrait(who)
	w.extension(who.Extension)
	w.close(element)
}

// portrait writes the image of a person as Blogger does: Atom has no element for it and
// allows those of other vocabularies, but validators call one of Media RSS there an error.
//
// spec:atom-rfc4287#person
func (w *writer) portrait(who *feed.Person) {
	const space = "http://schemas.google.com/g/2005"
	if url := w.address(who.Avatar, "author"); url != "" {
		w.empty("gd:image", "xmlns:gd", space, "rel", space+"#thumbnail", "src", url)
	}
}

// isLine reports whether one line, as iTunes has authors, says who somebody is.
func isLine(who *feed.Person, line string) bool {
	switch {
	case who.Raw != "":
		return who.Raw == line
	case who.Email == "":
		return who.Name == line
	case who.Name == "":
		return who.Email == line
	}
	return strings.HasPrefix(line, who.Name+" (") && line == who.Name+" ("+who.Email+")"
}
