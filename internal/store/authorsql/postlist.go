package authorsql

import (
	"context"
	"slices"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// postPlan is the SQL statement of a list of posts: its tables, conditions and order.
type postPlan struct {
	author.PostQuery
	sqldb.Where
	from  string
	keys  []string // columns of the order, all descending or all ascending
	after []any    // values of these columns in the last post of the previous page
	up    bool
	words []string
}

// likedWords is the maximum number of words that the database searches for. The program compares
// its result with the other words.
const likedWords = 8

// Posts implements author.PostStore. A query without a state but with a category, a time or a place
// returns published posts. Posts that are not returned are read only for Match and Skip.
func (s *postStore) Posts(ctx context.Context, q author.PostQuery) ([]author.Post, error) {
	p, err := planPosts(q)
	if err != nil {
		return nil, err
	}
	var all []author.Post
	n, skip := sqldb.Limit(q.Limit), 0
	if len(p.words) > 0 { // skip among the matching posts only
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
		return nil, fault.New(fault.Invalid, "Only the published posts of one user can be listed by place.")
	case p.Category != "" && p.State != author.Published:
		return nil, fault.New(fault.Invalid, "Only published posts can be listed by category.")
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

// states adds the conditions on the state, in the form that the partial indexes use.
func (p *postPlan) states() error {
	if p.Category != "" {
		return nil // post_category has published posts only; with a condition on the state, the planner would choose worse indexes
	}
	switch p.State {
	case author.Published:
		p.Add("p.state = 'published'")
	case author.Draft:
		p.Add("p.state = 'draft' AND p.state <> 'published'")
	case author.Scheduled:
		p.Add("p.state = 'scheduled' AND p.state <> 'published'")
	case author.ForGroups:
		p.Add("p.state = 'private' AND p.state <> 'published'")
	case author.Deleted:
		p.Add("p.state = 'deleted' AND p.state <> 'published'")
	case "":
		p.Add("p.state <> 'deleted'")
	default:
		return fault.New(fault.Invalid, "%q is not a state of a post.", string(p.State))
	}
	return nil
}

// bounds sets the columns of the sort order, and limits the first of these columns.
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

// notShut returns the SQL condition that a user is not disabled.
func notShut(owner string) string {
	return `NOT EXISTS (SELECT 1 FROM account AS shut WHERE shut.name = ` + owner + ` AND shut.disabled)`
}

// start continues the list after a post.
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

// text returns the statement that reads the next n posts.
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

// match searches for the words in the stored JSON, which also contains other fields.
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

// matches reports whether the title or the source contains each word.
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
