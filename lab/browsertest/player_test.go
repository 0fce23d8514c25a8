package browsertest

import (
	"fmt"
	"testing"
)

func TestEnclosureKeepsPlayingWhileTheRiverIsRead(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	all := posts(70, "Show")
	all[0].More = fmt.Sprintf(`<enclosure url="%s/show.wav" type="audio/wav" length="160044"/>`, server.URL)
	all[1].More = fmt.Sprintf(`<enclosure url="%s/other.wav" type="audio/wav" length="160044"/>`, server.URL)
	p.follow("", server.feed("/show.xml", "The Show", "", all...).url(), "Shows")
	b := newTab(t, p.base)
	b.open("/river?category=Shows")
	b.until("the items are there", `document.querySelectorAll("#days .item").length === 50`)
	if n := server.requests("/show.wav "); n != 0 {
		t.Errorf("the audio file was requested %d times before the user started it", n)
	}
	b.holds("it is named, with its size", `/show\.wav/.test(document.querySelector(".files").textContent)`)
	b.click("a.play")
	plays := func(what string) {
		t.Helper()
		from := eval[float64](b, `document.querySelector("#player audio")?.currentTime ?? -1`)
		b.until(what, fmt.Sprintf(`(({ paused, currentTime, error }) => !paused && !error && currentTime > %f)(document.querySelector("#player audio"))`, from))
	}
	plays("it plays")
	b.holds("the bar names the episode", `document.getElementById("player-what").textContent === "Show, number 70 · The Show" && document.querySelector("a.play").matches(".on")`)
	b.holds("the bar is on the screen", `(({ bottom, top }) => top > 0 && bottom <= innerHeight)(document.getElementById("player").getBoundingClientRect())`)
	b.holds("the bar does not cover a link that gets the focus", `(link => {
		scrollBy({ top: link.getBoundingClientRect().bottom - innerHeight + 8, behavior: "instant" })
		link.focus()
		return link.getBoundingClientRect().bottom <= document.getElementById("player").getBoundingClientRect().top
	})(document.querySelector("#days .item:last-child h3 a"))`)
	eval[bool](b, `window.same = document.querySelector("#player audio"), true`)

	b.click("#older a")
	b.until("older items are shown", `document.querySelectorAll("#days .item").length === 70`)
	plays("it plays on")
	b.click(`.rail a[href="/river"]`)
	b.until("another river is shown", `location.search === "" && document.querySelector("h1").textContent === "River"`)
	plays("it plays on in another river")
	b.fill("#q", "nothing that there is")
	b.click(".find button")
	b.until("a search is shown", `/q=nothing/.test(location.search) && document.querySelector("#empty")`)
	plays("it plays on in a search")
	eval[bool](b, `history.back(), history.back(), true`)
	b.until("the first river is shown again", `location.search === "?category=Shows" && document.querySelectorAll("#days .item").length === 50`)
	plays("it plays on after going back")
	b.holds("it is the same player", `window.same === document.querySelector("#player audio")`)

	// Another page resumes the playback at the stored position.
	b.until("the playback advances", `window.same.currentTime > 1`)
	b.click("a.play")
	b.until("it pauses", `window.same.paused && !document.querySelector("a.play").matches(".on")`)
	b.open("/river")
	b.until("the bar shows the episode", `!document.getElementById("player").hidden && document.getElementById("player-what").textContent === "Show, number 70 · The Show"`)
	b.click(`a.play[href$="/show.wav"]`)
	b.until("the playback resumes at its position", `document.querySelector("#player audio").currentTime > 1 && !document.querySelector("#player audio").paused`)
	b.click("#player-close")
	b.until("it is closed", `document.getElementById("player").hidden && !document.querySelector("#player audio")`)
	b.open("/river")
	b.holds("the bar stays closed", `document.getElementById("player").hidden`)
}
