package micropub

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
	partType = "multipart/form-data; boundary=b"
)

// parts encodes a multipart form of fields, "name=value", and files,
// "name:filename:type=bytes".
func parts(fields ...string) string {
	var b strings.Builder
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		b.WriteString("--b\r\nContent-Disposition: form-data; ")
		if p := strings.Split(name, ":"); len(p) == 3 {
			b.WriteString(`name="` + p[0] + `"; filename="` + p[1] + "\"\r\nContent-Type: " + p[2] + "\r\n\r\n" + value + "\r\n")
			continue
		}
		b.WriteString(`name="` + name + "\"\r\n\r\n" + value + "\r\n")
	}
	return b.String() + "--b--\r\n"
}

// The numbers are those of the test cases at micropub.rocks.
func TestPostIsCreatedFromFormJSONAndMultipart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ number, kind, body, want string }{
		{"100", formType, `h=entry&content=A+test`, `{"content":["A test"]}`},
		{"101", formType, `h=entry&content=A&category[]=one&category[]=two`, `{"content":["A"],"category":["one","two"]}`},
		{"104", formType, `h=entry&content=A&photo=https%3A%2F%2Fa.example%2Fsunset.jpg`, `{"content":["A"],"photo":["https://a.example/sunset.jpg"]}`},
		{"105", formType, `h=entry&content=A&mp-syndicate-to=elsewhere`, `{"content":["A"]}`},
		{"107", formType, `h=entry&content=A&category=one`, `{"content":["A"],"category":["one"]}`},
		{"200", jsonType, `{"type":["h-entry"],"properties":{"content":["A"]}}`, `{"content":["A"]}`},
		{"201", jsonType, `{"type":["h-entry"],"properties":{"content":["A"],"category":["one","two"]}}`, `{"content":["A"],"category":["one","two"]}`},
		{"202", jsonType, `{"type":["h-entry"],"properties":{"content":[{"html":"<p>This <b>post</b></p>"}]}}`, `{"content":[{"html":"<p>This <b>post</b></p>"}]}`},
		{"203", jsonType, `{"type":["h-entry"],"properties":{"content":["A"],"photo":["https://a.example/sunset.jpg"]}}`,
			`{"content":["A"],"photo":["https://a.example/sunset.jpg"]}`},
		{"204", jsonType, `{"type":["h-entry"],"properties":{"published":["2017-05-31T12:03:36-07:00"],"content":["Lunch"],
			"checkin":[{"type":["h-card"],"properties":{"name":["Los Gorditos"],"url":["https://a.example/502c"],"latitude":[45.52]}}]}}`,
			`{"published":["2017-05-31T12:03:36-07:00"],"content":["Lunch"],
			"checkin":[{"type":["h-card"],"properties":{"name":["Los Gorditos"],"url":["https://a.example/502c"],"latitude":["45.52"]}}]}`},
		{"205", jsonType, `{"type":["h-entry"],"properties":{"content":["A"],"photo":[{"value":"https://a.example/s.jpg","alt":"A sunset"}]}}`,
			`{"content":["A"],"photo":[{"value":"https://a.example/s.jpg","alt":"A sunset"}]}`},
		{"206", jsonType, `{"type":["h-entry"],"properties":{"content":["A"],"photo":["https://a.example/1.jpg","https://a.example/2.jpg"]}}`,
			`{"content":["A"],"photo":["https://a.example/1.jpg","https://a.example/2.jpg"]}`},
		{"300", partType, parts("h=entry", "content=Nice", "photo:sunset.jpg:image/jpeg=bytes"), `{"content":["Nice"],"photo":["ORIGIN/files/0-sunset.jpg"]}`},
		{"301", partType, parts("h=entry", "content=Nice", "photo[]:a.jpg:image/jpeg=a", "photo[]:b.jpg:image/jpeg=b"),
			`{"content":["Nice"],"photo":["ORIGIN/files/0-a.jpg","ORIGIN/files/1-b.jpg"]}`},
		{"markup in a form", formType, `h=entry&name=T&content[html]=%3Cp%3EA&content[value]=A`, `{"name":["T"],"content":[{"html":"<p>A","value":"A"}]}`},
		{"markdown in a form", partType, parts("h=entry", "content[markdown]=*A*"), `{"content":[{"markdown":"*A*"}]}`},
		{"markup with plain text", formType, `content=A&content[html]=%3Cp%3EA`, `{"content":[{"html":"<p>A","value":"A"}]}`},
		{"only the plain part", formType, `content[html]=&content[value]=A`, `{"content":["A"]}`},
		{"description of an image", formType, `photo=https%3A%2F%2Fa.example%2F1&mp-photo-alt=A+cat`, `{"photo":[{"value":"https://a.example/1","alt":"A cat"}]}`},
		{"description of the second file", partType, parts("photo[]:a.jpg:image/jpeg=a", "photo[]:b.jpg:image/jpeg=b", "mp-photo-alt[]=", "mp-photo-alt[]=B"),
			`{"photo":["ORIGIN/files/0-a.jpg",{"value":"ORIGIN/files/1-b.jpg","alt":"B"}]}`},
		{"more descriptions than images", jsonType, `{"properties":{"photo":[{"value":"https://a.example/1","alt":"A"}],"mp-photo-alt":["B","C"]}}`,
			`{"photo":[{"value":"https://a.example/1","alt":"A"}]}`},
		{"no type", formType, `content=A`, `{"content":["A"]}`},
		{"another type", formType, `h=event&name=A`, `{"name":["A"]}`},
		{"one type", jsonType, `{"type":"h-entry","properties":{"content":["A"]}}`, `{"content":["A"]}`},
		{"markdown", jsonType, `{"properties":{"content":[{"markdown":"*A*"}]}}`, `{"content":[{"markdown":"*A*"}]}`},
		{"of another form", jsonType, `{"properties":{"x":[{"a": {"b": 1}}],"content":["A"]}}`, `{"x":[{"a":{"b":1}}],"content":["A"]}`},
		{"mp", jsonType, `{"properties":{"content":["A"],"mp-slug":["the-end"],"access_token":["x"]}}`, `{"content":["A"]}`},
	} {
		t.Run(tt.number, func(t *testing.T) {
			t.Parallel()
			s, srv := newSite(t)
			got := ask(t, "POST", srv.URL+"/micropub", tt.body, "Content-Type", tt.kind, "Authorization", "Bearer alice:create")
			if got.status != 201 || got.header.Get("Location") == "" {
				t.Fatalf("%+v", got)
			}
			p := s.posts[0].Properties
			if p.Text("url") != got.header.Get("Location") || tt.number == "mp" && !strings.HasSuffix(p.Text("url"), "/the-end") {
				t.Error(p.Text("url"))
			}
			delete(p, "url")
			same(t, p, strings.ReplaceAll(tt.want, "ORIGIN", srv.URL))
		})
	}
}

