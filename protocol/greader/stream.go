package greader

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// query parses the selection of items in a request.
func (c *call) query(stream string, defaultN, maxN int) (Query, error) {
	q := Query{N: defaultN, Oldest: c.form.get("r") == "o", Continuation: c.form.get("c")}
	var err error
	if q.Stream, err = ParseStream(stream); err != nil {
		return q, invalid("Not a stream: " + clip(stream))
	}
	for name, to := range map[string]*[]Stream{"xt": &q.Exclude, "it": &q.Include} {
		for _, s := range c.form[name] {
			if s == "" {
				continue
			}
			one, err := ParseStream(s)
			if err != nil || len(*to) == 100 {
				return q, invalid("Not a stream, or more than 100 streams: " + clip(s))
			}
			*to = append(*to, one)
		}
	}
	if q.After, err = stamp(c.form.get("ot")); err != nil {
		return q, err
	}
	if q.Before, err = stamp(c.form.get("nt")); err != nil {
		return q, err
	}
	if n, err := strconv.Atoi(c.form.get("n")); err == nil && n > 0 {
		q.N = min(n, maxN)
	}
	if len(q.Continuation) > 100 {
		return q, invalid("The continuation is invalid.")
	}
	return q, nil
}

func (c *call) ids() error {
	if err := c.jsonOnly(); err != nil {
		return err
	}
	q, err := c.query(c.form.get("s"), defaultIDs, MaxIDs)
	if err != nil {
		return err
	}
	list, next, err := c.Backend.IDs(c.ctx, c.user, q)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Streams == nil {
			list[i].Streams = []string{}
		}
	}
	if list == nil {
		list = []Ref{}
	}
	out := struct {
		Refs []Ref  `json:"itemRefs"`
		Next string `json:"continuation,omitempty"`
	}{list, next}
	return c.json(out)
}

// contents responds with the items of a stream.
func (c *call) contents() error {
	if err := c.jsonOnly(); err != nil {
		return err
	}
	stream := cmp.Or(c.rest, c.form.get("s"))
	q, err := c.query(stream, defaultItems, MaxItems)
	if err != nil {
		return err
	}
	left, rounds := q.N, maxRounds
	return c.pages(q.Stream.String(), func() (list []Item, next string, more bool, err error) {
		q.N = min(left, batch)
		list, next, err = c.Backend.Items(c.ctx, c.user, q)
		left -= len(list)
		rounds-- // a backend may have to read many items to find a few matching ones
		q.Continuation = next
		return list, next, left > 0 && next != "" && rounds > 0, err
	})
}

// lookup responds with items by ID.
func (c *call) lookup() error {
	if err := c.jsonOnly(); err != nil {
		return err
	}
	ids, err := c.itemIDs()
	if err != nil {
		return err
	}
	slices.Sort(ids)
	oldest := c.form.get("r") == "o"
	if !oldest {
		slices.Reverse(ids)
	}
	return c.pages(State(ReadingList).String(), func() ([]Item, string, bool, error) {
		some := ids[:min(len(ids), batch)]
		ids = ids[len(some):]
		if len(some) == 0 {
			return nil, "", false, nil
		}
		list, err := c.Backend.Lookup(c.ctx, c.user, some)
		slices.SortFunc(list, func(a, b Item) int {
			n := strings.Compare(a.ID, b.ID) // all IDs have the same length, so they compare like numbers
			if !oldest {
				return -n
			}
			return n
		})
		return list, "", len(ids) > 0, err
	})
}

// pages writes items batch by batch, so thousands of items are never in memory together. A
// failure after the first batch aborts the connection, because an incomplete response must
// not look complete.
func (c *call) pages(id string, page func() (list []Item, next string, more bool, err error)) error {
	list, next, more, err := page()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(c.w)
	enc.SetEscapeHTML(false)
	name, _ := json.Marshal(id) // encoding a string never fails
	_, err = io.WriteString(c.w, `{"direction":"ltr","id":`+string(name)+`,"updated":`+strconv.FormatInt(c.now().Unix(), 10)+`,"items":[`)
	for comma := ""; err == nil; {
		for i := range list {
			if _, err = io.WriteString(c.w, comma); err == nil {
				err = enc.Encode(list[i])
			}
			if err != nil {
				return c.ignoreWriteError(err)
			}
			comma = ","
		}
		if !more {
			break
		}
		if list, next, more, err = page(); err != nil {
			if c.Log != nil {
				c.Log.WarnContext(c.ctx, "greader: a response was aborted", "err", err)
			}
			panic(http.ErrAbortHandler)
		}
	}
	if err != nil {
		return c.ignoreWriteError(err)
	}
	end := "]"
	if next != "" {
		text, _ := json.Marshal(next) // encoding a string never fails
		end += `,"continuation":` + string(text)
	}
	_, err = io.WriteString(c.w, end+"}\n")
	return c.ignoreWriteError(err)
}
