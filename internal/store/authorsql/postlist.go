package authorsql

import (
	"context"
	"slices"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// postPlan is a list of posts as a statement: from where, by which columns.
type postPlan struct {
	author.PostQuery
	sqldb.Where
	from  string
	keys  []string // columns of the order, all descending or all ascending
	after []any    // their values in the last post of the page before
	up    bool
	words []string
}

// likedWords is how many words of a search the database looks for; all others are looked
// for in what it finds.
const likedWords = 8

// Posts implements author.PostStore. A query of no state that asks for a category, a time or a
// place asks for published posts. Only Match and Skip read posts that are not returned.
func (s *postStore) Posts(ctx context.Context, q author.PostQuery) ([]author.Post, error) {
	p, err := planPosts(q)
	if err != nil {
		return nil, err
	}
	var all []author.Post
	n, skip := sqldb.Limit(q.Limit), 0
	if len(p.words) > 0 { // of those that match
		skip, p.Skip = p.Skip, 0
	}
	for {
		var w sqldb.Where
		w.Conds, w.Args = slices.Clone(p.Conds), slices.Clone(p.Args)
		text := p.text(&w, n)
		page, err := postsOf(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]postRow, error) {
			return sqldb.Collect(ctx, c, scanPost, text, w.Args...)
		}))
		if err != nil {
			return nil, err
		}
		for i := range page {
			switch {
			case !p.matches(&page[i]):
			case skip > 0:
				skip--
			case len(all) < n:
				all = append(all, page[i])
			}
		}
		if len(page) < n || len(all) == n {
			return all, nil
		}
		p.Skip = 0
		p.start(&page[len(page)-1])
	}
}

func planPosts(q author.PostQuery) (*postPlan, error) {
	p := &postPlan{PostQuery: q, from: `post AS p`}
	p.User, p.Category = sqldb.Clean(q.User), sqldb.Clean(q.Category)
	bySeq := q.FromSeq > 0 || q.ToSeq > 0
	if q.State == "" && (bySeq || q.Category != "" || !q.Since.IsZero() || !q.Before.IsZero()) {
		p.State = author.Published
	}
	switch {
	case bySeq && (p.User == "" || p.State != author.Published || p.Category != ""):
		return nil, fault.New(fault.Invalid, "By their places only the published posts of one user are listed.")
	case p.Category != "" && p.State != author.Published:
		return nil, fault.New(fault.Invalid, "Only published posts are listed by category.")
	}
	if err := p.states(); err != nil {
		return nil, err
	}
	p.bounds(bySeq)
	if q.After != nil {
		p.start(q.After)
	}
	return p, p.match()
}

// states says which posts, in the words by which the indexes are known.
func (p *postPlan) states() error {
	if p.Category != "" {
		return nil // which has published posts only; to say so leads to other indexes than the key
	}
	switch p.State {
	case author.Published:
		p.Add("p.state = 'published'")
	case author.Draft:
		p.Add("p.state = 'draft' AND p.state <> 'published'")
	case author.Scheduled:
		p.Add("p.state = 'scheduled' AND p.state <> 'published'")
	case author.Deleted:
		p.Add("p.state = 'deleted' AND p.state <> 'published'")
	case "":
		p.Add("p.state <> 'deleted'")
	default:
		return fault.New(fault.Invalid, "%q is no state of a post.", string(p.State))
	}
	return nil
}

// bounds finds the columns that lead, and bounds them.
func (p *postPlan) bounds(bySeq bool) {
	table, at := "p", "p.published_at"
	switch {
	case bySeq:
		p.keys, p.up = []string{"p.seq"}, true
		p.Add("p.seq >= ?", p.FromSeq)
		if p.ToSeq > 0 {
			p.Add("p.seq <= ?", p.ToSeq)
		}
	case p.Category != "":
		p.from, table, at = `post_category AS k CROSS JOIN post AS p`, "k", "k.published_at"
		p.Add("p.owner = k.owner AND p.id = k.id AND k.name = ?", p.Category)
		p.keys = []string{at, "k.id"}
	case p.State == author.Published:
		p.keys = []string{at, "p.id"}
	default:
		p.keys = []string{"p.updated_at", "p.id"}
	}
	if p.User != "" {
		p.Add(table+".owner = ?", p.User)
	} else {
		p.keys = []string{p.keys[0], table + ".owner", table + ".id"}
		p.Add(notShut(table + ".owner"))
	}
	if !p.Since.IsZero() {
		p.Add(at+" >= ?", sqldb.Millis(p.Since))
	}
	if !p.Before.IsZero() {
		p.Add(at+" < ?", sqldb.Millis(p.Before))
	}
}

// notShut holds for those who are not disabled.
func notShut(owner string) string {
	return `NOT EXISTS (SELECT 1 FROM account AS shut WHERE shut.name = ` + owner + ` AND shut.disabled)`
}

// start goes on after a post.
func (p *postPlan) start(last *author.Post) {
	at := sqldb.Millis(last.UpdatedAt)
	switch {
	case p.up:
		p.after = []any{last.Seq}
		return
	case p.State == author.Published:
		at = sqldb.Millis(last.PublishedAt)
	}
	if p.User != "" {
		p.after = []any{at, last.ID}
	} else {
		p.after = []any{at, sqldb.Clean(last.User), last.ID}
	}
}

// text is the statement of the next page.
func (p *postPlan) text(w *sqldb.Where, n int) string {
	order, beyond := " DESC", " < "
	if p.up {
		order, beyond = "", " > "
	}
	if p.after != nil {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(p.keys)), ", ")
		w.Add("("+strings.Join(p.keys, ", ")+")"+beyond+"("+marks+")", p.after...)
	}
	skip := ""
	if p.Skip > 0 {
		skip = ` OFFSET ` + w.Arg(p.Skip)
	}
	return `SELECT ` + postColumns + ` FROM ` + p.from + w.String() +
		` ORDER BY ` + strings.Join(p.keys, order+", ") + order + ` LIMIT ` + w.Arg(n) + skip
}

// match has the database look for the words in what is stored, where they stand as JSON
// writes them, among other things.
func (p *postPlan) match() error {
	if len(p.Match) > sqldb.MaxMatch {
		return fault.New(fault.Invalid, "The text to search for has %d bytes; at most %d can be searched for.", len(p.Match), sqldb.MaxMatch)
	}
	p.words = strings.Fields(sqldb.Clean(p.Match))
	for _, word := range p.words[:min(len(p.words), likedWords)] {
		quoted, err := sqldb.JSON(word)
		if err != nil {
			return err
		}
		if err := p.Like(quoted[1:len(quoted)-1], "p.body"); err != nil {
			return err
		}
	}
	for i, word := range p.words {
		p.words[i] = strings.ToLower(word)
	}
	return nil
}

// matches reports that all words stand in the title or the source.
func (p *postPlan) matches(post *author.Post) bool {
	if len(p.words) == 0 {
		return true
	}
	title, source := strings.ToLower(post.Title), strings.ToLower(post.Source)
	for _, word := range p.words {
		if !strings.Contains(title, word) && !strings.Contains(source, word) {
			return false
		}
	}
	return true
}
