package publishhttp

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"
)

func TestXMLRPCReportsAPostOverTheLimit(t *testing.T) {
	t.Parallel()
	const warning = `299 - "The post has 141 characters; short posts have at most 140 here. It is published anyway."`
	w := newWeblog(t)
	w.posts.LimitMode = author.LimitWarn
	call := func(method string, params ...any) (any, string) {
		t.Helper()
		body, err := xmlrpc.Call{Method: method, Params: params}.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(w.srv.URL+"/RPC2", "text/xml", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		v, err := xmlrpc.Decoder{}.Response(res.Body)
		if err != nil {
			t.Fatal(method, err)
		}
		return v, strings.Join(res.Header.Values("Warning"), " ")
	}
	long := strings.Repeat("x", 141)
	post := func(text string) map[string]any { return map[string]any{"description": text} }
	id, got := call(metaweblog.MethodNewPost, "alice", "alice", goodPassword, post(long), true)
	if got != warning {
		t.Errorf("metaWeblog.newPost: Warning %q", got)
	}
	if _, got = call(metaweblog.MethodEditPost, id, "alice", goodPassword, post(long[1:]), true); got != "" {
		t.Errorf("a post of 140 characters: Warning %q", got)
	}
	if _, got = call(metaweblog.MethodEditPost, id, "alice", goodPassword, post(long), true); got != warning {
		t.Errorf("metaWeblog.editPost: Warning %q", got)
	}
	if _, got = call(metaweblog.MethodWPNewPost, 1, "alice", goodPassword, map[string]any{"post_content": long, "post_status": "publish"}); got != warning {
		t.Errorf("wp.newPost: Warning %q", got)
	}
	if _, got = call(metaweblog.MethodBloggerNewPost, "key", "alice", "alice", goodPassword, long, true); got != warning {
		t.Errorf("blogger.newPost: Warning %q", got)
	}
	draft, got := call(metaweblog.MethodNewPost, "alice", "alice", goodPassword, post(long), false)
	if got != "" {
		t.Errorf("a draft: Warning %q", got)
	}
	if _, got = call("mt.publishPost", draft, "alice", goodPassword); got != warning {
		t.Errorf("mt.publishPost: Warning %q", got)
	}
	if n, err := strconv.Atoi(id.(string)); err != nil || n <= 0 {
		t.Errorf("the answer is %v", id)
	}
}
