package fever_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"cloudburst/protocol/fever"
)

// reader is a backend of one user with one subscription. The embedded nil interface has
// the methods that the example does not call.
type reader struct{ fever.Backend }

func (reader) User(_ context.Context, key string) (string, error) {
	if key != fever.Key("alice", "a token") {
		return "", fever.ErrKey
	}
	return "alice", nil
}

func (reader) Lists(_ context.Context, user string) ([]fever.Group, []fever.Feed, []fever.FeedsGroup, error) {
	return nil, []fever.Feed{{ID: 1, Title: "Harbour notes", URL: "https://harbour.example/rss.xml"}}, nil, nil
}

// A server with a backend, and a client that lists the subscriptions.
func Example() {
	server := httptest.NewServer(&fever.Handler{Backend: reader{}})
	defer server.Close()
	ctx := context.Background()

	app := &fever.Client{URL: server.URL + "/fever/", Key: fever.Key("alice", "wrong")}
	if _, err := app.Send(ctx, "feeds", nil); errors.Is(err, fever.ErrKey) {
		fmt.Println("no")
	}
	app.Key = fever.Key("alice", "a token")
	answer, err := app.Send(ctx, "feeds", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range answer.Feeds {
		fmt.Println(f.ID, f.Title, f.URL)
	}
	// Output:
	// no
	// 1 Harbour notes https://harbour.example/rss.xml
}
