package web

import (
	"context"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/web/writerui"
)

// groups is another name for author.Groups. An embedded field named Groups would hide the method Groups.
type groups = author.Groups

// countedPosts counts how often the server prepares a preview.
type countedPosts struct {
	groups
	previews int
}

func (p *countedPosts) Composer(ctx context.Context, user string) (author.Composer, error) {
	p.previews++
	return p.Posts.Composer(ctx, user)
}

// The server renders no text for unauthenticated clients, because rendering a text requires more work than
// sending it.
func TestPreviewIsRefusedForUnauthenticatedClients(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t)
	posts := &countedPosts{groups: groups{Posts: x.posts}}
	x.Posts = posts
	x.rebuild()
	rec := x.send("/write", "do", "preview", "source", strings.Repeat("*words* ", 100))
	if rec.Code != 401 || posts.previews > 0 {
		t.Errorf("%d, and HTML was made %d times", rec.Code, posts.previews)
	}
	if x.as("alice").send("/write", "do", "preview", "source", "*words*"); posts.previews == 0 {
		t.Error("this test sees nothing")
	}
}

// The number of fields is limited, because a parsed field uses much more memory than the byte "&" that
// separates it from the previous field.
func TestFormWithTooManyFieldsIsRejected(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	r := httptest.NewRequest("POST", "/write", strings.NewReader("source=a"+strings.Repeat("&a", writerui.MaxFields)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if rec := x.do(r); rec.Code != 400 {
		t.Errorf("%d", rec.Code)
	}
	if posts, err := x.posts.List(t.Context(), author.PostQuery{User: "alice"}); err != nil || len(posts) > 0 {
		t.Errorf("%v, %v", posts, err)
	}
}

// A file may have up to 4 GiB. The number of concurrent uploads is limited, in total and for each user, because
// the files would otherwise fill the disk.
func TestSecondConcurrentUploadOfAUserIsRejected(t *testing.T) {
	t.Parallel()
	x := newMovesHarness(t, &fakeMoves{})
	body, send := io.Pipe()
	form := multipart.NewWriter(send)
	r := httptest.NewRequest("POST", "/account/import", body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	done := make(chan int)
	go func() { done <- x.do(r).Code }()
	part, err := form.CreateFormFile("file", "a.zip") // the call returns when the server reads from the pipe
	if err == nil {
		_, err = io.WriteString(part, strings.Repeat("x", 1<<20))
	}
	if err != nil {
		t.Fatal(err)
	}
	if rec := x.bring("/account/import", "b.zip", "PK"); rec.Code != 409 || !strings.Contains(rec.Body.String(), "still in progress") {
		t.Errorf("a second one: %d", rec.Code)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	if err := send.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 303 {
		t.Errorf("the first one: %d", code)
	}
}
