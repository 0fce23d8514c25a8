package render

import (
	"strings"

	"cloudburst/feed"
)

// media writes Media RSS 1.5.1 for a feed or an item. A feed has no files, only defaults for
// the files in its items.
//
// spec:datafeeds-2006#media-rss-written
func (w *writer) media(m *feed.Media, ofFeed bool) {
	if m == nil {
		return
	}
	if ofFeed {
		w.lose(lostMedia, len(m.Groups) > 0 || len(m.Contents) > 0)
	} else {
		if m = w.ungrouped(m); w.format == "rdf" {
			m = w.flattened(m)
		}
		for i := range m.Groups {
			g := &m.Groups[i]
			w.open("media:group")
			elements(g.Contents, w.mediaContent)
			w.mediaInfo(&g.MediaInfo)
			w.close("media:group")
		}
		elements(m.Contents, w.mediaContent)
	}
	w.mediaInfo(&m.MediaInfo)
}

// mediaContent writes one file with its child elements.
func (w *writer) mediaContent(c *feed.MediaContent) {
	const where = "media:content"
	w.tag(where, nil)
	w.optional("url", w.uri(c.URL, where))
	w.optional("fileSize", w.number(c.FileSize, where, 1))
	w.optional("type", w.mime(c.Type, where))
	w.optional("medium", w.word(c.Medium, where, "image audio video document executable"))
	w.optional("isDefault", w.word(c.IsDefault, where, "true false"))
	w.optional("expression", w.word(c.Expression, where, "full sample nonstop"))
	w.optional("bitrate", w.measure(c.Bitrate, where))
	w.optional("framerate", w.measure(c.Framerate, where))
	w.optional("samplingrate", w.measure(c.SamplingRate, where))
	w.optional("channels", w.number(c.Channels, where, 0))
	w.optional("duration", w.measure(c.Duration, where))
	w.optional("height", w.number(c.Height, where, 1))
	w.optional("width", w.number(c.Width, where, 1))
	w.optional("lang", w.language(c.Lang, where))
	w.foreignAttrs(c.Attrs)
	w.b = append(w.b, '>')
	begin := len(w.b)
	w.depth++
	w.mediaInfo(&c.MediaInfo)
	if len(w.b) == begin { // nothing was written, so there are no child elements
		w.depth--
		w.b = append(w.b[:begin-1], "/>"...)
		return
	}
	w.close(where)
}

// measure returns a number that is not negative.
func (w *writer) measure(s, where string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "-") {
		w.invalid(s, where, "a number of at least 0")
		return ""
	}
	return w.decimal(s, where)
}

// mediaInfo writes the elements that are allowed in a feed, an item, a group or a content.
func (w *writer) mediaInfo(m *feed.MediaInfo) {
	w.mediaText("media:title", &m.Title)
	w.mediaText("media:description", &m.Description)
	w.leaf("media:keywords", strings.Join(m.Keywords, ", "))
	elements(m.Thumbnails, w.mediaThumbnail)
	for i := range m.Categories {
		c := &m.Categories[i]
		w.element("media:category", c.Term, "scheme", w.uri(c.Scheme, "media:category"), "label", c.Label)
	}
	elements(m.Hashes, w.mediaHash)
	elements(m.Players, w.mediaPlayer)
	w.mediaPeople(m)
	elements(m.Texts, w.mediaWords)
	elements(m.Restrictions, w.mediaRestriction)
	elements(m.Ratings, w.mediaRating)
	w.newerMedia(m)
}

// elements writes each value of a list.
func elements[T any](list []T, write func(*T)) {
	for i := range list {
		write(&list[i])
	}
}

// mediaText writes a text with its type. A title without a type is plain text.
func (w *writer) mediaText(name string, t *feed.Text) {
	switch {
	case t.Value == "":
	case isHTML(t):
		w.element(name, t.Value, "type", "html")
	default:
		w.element(name, t.Value, "type", "plain")
	}
}

func (w *writer) mediaThumbnail(t *feed.MediaThumbnail) {
	const where = "media:thumbnail"
	url := w.uri(t.URL, where)
	if url == "" {
		return
	}
	w.empty(where, "url", url, "width", w.number(t.Width, where, 1), "height", w.number(t.Height, where, 1), "time", w.mediaTime(t.Time, where))
}

// mediaTime returns an offset in a file. Its form is now, seconds, or h:mm:ss.
func (w *writer) mediaTime(s, where string) string {
	s = strings.TrimSpace(s)
	if s == "" || s == "now" {
		return s
	}
	clock := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && isDecimal(s[i+1:]) {
		clock, _, _ = strings.Cut(s, ".")
	}
	if isDecimal(s) && s[0] != '-' || isDuration(clock) && strings.Count(clock, ":") == 2 {
		return s
	}
	w.invalid(s, where, "a time like 12.5 or 0:01:02")
	return ""
}

// mediaHash writes a checksum, if it has the right number of digits for its algorithm.
func (w *writer) mediaHash(h *feed.MediaHash) {
	algo, value := strings.ToLower(h.Algo), strings.TrimSpace(h.Value)
	size := 32
	switch algo {
	case "", "md5":
	case "sha-1":
		size = 40
	default:
		size = -1
	}
	sound := len(value) == size
	for i := range len(value) {
		sound = sound && isWordByte(value[i])
	}
	if !sound {
		w.invalid(h.Value, "media:hash", "an MD5 or SHA-1 checksum")
		return
	}
	w.element("media:hash", value, "algo", algo)
}

func (w *writer) mediaPlayer(p *feed.MediaPlayer) {
	const where = "media:player"
	url := w.uri(p.URL, where)
	if url == "" {
		return
	}
	width, height := w.number(p.Width, where, 1), w.number(p.Height, where, 1)
	if p.Content == "" {
		w.empty(where, "url", url, "width", width, "height", height)
	} else {
		w.element(where, p.Content, "url", url, "width", width, "height", height)
	}
}

