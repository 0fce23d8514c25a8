package browsertest

import (
	"encoding/base64"
	"fmt"
	"testing"
)

// writingStops returns the pages for authors, and scripts that fill the pages with content.
func writingStops() []stop {
	type_ := func(title, text string) string {
		return fmt.Sprintf(`(() => { const f = document.getElementById("write").elements; f.title.value = %q; f.source.value = %q; f.source.dispatchEvent(new Event("input", { bubbles: true })); })()`, title, text)
	}
	const long = "The path goes along the water for an hour, *past the mill*, and then up through beeches.\n\n- bread\n- cheese\n- a map\n\n> Nobody was there but us."
	return []stop{
		{"write", "/write", `document.activeElement.id === "w-source"`, "", ""},
		{"write-short", "/write", "", type_("", "Walked to the mill and back, and saw a kingfisher."), `document.getElementById("w-count").textContent === "90 left" && document.getElementById("w-state").textContent === "Saved"`},
		{"write-over", "/write", "", type_("", long), `document.querySelector(".count.over")`},
		{"write-all", "/write", "", `document.querySelectorAll(".asks input").forEach((i) => i.click()), document.querySelector(".rest").open = true, ` + type_("", ""), ""},
		{"write-look", "/write", "", type_("A long walk", long) + `, document.getElementById("ask-title").click(), document.getElementById("w-look").click()`, `document.querySelector("#look-text blockquote") && document.getElementById("w-state").textContent === "Saved"`},
		{"write-done", "/write?did=published&done=2", "", "", ""},
		{"write-change", "/write/2", "", "", `document.getElementById("w-title").value === "Two days in the hills"`},
		{"write-outline", "/write", "", `document.getElementById("ask-outline").click()`, `document.querySelector("ul.outline:not([hidden])")`},
		{"write-wrong", "/write", "", `document.getElementById("ask-link").click(), document.getElementById("w-link").value = "walks", document.getElementById("ask-title").click(), document.getElementById("w-title").value = "A walk", document.getElementById("w-go").click()`, `document.querySelector("#w-link-wrong .wrong")`},
		{"write-both", "/write/2", "", `fetch("/write", { method: "POST", body: new URLSearchParams({ do: "publish", id: "2", base: document.getElementById("write").elements.base.value, writer: "alice", title: "Two days in the hills", source: "Another browser wrote this instead." + Math.random() }) }).then(() => document.querySelector("[value=draft]").click())`, `document.querySelector(".theirs")`},
		{"write-card", "/write", "", `document.getElementById("ask-card").click()`, `document.querySelector("#w-card-wrong .wrong")`},
		{"write-versions", "/write/2/versions", "", `for (const d of document.querySelectorAll("main details")) d.open = true`, `document.querySelector(".versions")`},
		{"write-settings", "/write/settings", "", "", ""},
		{"write-posts", "/write/posts", "", "", ""},
		{"write-nothing", "/write/posts?q=hippopotamus", "", "", ""},
		{"write-profile", "/account/author", "", `document.querySelector("main details").open = true`, ""},
	}
}

func TestWriterPagesFitPhonesAndDesktopsInBothThemes(t *testing.T) {
	t.Parallel()
	_, b := newWriter(t)
	b.expect("400")
	b.expect("409")
	screenshot, err := base64.StdEncoding.DecodeString(onePixel)
	if err != nil || len(screenshot) == 0 {
		t.Fatal(err)
	}
	album := newAlbum(t)
	for _, post := range []string{
		`do: "publish", key: "a", source: "Rain since six. The gutters sing."`,
		`do: "publish", key: "b", title: "Two days in the hills", source: "We left at **eight**, and came back the next evening.", categories: "Walks, Hills"`,
		`do: "draft", key: "c", source: "Something about bread that is not done yet"`,
		`do: "publish", key: "d", source: "Goes out on its own.", when: "2099-01-01T10:00"`,
	} {
		if !eval[bool](b, fmt.Sprintf(`fetch("/write", {method: "POST", body: new URLSearchParams({writer: "alice", %s})}).then((r) => r.ok)`, post)) {
			t.Fatal("the post was not created")
		}
	}
	for _, s := range writingStops() {
		b.visit(s, album)
	}
}
