package greader_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"cloudburst/protocol/greader"
)

// reader is a backend of one user with one subscription. The embedded nil interface has
// the methods that the example does not call.
type reader struct{ greader.Backend }

func (reader) Login(_ context.Context, name, password string) (string, error) {
	if name != "alice" || password != "correct horse battery" {
		return "", greader.ErrUnauthorized
	}
	return "alice/key-of-alice", nil
}

func (reader) Authenticate(_ context.Context, auth string) (string, error) {
	if auth != "alice/key-of-alice" {
		return "", greader.ErrUnauthorized
	}
	return "alice", nil
}

func (reader) Subscriptions(_ context.Context, user string) ([]greader.Subscription, error) {
	return []greader.Subscription{{ID: "feed/1", Title: "Harbour notes", URL: "https://harbour.example/rss.xml"}}, nil
}

// A server with a backend, and a client that signs in and lists the subscriptions.
func Example() {
	server := httptest.NewServer(&greader.Handler{Backend: reader{}})
	defer server.Close()
	ctx := context.Background()

	app := &greader.Client{Base: server.URL}
	if err := app.Login(ctx, "alice", "wrong"); errors.Is(err, greader.ErrUnauthorized) {
		fmt.Println("no")
	}
	if err := app.Login(ctx, "alice", "correct horse battery"); err != nil {
		fmt.Println(err)
		return
	}
	feeds, err := app.Subscriptions(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range feeds {
		fmt.Println(f.ID, f.Title, f.URL)
	}
	// Output:
	// no
	// feed/1 Harbour notes https://harbour.example/rss.xml
}
