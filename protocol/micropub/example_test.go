package micropub_test

import (
	"fmt"

	"cloudburst/protocol/micropub"
)

func ExampleParseJSON() {
	req, err := micropub.ParseJSON([]byte(`{
		"type": ["h-entry"],
		"properties": {
			"content": [{"html": "<p>Hello <b>world</b>.</p>"}],
			"category": ["one", "two"],
			"mp-slug": ["hello"]
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req.Action, req.Type, req.Properties.First("content").HTML, req.Properties.Texts("category"), req.Slug())
	// Output: create h-entry <p>Hello <b>world</b>.</p> [one two] hello
}

func ExampleRequest_Apply() {
	req := micropub.Request{Action: micropub.Update, URL: "https://example.com/1",
		Add: micropub.Properties{"category": {micropub.Text("two")}}, RemoveAll: []string{"name"}}
	now := req.Apply(micropub.Properties{"name": {micropub.Text("A title")}, "category": {micropub.Text("one")}})
	fmt.Println(now.Texts("category"), now.Has("name"))
	// Output: [one two] false
}
