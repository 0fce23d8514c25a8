package indieauth_test

import (
	"fmt"
	"net/http"
	"net/url"

	"cloudburst/protocol/indieauth"
)

// An authorization endpoint reads the request and the document of the program, asks the
// user for consent, and redirects the browser with a code.
func Example() {
	validRequest, _ := url.ParseQuery("response_type=code&client_id=https://app.example/&redirect_uri=app.example:/back&state=7&scope=create")
	request, refusal, bad := indieauth.ParseRequest(validRequest)
	if bad != nil || refusal != nil {
		fmt.Println(bad, refusal)
		return
	}
	page := []byte(`<link rel="redirect_uri" href="app.example:/back"><p class="h-app"><b class="p-name">Notebook</b></p>`)
	app, _ := indieauth.ParseClient(request.ClientID, request.ClientID, http.Header{"Content-Type": {"text/html"}}, page)
	if request.Trusts(app) {
		fmt.Println(app.Name, "may", request.Scopes)
		fmt.Println(request.Redirect("https://here.example/", "secret-code"))
	}
	// Output:
	// Notebook may [create]
	// app.example:/back?code=secret-code&iss=https%3A%2F%2Fhere.example%2F&state=7
}
