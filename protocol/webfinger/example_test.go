package webfinger_test

import (
	"fmt"

	"cloudburst/protocol/webfinger"
)

func Example() {
	account, _ := webfinger.ParseAccount("@alice@example.org")
	fmt.Println(account.URL())
	answer := []byte(`{"subject":"acct:alice@example.org","links":[
		{"rel":"http://webfinger.net/rel/profile-page","type":"text/html","href":"https://example.org/alice/"},
		{"rel":"http://schemas.google.com/g/2010#updates-from","href":"https://example.org/alice/rss.xml"}]}`)
	d, _ := webfinger.Read(answer)
	feed, page := d.Feed()
	fmt.Println(feed)
	fmt.Println(page)
	// Output:
	// https://example.org/.well-known/webfinger?resource=acct%3Aalice%40example.org
	// https://example.org/alice/rss.xml
	// https://example.org/alice/
}