// same compares v with JSON.
func same(t *testing.T, v any, want string) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var x, y any
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &y); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(y, x); d != "" {
		t.Error(d)
	}
}

func TestUpdateChangesOnlyTheNamedProperties(t *testing.T) {
	t.Parallel()
	const before = `{"type":["h-entry"],"properties":{"content":["Old"],"category":["one","two"],"photo":[{"value":"https://a.example/s.jpg","alt":"A sunset"}]}}`
	const photo = `,"photo":[{"value":"https://a.example/s.jpg","alt":"A sunset"}]`
	for _, tt := range []struct {
		number, body string
		status       int
		want         string
	}{
		{"400", `"replace":{"content":["New"]}`, 204, `{"content":["New"],"category":["one","two"]` + photo + `}`},
		{"401", `"add":{"category":["three"]}`, 204, `{"content":["Old"],"category":["one","two","three"]` + photo + `}`},
		{"402", `"add":{"syndication":["https://b.example/"]}`, 204, `{"content":["Old"],"category":["one","two"],"syndication":["https://b.example/"]` + photo + `}`},
		{"403", `"delete":{"category":["one"]}`, 204, `{"content":["Old"],"category":["two"]` + photo + `}`},
		{"404", `"delete":["category"]`, 204, `{"content":["Old"]` + photo + `}`},
		{"405", `"replace":"content"`, 400, `{"content":["Old"],"category":["one","two"]` + photo + `}`},
		{"a value outside of an array", `"replace":{"content":"New"}`, 400, `{"content":["Old"],"category":["one","two"]` + photo + `}`},
		{"the last value", `"delete":{"category":["one","two"]}`, 204, `{"content":["Old"]` + photo + `}`},
		{"an image by its URL", `"delete":{"photo":["https://a.example/s.jpg"]}`, 204, `{"content":["Old"],"category":["one","two"]}`},
		{"an empty list replaces all values", `"replace":{"category":[]}`, 204, `{"content":["Old"]` + photo + `}`},
		{"an added image with a description", `"add":{"photo":["https://a.example/t.jpg"],"mp-photo-alt":["A tree"]}`, 204,
			`{"content":["Old"],"category":["one","two"],"photo":[{"value":"https://a.example/s.jpg","alt":"A sunset"},{"value":"https://a.example/t.jpg","alt":"A tree"}]}`},
		{"a description without an image", `"replace":{"mp-photo-alt":["A tree"]}`, 400, `{"content":["Old"],"category":["one","two"]` + photo + `}`},
		{"nothing", `"x":1`, 400, `{"content":["Old"],"category":["one","two"]` + photo + `}`},
		{"another address", `"replace":{"url":["https://c.example/"]}`, 201, `{"content":["Old"],"category":["one","two"]` + photo + `}`},
	} {
		t.Run(tt.number, func(t *testing.T) {
			t.Parallel()
			s, srv := newSite(t)
			at := createPost(t, srv, before)
			got := ask(t, "POST", srv.URL+"/micropub", `{"action":"update","url":"`+at+`",`+tt.body+`}`, "Content-Type", jsonType, "Authorization", "Bearer alice:update")
			if got.status != tt.status || tt.status == 201 && got.header.Get("Location") != "https://c.example/" {
				t.Fatalf("%+v", got)
			}
			delete(s.posts[0].Properties, "url")
			same(t, s.posts[0].Properties, tt.want)
		})
	}
}

