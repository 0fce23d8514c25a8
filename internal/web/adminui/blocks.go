package adminui

import (
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

type blocksView struct {
	view
	Match                        string
	Blocks                       []blockRow
	Total                        int
	Next                         string
	Paged                        bool
	Value, ValueError            string
	Reason, ReasonError, Example string
}

type blockRow struct {
	Kind, Words, Value, Reason, By string
	At                             shell.Moment
}

func blockMessages() map[string]string {
	return map[string]string{
		"add":    "Blocked. The server no longer reads or notifies it.",
		"remove": "The block is removed. The server may read and notify it again.",
	}
}

// blocksPage lists the blocks, filtered by a part of the value or reason.
func (s *Pages) blocksPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return s.showBlocks(rw, r, http.StatusOK, blocksView{})
}

func (s *Pages) showBlocks(rw http.ResponseWriter, r *http.Request, status int, v blocksView) error {
	query := r.URL.Query()
	v.view = s.newView(r, "Blocks", "/admin/blocks", blockMessages())
	switch value, kind := shell.CleanText(query.Get("value"), 2048), query.Get("kind"); {
	case query.Get("done") == "add" && value != "":
		v.Undo = &undo{"/admin/blocks/remove", []shell.NamedValue{{Name: "kind", Value: kind}, {Name: "value", Value: value}}}
	case query.Get("done") == "remove" && value != "":
		v.Undo = &undo{"/admin/blocks", []shell.NamedValue{{Name: "block", Value: value}, {Name: "reason", Value: shell.CleanText(query.Get("reason"), admin.MaxReason)}}}
	}
	v.Match = shell.CleanText(strings.TrimSpace(query.Get("q")), 200)
	after := query.Get("after")
	v.Paged = after != ""
	all := s.Admin.Blocks()
	v.Total = len(all)
	for _, b := range all {
		key := b.Kind + " " + b.Value
		if !strings.Contains(strings.ToLower(b.Value+" "+b.Reason), strings.ToLower(v.Match)) || after != "" && key <= after {
			continue
		}
		if len(v.Blocks) == rowsPerPage {
			last := v.Blocks[rowsPerPage-1]
			v.Next = "/admin/blocks?" + url.Values{"q": {v.Match}, "after": {last.Kind + " " + last.Value}}.Encode()
			break
		}
		row := blockRow{Kind: b.Kind, Value: shell.CleanText(b.Value, 2048), Reason: shell.CleanText(b.Reason, admin.MaxReason), By: b.CreatedBy, At: v.When(b.CreatedAt)}
		row.Words = map[string]string{admin.BlockHost: "Host with subdomains", admin.BlockNetwork: "Network", admin.BlockTopic: "Topic"}[b.Kind]
		v.Blocks = append(v.Blocks, row)
	}
	return s.Render(rw, r, status, "adminblocks", v)
}

func (s *Pages) doBlock(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	b, err := s.Admin.AddBlock(r.Context(), s.actor(r, session), field("block"), field("reason"))
	if err != nil {
		v := blocksView{Value: shell.CleanText(field("block"), 2048), Reason: shell.CleanText(field("reason"), 2*admin.MaxReason)}
		if fault.CodeOf(err) == fault.Invalid && len(field("reason")) > admin.MaxReason {
			v.ReasonError = shell.Reason(err)
		} else {
			v.ValueError = shell.Reason(err)
		}
		return s.showBlocks(rw, r, s.Refused(rw, r, err), v)
	}
	return shell.Redirect(rw, r, "/admin/blocks?"+url.Values{"done": {"add"}, "kind": {b.Kind}, "value": {b.Value}}.Encode())
}

func (s *Pages) doUnblock(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	b, err := s.Admin.RemoveBlock(r.Context(), s.actor(r, session), field("kind"), field("value"))
	if err != nil {
		return err
	}
	query := url.Values{"done": {"remove"}, "value": {b.Value}, "reason": {b.Reason}}
	return shell.Redirect(rw, r, "/admin/blocks?"+query.Encode())
}
