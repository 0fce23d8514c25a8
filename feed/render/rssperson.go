package render

import (
	"strings"

	"cloudburst/feed"
)

// channelPersons writes the authors and the publisher of a feed.
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

// plainEditors writes the persons that early versions allow, as email addresses.
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
	if p := f.Publisher; p != nil && isMail(p.Email) {
		r.mailElement("webMaster", p)
	} else {
		r.lose(lostPersons, p != nil)
	}
}

// authors writes each person once: a person with an email address in the given element, which is
// used once, and others in dc:creator. The first person with a URL or with extension elements also
// becomes an atom:author, which can contain both. Hardly any feed reader uses only that element.
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
		case line != "" && isLine(who, line): // the iTunes element contains the person
			line = ""
		case (who.URL != "" || who.Extension != nil) && atom:
			held := feed.Person{}
			switch {
			case isMail(who.Email) && mail && inOneLine(who.Name) && !strings.ContainsAny(who.Name, `()[]<>\`):
				mail, held = false, feed.Person{Name: who.Name, Email: who.Email}
				r.mailElement(element, who)
			case inOneLine(who.Name):
				held.Name = who.Name
				r.leaf("dc:creator", who.Name)
			}
			atom = !r.atomPerson("atom:author", who, held)
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

// inOneLine reports whether parsers read a name unchanged from an element that contains one line.
// That is not the case if the name contains an email address or an escaped character.
func inOneLine(name string) bool {
	return name != "" && !strings.Contains(name, "@") && !(strings.Contains(name, "&") && strings.Contains(name, ";"))
}

func (r *rss) contributors(persons []feed.Person) {
	for i := range persons {
		if who := &persons[i]; who.URL != "" || who.Extension != nil || isMail(who.Email) {
			r.atomPerson("atom:contributor", who, feed.Person{})
		} else {
			r.creator("dc:contributor", who)
		}
	}
}

// creator writes the name of a person. Dublin Core has no element for more.
func (w *writer) creator(element string, who *feed.Person) {
	w.leaf(element, nameOf(who))
	w.lose(lostMail, who.Email != "" && who.Name != "")
	w.lose(lostPersons, who.URL != "" && who.Name+who.Email != "" || who.Avatar != "")
	w.loseExtension(who.Extension)
}

// mailElement writes a person in an element that holds an email address.
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

// inBrackets returns a name for use in parentheses, with its own parentheses balanced.
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
	w.warn("person-brackets", where, "This name is written in parentheses, so its own parentheses become square brackets: ", short(name), ".")
	return strings.NewReplacer("(", "[", ")", "]", "\\", "/").Replace(name)
}

// atomPerson writes a person as an Atom element in a document of another format, and reports whether
// it did. It omits a person of whom only the name and email address of held remain.
func (w *writer) atomPerson(element string, who *feed.Person, held feed.Person) bool {
	begin, spaces, attrs := len(w.b), w.spaces, ownAttrs(who.Extension)
	w.openExtended(element, attrs)
	w.element("atom:name", nameOf(who))
	named := len(w.b)
	w.leaf("atom:uri", w.address(who.URL, "author"))
	more := len(w.b) > named || len(attrs) > 0 || held.Name == ""
	mail := w.mailbox(who.Email, "author")
	w.leaf("atom:email", mail)
	more = more || mail != held.Email
	named = len(w.b)
	portrait(w, who)
	w.extension(who.Extension)
	more = more || len(w.b) > named
	w.close(element)
	if !more {
		w.b, w.spaces = w.b[:begin], spaces
	}
	return more
}

// portrait writes a person's image as <gd:image>, as Blogger does. Atom has no such element but
// allows extension elements; validators report <media:…> here as an error.
//
// spec:atom-rfc4287#person
func portrait(w *writer, who *feed.Person) {
	const space = "http://schemas.google.com/g/2005"
	if url := w.address(who.Avatar, "author"); url != "" {
		w.empty("gd:image", "xmlns:gd", space, "rel", space+"#thumbnail", "src", url)
	}
}

// isLine reports whether one line, as in the iTunes author, describes the person completely.
func isLine(who *feed.Person, line string) bool {
	switch {
	case who.URL != "" || who.Avatar != "" || who.Extension != nil:
		return false
	case who.Raw != "":
		return who.Raw == line
	case who.Email == "" || who.Name == "":
		return who.Name+who.Email == line
	}
	return strings.HasPrefix(line, who.Name+" (") && line == who.Name+" ("+who.Email+")"
}
