package content

import (
	"cmp"
	"html/template"
	"net/url"
	"strconv"

	"cloudburst/internal/conversation"
	"cloudburst/internal/web/shell"
)

// ReplyLevels is the number of levels of replies on a page; deeper
// replies are on the page of their parent.
const ReplyLevels = 4

// Reply is a reply on a page.
type Reply struct {
	ID       string // ID of the reply's HTML element
	Name     string // name of the reply's author
	Profile  string // URL of the reply's author; "": none
	Href     string // URL of the reply
	Host     string // host of the reply if it is on another site, else ""
	Title    string
	HTML     template.HTML
	Text     string
	At       shell.Moment
	Hidden   bool
	Write    string // path of the form for a reply; "": none
	Continue string // URL of the page with the replies below this reply; "": this page shows all replies
	Inside   []*Reply

	key int64
}

// Foreign reports whether the reply is on another site.
func (n *Reply) Foreign() bool { return n.Host != "" }

// NestReplies renders the nodes of a thread as nested replies. The nodes must be in the order of
// their paths. base is the URL of this server. path is the path of the page that shows a part of
// the thread; if it is "", deeper replies have no link. write adds links to the form for a reply.
func NestReplies(s *Renderer, t conversation.Thread, base, path string, write bool) (top []*Reply) {
	body := s.NewBodyRenderer(true)
	body.Heading = 3
	byKey := map[int64]*Reply{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		parent := byKey[n.Parent]
		if n.Depth()-t.Depth() > ReplyLevels {
			if parent != nil && path != "" {
				parent.Continue = path + "?thread=" + strconv.FormatInt(parent.key, 10)
			}
			continue
		}
		one := NewReply(body, n, base, write)
		byKey[n.ID] = one
		if parent != nil {
			parent.Inside = append(parent.Inside, one)
		} else {
			top = append(top, one)
		}
	}
	return withoutHidden(top)
}

// withoutHidden removes hidden replies below which nothing is shown.
func withoutHidden(list []*Reply) (kept []*Reply) {
	for _, n := range list {
		n.Inside = withoutHidden(n.Inside)
		if !n.Hidden || len(n.Inside) > 0 {
			kept = append(kept, n)
		}
	}
	return kept
}

// NewReply renders one reply. If body is nil, the text of a post of this server is left out.
func NewReply(body *BodyRenderer, n *conversation.Node, base string, write bool) *Reply {
	one := &Reply{ID: "r" + strconv.FormatInt(n.ID, 10), Hidden: n.Hidden, key: n.ID, At: DateMoment(n.At)}
	if n.Hidden {
		return one
	}
	one.Name, one.Title = shell.CleanText(cmp.Or(n.Author, shell.HostOf(n.Name)), conversation.MaxName), shell.CleanText(n.Title, 300)
	if n.User != "" {
		one.Href, one.Profile = n.Name, n.AuthorURL
		if body != nil {
			one.HTML = body.Render(n.HTML, false).HTML
		}
	} else {
		one.Text = shell.CleanText(n.Text, conversation.MaxText)
		if shell.IsWebURL(n.Name) {
			one.Href, one.Host = n.Name, shell.HostOf(n.Name)
		}
		if shell.IsWebURL(n.AuthorURL) {
			one.Profile = n.AuthorURL
		}
	}
	if write && one.Href != "" {
		to := one.Href
		if n.User != "" {
			to = base + to
		}
		one.Write = "/write?reply=" + url.QueryEscape(to)
	}
	return one
}