// mediaPeople writes the credits and the copyright of the file.
func (w *writer) mediaPeople(m *feed.MediaInfo) {
	for i := range m.Credits {
		c := &m.Credits[i]
		role, scheme := strings.ToLower(strings.TrimSpace(c.Role)), w.mediaVocabulary(c.Scheme, "media:credit")
		if role != "" && (scheme == "" || scheme == "urn:ebu") && !isEBURole(role) {
			w.invalid(role, "media:credit", "a role defined by the European Broadcasting Union")
			role = ""
		}
		w.elementExtended("media:credit", c.Name, c.Attrs, "role", role, "scheme", scheme)
	}
	if c := m.Copyright; c != nil && (c.Value != "" || c.URL != "") {
		w.element("media:copyright", c.Value, "url", w.uri(c.URL, "media:copyright"))
	}
}

// mediaWords writes a transcript of the file.
func (w *writer) mediaWords(t *feed.MediaText) {
	const where = "media:text"
	kind := t.Type
	switch kind {
	case plainText:
		kind = "plain"
	case htmlText:
		kind = "html"
	}
	w.element(where, t.Value, "type", w.word(kind, where, "plain html"), "lang", w.language(t.Lang, where),
		"start", w.mediaTime(t.Start, where), "end", w.mediaTime(t.End, where))
}

// mediaRestriction writes where the file may be used.
func (w *writer) mediaRestriction(r *feed.MediaRestriction) {
	const where = "media:restriction"
	relation, kind := w.word(r.Relationship, where, "allow deny"), w.word(r.Type, where, "country uri sharing")
	if kind == "sharing" && !w.newer("media:restriction", true) {
		return
	}
	value := strings.TrimSpace(r.Value)
	sound := relation != "" && (kind != "" || r.Type == "")
	switch kind {
	case "":
		sound = sound && (value == "" || value == "all" || value == "none")
	case "country":
		for code := range strings.SplitSeq(value, " ") {
			sound = sound && len(code) == 2 && isLetter(code[0]) && isLetter(code[1])
		}
	case "uri":
		value = w.uri(value, where)
		sound = sound && value != ""
	}
	if !sound {
		w.invalid(r.Value, where, "countries, a URL, all or none, with the relationship allow or deny")
		return
	}
	w.element(where, value, "relationship", relation, "type", kind)
}

// mediaRating writes the audience rating, with the values of its scheme.
func (w *writer) mediaRating(r *feed.MediaRating) {
	scheme, value := w.mediaVocabulary(r.Scheme, "media:rating"), strings.TrimSpace(r.Value)
	switch scheme {
	case "", "urn:simple":
		value = w.word(value, "media:rating", "adult nonadult")
	case "urn:mpaa":
		value = w.word(value, "media:rating", "g m nc-17 pg pg-13 r x")
	case "urn:v-chip":
		value = w.word(value, "media:rating", "14+ 18+ c c8 g pg tv-14 tv-g tv-ma tv-pg tv-y tv-y7 tv-y7-fv")
	case "urn:icra":
		if !strings.HasPrefix(value, "r (") || !strings.HasSuffix(value, ")") {
			w.invalid(value, "media:rating", "a label like r (nz 1 sz 1)")
			return
		}
	}
	w.leaf("media:rating", value, "scheme", scheme)
}

// mediaVocabulary returns the Media RSS name of a scheme, or its URL.
func (w *writer) mediaVocabulary(s, where string) string {
	switch s {
	case "urn:simple", "urn:mpaa", "urn:v-chip", "urn:icra", "urn:ebu", "urn:yvs":
		return s
	}
	return w.uri(s, where)
}

// isEBURole reports whether a role is defined by the European Broadcasting Union.
//
// spec:datafeeds-2006#media-roles
func isEBURole(role string) bool {
	const roles = "|actor|adaptor|anchor person|animal trainer|animator|announcer|armourer|art director|artist|artist/performer|assistant camera|" +
		"assistant chief lighting technician|assistant director|assistant producer|assistant visual editor|author|broadcast assistant|" +
		"broadcast journalist|camera operator|carpenter|casting|causeur|chief lighting technician|choir|choreographer|clapper loader|" +
		"commentary or commentator|commissioning broadcaster|composer|computer programmer|conductor|consultant|continuity checker|correspondent|" +
		"costume designer|dancer|dialogue coach|director|director of photography|distribution company|draughtsman|dresser|dubber|editor|" +
		"editor/producer|ensemble|executive producer|expert|fight director|floor manager|focus puller|foley artist|foley editor|foley mixer|" +
		"graphic assistant|graphic designer|greensman|grip|hairdresser|illustrator|interviewed guest|interviewer|key character|key grip|" +
		"key talents|leadman|librettist|lighting director|lighting technician|location manager|lyricist|make up artist|manufacturer|matte artist|" +
		"music arranger|music group|musician|news reader|orchestra|participant|performer|photographer|post|producer|production assistant|" +
		"production company|production department|production manager|production secretary|programme production researcher|programme proposal|" +
		"property manager|publishing company|puppeteer|pyrotechnician|reporter|rigger|runner|scenario|scenic operative|script supervisor|" +
		"second assistant camera|second assistant director|second unit director|set designer|set dresser|sign language|singer|sound designer|" +
		"sound mixer|sound recordist|special effects|stunts|subtitles|technical director|term|translation|transportation manager|treatment|" +
		"treatment proposal|treatment/programme proposal|vision mixer|visual editor|visual effects|wardrobe|witness|"
	return strings.IndexByte(role, '|') < 0 && strings.Contains(roles, "|"+role+"|")
}
