package publishhttp

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/feed/render"
	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/feedfile"
	"cloudburst/internal/serve"
	"cloudburst/internal/syndicate"
	"cloudburst/protocol/websub"
)

// Each reader of a private feed has a topic of their own at the hub, so that their subscription
// ends with their secret. Its URL names neither the author nor the group:
// /private/topic/NAME/rss.xml. The URL serves the feed, like the URL that contains the secret, and the
// files of its posts are at /private/topic/NAME/media/.

// topicForms returns the formats of a private feed that have a topic; "" is the saved document.
func topicForms() []string { return []string{"", "atom", "jsonfeed", "rss20", "rdf"} }

// topicBase returns the path of a reader's topic without its document.
func topicBase(of ReaderTopics, reader account.Secret) string {
	return event.PrivateTopics + of.Topic(reader) + "/"
}

// topics serves and names the topics of private feeds.
type topics struct{ *Feeds }

// TopicPaths returns the paths of the topics of the reader with a secret.
func TopicPaths(of ReaderTopics, reader account.Secret) []string {
	var all []string
	for _, format := range topicForms() {
		all = append(all, formUnder(topicBase(of, reader), format))
	}
	return all
}

// serveTopic serves a private feed at the URL of a reader's topic, and the files of its posts.
//
// spec:cloudburst#private-topic
func (f topics) serveTopic(w http.ResponseWriter, r *http.Request) {
	f.start()
	if r.Method == http.MethodOptions {
		preflight(w, false)
		return
	}
	head := w.Header()
	head.Set("Cache-Control", "private, no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Robots-Tag", "noindex, nofollow")
	document := r.PathValue("document")
	file := f.Media != nil && strings.HasPrefix(document, pathMedia)
	if !file && document != pathSaved && !strings.HasPrefix(document, extPrefix) {
		f.refuse(w, r, errNoFeed())
		return
	}
	reader, err := f.open(r.Context(), r.PathValue("topic"), f.caller(r, "token"))
	if err != nil {
		f.refuseReader(w, r, err, true)
		return
	}
	if slug, ok := author.GroupOf(reader.Feed); file && ok {
		f.privateMedia(w, r, reader.User, privatePath{slug: slug, named: true, document: document})
		return
	}
	f.answer(w, r, reader.User, reader.Feed, document, reader)
}

// open checks the name of a topic, and then whether its author is visible and its group exists.
func (f topics) open(ctx context.Context, topic string, from account.Caller) (account.Secret, error) {
	if f.Topics == nil {
		return account.Secret{}, errNoFeed()
	}
	reader, err := f.Topics.OpenByTopic(ctx, topic, from)
	if err == nil {
		err = f.checkVisible(ctx, reader.User)
	}
	if slug, ok := author.GroupOf(reader.Feed); err == nil && ok && f.Group != nil {
		_, err = f.Group(ctx, reader.User, slug)
	}
	return reader, err
}

// own returns the document of a topic, for the hub. ok is false if path is not a topic.
func (f topics) own(ctx context.Context, path, query string) (d *serve.Document, now author.Feed, ok bool, err error) {
	rest, ok := strings.CutPrefix(path, event.PrivateTopics)
	if !ok {
		return nil, now, false, nil
	}
	topic, document, _ := strings.Cut(rest, "/")
	reader, err := f.open(ctx, topic, account.Caller{Via: "hub"})
	if err == nil && (query != "" || !slices.Contains(TopicPaths(f.Topics, reader), path)) {
		err = errNoFeed() // the hub would neither notify its subscribers nor end their subscriptions
	}
	if err != nil {
		if code := fault.CodeOf(err); code == fault.Refused || code == fault.NotFound {
			err = errNoFeed() // the reason would reveal whether the topic was valid
		}
		return nil, now, true, err
	}
	format, _, err := f.format(&http.Request{URL: &url.URL{}}, document)
	if err == nil {
		now, err = f.Authors.Feed(ctx, reader.User, reader.Feed)
	}
	switch { // errors must not contain the URL of the feed
	case err != nil:
	case now.MovedTo != "":
		err = fault.New(fault.Unreadable, "The feed has moved.")
	case now.Gone:
		err = fault.New(fault.Gone, "The feed has ended.")
	}
	if err != nil {
		return nil, now, true, err
	}
	d, _, err = f.Layer.Document(ctx, f.privateSource(now, reader), format)
	return d, now, true, err
}

// declare makes the documents of a private feed name the topic of their reader, the hub and the
// cloud of this server. A saved document that already names a hub, or whose format cannot name one,
// is not changed: the Link header contains this information.
func (f topics) declare(s *syndicate.Source, h *hosted, reader account.Secret) {
	base := h.public + topicBase(f.Topics, reader)
	about := func(format string) render.Options {
		o := f.privateOptions(format)
		for _, one := range topicForms() {
			if one == format {
				o.Self, o.Hubs, o.Cloud = formUnder(base, format), []string{h.public + "/websub"}, f.cloudAt(h.public)
			}
		}
		return o
	}
	s.Render = about
	load := s.Load
	s.Load = func(ctx context.Context) ([]byte, string, error) {
		doc, kind, err := load(ctx)
		if err != nil {
			return doc, kind, err
		}
		if with, err := feedfile.AddPush(doc, kind, about("")); err == nil {
			doc = with
		}
		return doc, kind, nil
	}
	s.Link = func(format string) []string {
		if o := about(format); o.Self != "" {
			return []string{websub.LinkHeader(o.Hubs[0], o.Self)}
		}
		return nil
	}
}