// createPost creates a post.
func createPost(t *testing.T, srv *httptest.Server, body string) string {
	t.Helper()
	got := ask(t, "POST", srv.URL+"/micropub", body, "Content-Type", jsonType, "Authorization", "Bearer alice:create")
	if got.status != 201 {
		t.Fatalf("%+v", got)
	}
	return got.header.Get("Location")
}

func TestPostIsDeletedAndUndeletedByFormAndJSON(t *testing.T) {
	t.Parallel()
	s, srv := newSite(t)
	at := createPost(t, srv, `{"properties":{"content":["A"]}}`)
	for _, tt := range []struct {
		number, kind, body string
		gone               bool
	}{
		{"500", formType, "action=delete&url=" + at, true},
		{"502", formType, "action=undelete&url=" + at, false},
		{"501", jsonType, `{"action":"delete","url":"` + at + `"}`, true},
		{"503", jsonType, `{"action":"undelete","url":"` + at + `"}`, false},
	} {
		got := ask(t, "POST", srv.URL+"/micropub", tt.body, "Content-Type", tt.kind, "Authorization", "Bearer alice:create,delete")
		if got.status != 204 || s.gone[at] != tt.gone {
			t.Errorf("%s: %+v", tt.number, got)
		}
	}
}

func TestEachMicropubQueryReturnsItsProperties(t *testing.T) {
	t.Parallel()
	_, srv := newSite(t)
	at := createPost(t, srv, `{"properties":{"content":[{"html":"<p>A</p>"}],"category":["one"]}}`)
	other := createPost(t, srv, `{"properties":{"content":["B"]}}`)
	upload := ask(t, "POST", srv.URL+"/media", parts("file:a.png:image/png=PNG"), "Content-Type", partType, "Authorization", "Bearer alice:media")
	for _, tt := range []struct {
		number, path string
		want         string
	}{
		{"600", "/micropub?q=config", `{"media-endpoint":"ORIGIN/media","syndicate-to":[{"uid":"elsewhere","name":"Elsewhere"}],
			"post-types":[{"type":"note","name":"Note"}],"q":["config","source","category","syndicate-to","post-types"]}`},
		{"601", "/micropub?q=syndicate-to", `{"syndicate-to":[{"uid":"elsewhere","name":"Elsewhere"}]}`},
		{"602", "/micropub?q=source&url=" + at, `{"type":["h-entry"],"properties":{"content":[{"html":"<p>A</p>"}],"category":["one"],"url":["` + at + `"]}}`},
		{"603", "/micropub?q=source&properties[]=category&properties[]=x&url=" + at, `{"properties":{"category":["one"]}}`},
		{"one property", "/micropub?q=source&properties=category&url=" + at, `{"properties":{"category":["one"]}}`},
		{"a list", "/micropub?q=source&limit=1&properties[]=url", `{"items":[{"type":["h-entry"],"properties":{"url":["` + other + `"]}}]}`},
		{"its next page", "/micropub?q=source&limit=1&offset=2", `{"items":[]}`},
		{"category", "/micropub?q=category&filter=NEWS", `{"categories":["News","Old news"]}`},
		{"post-types", "/micropub?q=post-types", `{"post-types":[{"type":"note","name":"Note"}]}`},
		{"the last file", "/media?q=last", `{"url":"` + upload.header.Get("Location") + `"}`},
		{"files", "/media?q=source&limit=5", `{"items":[{"url":"` + upload.header.Get("Location") + `"}]}`},
	} {
		got := ask(t, "GET", srv.URL+tt.path, "", "Authorization", "Bearer alice:create")
		if got.status != 200 || got.header.Get("Content-Type") != jsonType {
			t.Errorf("%s: %+v", tt.number, got)
			continue
		}
		same(t, json.RawMessage(got.body), strings.ReplaceAll(tt.want, "ORIGIN", srv.URL))
	}
}

