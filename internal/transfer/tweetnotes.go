package transfer

import (
	"context"
	"html"
	"regexp"
	"strings"
)

// tweetNotes are the texts of tweets with more than 280 characters. Files with tweets contain only
// the beginnings of these texts.
type tweetNotes struct {
	byTime map[int64][]*tweetNote // key: creation in Unix seconds
	bytes  int
}

type tweetNote struct {
	CreatedAt string `json:"createdAt"`
	Core      struct {
		Text string `json:"text"`
		URLs []struct {
			Short    string `json:"shortUrl"`
			Expanded string `json:"expandedUrl"`
		} `json:"urls"`
		Hashtags []tweetTag `json:"hashtags"`
	} `json:"core"`
}

// These limits apply to the notes of an archive.
const (
	maxNoteBytes = 64 << 20 // maximum bytes of all texts
	noteBytes    = 512      // bytes that every note counts in addition to its text
)

var (
	noteFile = regexp.MustCompile(`^note-tweets?(-part\d+)?\.js$`)
	tweetCut = regexp.MustCompile(`(?:\s|…|https?://t\.co/\w*)+$`)
)

// readTweetNotes reads the notes in a folder of an archive. Files and notes that cannot be read are
// left out: their tweets keep the beginnings of the texts.
func readTweetNotes(ctx context.Context, a *foreignArchive, dir string) *tweetNotes {
	notes := &tweetNotes{byTime: map[int64][]*tweetNote{}}
	for _, name := range a.names {
		if base, ok := strings.CutPrefix(name, dir); !ok || !noteFile.MatchString(base) {
			continue
		}
		// After an error, the notes before the damage remain.
		_ = eachJSON(ctx, a, name, "", func(_ int, v *struct {
			Note tweetNote `json:"noteTweet"`
		}, _ error) error {
			notes.add(&v.Note)
			return nil
		})
	}
	return notes
}

func (t *tweetNotes) add(n *tweetNote) {
	at := parseTime(n.CreatedAt)
	size := noteBytes*(1+len(n.Core.URLs)+len(n.Core.Hashtags)) + len(n.Core.Text)
	if at.IsZero() || n.Core.Text == "" || t.bytes+size > maxNoteBytes {
		return
	}
	t.bytes += size
	t.byTime[at.Unix()] = append(t.byTime[at.Unix()], n)
}

// complete replaces the text of a tweet with the text of its note, if there is one. The ID of a note
// is not the ID of its tweet, so complete compares the times and the beginnings of the texts.
func (t *tweetNotes) complete(w *tweet) {
	begin := tweetCut.ReplaceAllString(html.UnescapeString(w.Text), "")
	if begin == "" {
		return
	}
	for _, n := range t.byTime[parseTime(w.CreatedAt).Unix()] {
		whole := html.UnescapeString(n.Core.Text)
		if len(whole) <= len(begin) || !strings.HasPrefix(whole, begin) {
			continue
		}
		w.Text = n.Core.Text
		for _, u := range n.Core.URLs {
			w.Entities.URLs = append(w.Entities.URLs, tweetLink{URL: u.Short, Expanded: u.Expanded})
		}
		w.Entities.Hashtags = append(w.Entities.Hashtags, n.Core.Hashtags...)
		return
	}
}