func TestMediaEndpointStoresUploadedFile(t *testing.T) {
	t.Parallel()
	s, srv := newSite(t)
	for number, kind := range map[string]string{"700": "image/jpeg", "701": "image/png", "702": "image/gif"} {
		got := ask(t, "POST", srv.URL+"/media", parts("x=y", "file:a:"+kind+"=bytes"), "Content-Type", partType, "Authorization", "Bearer alice:media")
		if got.status != 201 || s.files[got.header.Get("Location")] != kind+" bytes" {
			t.Errorf("%s: %+v", number, got)
		}
	}
}

func TestRequestNeedsATokenWithTheRequiredScope(t *testing.T) {
	t.Parallel()
	const create, update = `{"properties":{"content":["A"]}}`, `{"action":"update","url":"http://a.example/","delete":["x"]}`
	bearer := func(s string) []string { return []string{"Authorization", "Bearer " + s} }
	for _, tt := range []struct {
		number, method, path, kind, body string
		header                           []string
		status                           int
		code                             string
	}{
		{"800", "POST", "/micropub", formType, "h=entry&content=A", bearer("alice:create"), 201, ""},
		{"801", "POST", "/micropub", formType, "h=entry&content=A&access_token=alice:create", nil, 201, ""},
		{"801 with files", "POST", "/micropub", partType, parts("access_token=alice:create", "content=A", "photo:a.jpg:image/jpeg=a"), nil, 201, ""},
		{"a file before the token", "POST", "/micropub", partType, parts("photo:a.jpg:image/jpeg=a", "access_token=alice:create"), nil, 401, Unauthorized},
		{"803", "POST", "/micropub", formType, "h=entry&content=A", nil, 401, Unauthorized},
		{"803 by GET", "GET", "/micropub?q=config", "", "", nil, 401, Unauthorized},
		{"804", "POST", "/micropub", formType, "h=entry&content=A", bearer("alice:media"), 401, InsufficientScope},
		{"804 in the form", "POST", "/micropub", formType, "content=A&access_token=alice:media", nil, 401, InsufficientScope},
		{"804 update", "POST", "/micropub", jsonType, update, bearer("alice:create"), 401, InsufficientScope},
		{"804 delete", "POST", "/micropub", formType, "action=delete&url=http://a.example/", bearer("alice:create,update"), 401, InsufficientScope},
		{"804 with a file", "POST", "/micropub", partType, parts("photo:a.jpg:image/jpeg=a"), bearer("alice:media"), 401, InsufficientScope},
		{"804 at the media endpoint", "POST", "/media", partType, parts("file:a.jpg:image/jpeg=a"), bearer("alice:update"), 401, InsufficientScope},
		{"804 source", "GET", "/micropub?q=source&url=http://a.example/", "", "", bearer("alice:media"), 401, InsufficientScope},
		{"two tokens", "POST", "/micropub", formType, "content=A&access_token=alice:create", bearer("alice:create"), 400, InvalidRequest},
		{"two headers", "POST", "/micropub", formType, "content=A", append(bearer("alice:create"), bearer("alice:create")...), 401, Unauthorized},
		{"two tokens for a file", "POST", "/media", partType, parts("access_token=alice:media", "file:a.jpg:image/jpeg=a"), bearer("alice:media"), 400, InvalidRequest},
		{"a token in the URL", "POST", "/micropub?access_token=alice:create", formType, "content=A", nil, 400, InvalidRequest},
		{"a token in the URL of a query", "GET", "/micropub?q=config&access_token=alice:create", "", "", bearer("alice:create"), 400, InvalidRequest},
		{"no such token", "POST", "/micropub", jsonType, create, bearer("nobody"), 401, Unauthorized},
		{"another kind", "POST", "/micropub", jsonType, create, []string{"Authorization", "Basic YTpi"}, 401, Unauthorized},
		{"an error without a token is not disclosed", "POST", "/micropub", jsonType, "{", nil, 401, Unauthorized},
		{"an error with a token is disclosed", "POST", "/micropub", jsonType, "{", bearer("alice:create"), 400, InvalidRequest},
		{"media in a form", "POST", "/media", partType, parts("access_token=alice:media", "file:a.jpg:image/jpeg=a"), nil, 201, ""},
		{"no file", "POST", "/media", partType, parts("access_token=alice:media", "file=a"), nil, 400, InvalidRequest},
		{"two files", "POST", "/media", partType, parts("file:a:image/png=a", "file:b:image/png=b"), bearer("alice:media"), 400, InvalidRequest},
		{"a body that is not a form", "POST", "/media", "image/png", "a", bearer("alice:media"), 415, InvalidRequest},
		{"neither form nor JSON", "POST", "/micropub", "text/xml", "<a/>", bearer("alice:create"), 415, InvalidRequest},
		{"an unknown action", "POST", "/micropub", formType, "action=sing&url=http://a.example/", bearer("alice:create"), 400, InvalidRequest},
		{"an update by form", "POST", "/micropub", formType, "action=update&url=http://a.example/&content=A", bearer("alice:update"), 400, InvalidRequest},
		{"a deletion of nothing", "POST", "/micropub", formType, "action=delete", bearer("alice:delete"), 400, InvalidRequest},
		{"nothing", "POST", "/micropub", formType, "h=entry", bearer("alice:create"), 400, InvalidRequest},
		{"an unknown query", "GET", "/micropub?q=weather", "", "", bearer("alice:create"), 400, InvalidRequest},
		{"no query", "GET", "/micropub", "", "", bearer("alice:create"), 400, InvalidRequest},
		{"a page that is not a number", "GET", "/micropub?q=source&limit=x", "", "", bearer("alice:create"), 400, InvalidRequest},
		{"another method", "PUT", "/micropub", "", "", bearer("alice:create"), 405, InvalidRequest},
		{"too much", "POST", "/micropub", formType, "content=" + strings.Repeat("a", MaxBody), bearer("alice:create"), 413, InvalidRequest},
		{"too much in parts", "POST", "/micropub", partType, parts("content=" + strings.Repeat("a", MaxBody)), bearer("alice:create"), 413, InvalidRequest},
		{"too many", "POST", "/micropub", formType, strings.Repeat("a[]=b&", MaxFields) + "a[]=b", bearer("alice:create"), 400, InvalidRequest},
		{"too many in JSON", "POST", "/micropub", jsonType, `{"properties":{"a":[` + strings.Repeat("1,", MaxFields) + `1]}}`, bearer("alice:create"), 400, InvalidRequest},
		{"too deep", "POST", "/micropub", jsonType, `{"properties":{"a":[` + strings.Repeat(`{"properties":{"a":[`, 20) + strings.Repeat(`]}}`, 20) + `]}}`, bearer("alice:create"), 400, InvalidRequest},
		{"too large a file", "POST", "/micropub", partType, parts("photo:huge.jpg:image/jpeg=a"), bearer("alice:create"), 413, InvalidRequest},
		{"half a form", "POST", "/micropub", partType, "--b\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\nhal", bearer("alice:create"), 400, InvalidRequest},
	} {
		t.Run(tt.number, func(t *testing.T) {
			t.Parallel()
			_, srv := newSite(t)
			header := tt.header
			if tt.kind != "" {
				header = append([]string{"Content-Type", tt.kind}, header...)
			}
			got := ask(t, tt.method, srv.URL+tt.path, tt.body, header...)
			var e struct {
				Error       string `json:"error"`
				Description string `json:"error_description"`
				Scope       string `json:"scope"`
			}
			if tt.code != "" {
				if err := json.Unmarshal([]byte(got.body), &e); err != nil {
					t.Fatal(err, got)
				}
			}
			if got.status != tt.status || e.Error != tt.code || tt.code != "" && e.Description == "" || (e.Scope != "") != (tt.code == InsufficientScope) {
				t.Errorf("%+v", got)
			}
			if challenge := got.header.Get("WWW-Authenticate"); strings.HasPrefix(challenge, "Bearer") != (tt.status == 401) {
				t.Error(challenge)
			}
		})
	}
}

func TestAccessTokenParameterIsNotStoredAsProperty(t *testing.T) {
	t.Parallel() // 802
	s, srv := newSite(t)
	ask(t, "POST", srv.URL+"/micropub", "content=A&access_token=alice:create", "Content-Type", formType)
	if len(s.posts) != 1 || s.posts[0].Properties.Has("access_token") {
		t.Errorf("%+v", s.posts)
	}
}
