package greader

import (
	"net/http"
	"strings"
)

// endpoint returns the function for a path. It stores the rest of the path in c.rest.
func (c *call) endpoint(name string) (do func() error, ok bool) {
	if rest, ok := strings.CutPrefix(name, "stream/contents"); ok && (rest == "" || rest[0] == '/') {
		c.rest = strings.TrimPrefix(rest, "/")
		return c.contents, true
	}
	if rest, ok := strings.CutPrefix(name, "atom/"); ok {
		c.rest = rest
		return c.atom, true
	}
	switch name {
	case "accounts/ClientLogin":
		return c.login, true
	case "token":
		return func() error { return c.plain(c.token()) }, true
	case "user-info":
		return c.userInfo, true
	case "preference/list":
		return func() error { return c.json(map[string]any{"prefs": []any{}}) }, true
	case "preference/stream/list":
		return func() error { return c.json(map[string]any{"streamprefs": map[string]any{}}) }, true
	case "preference/set", "preference/stream/set":
		return func() error { return c.done(c.checkToken()) }, true // preferences are not supported, but apps need a success
	case "friend/list":
		return func() error { return c.json(map[string]any{"friends": []any{}}) }, true
	case "tag/list":
		return c.tags, true
	case "rename-tag":
		return c.renameTag, true
	case "disable-tag":
		return c.disableTag, true
	case "unread-count":
		return c.unreadCount, true
	case "subscription/list":
		return c.subscriptions, true
	case "subscription/edit":
		return c.edit, true
	case "subscription/quickadd":
		return c.quickAdd, true
	case "subscription/export":
		return c.export, true
	case "subscription/import":
		return c.imports, true
	case "stream/items/ids":
		return c.ids, true
	case "stream/items/contents":
		return c.lookup, true
	case "edit-tag":
		return c.editTag, true
	case "mark-all-as-read":
		return c.markAll, true
	}
	return nil, false
}

// jsonOnly rejects output formats other than JSON.
func (c *call) jsonOnly() error {
	if out := c.form.get("output"); out != "" && out != "json" {
		return &Error{Status: http.StatusNotImplemented, Msg: "Not Implemented! Request output=json."}
	}
	return nil
}

func invalid(msg string) error { return &Error{Status: http.StatusBadRequest, Msg: msg} }

func (c *call) userInfo() error {
	u, err := c.Backend.UserInfo(c.ctx, c.user)
	if err != nil {
		return err
	}
	return c.json(u)
}

func (c *call) tags() error {
	if err := c.jsonOnly(); err != nil {
		return err
	}
	labels, err := c.Backend.Labels(c.ctx, c.user)
	if err != nil {
		return err
	}
	tags := []Tag{{ID: State(Starred).String()}}
	for _, l := range labels {
		tags = append(tags, Tag{ID: Label(l).String(), Type: "folder"})
	}
	return c.json(map[string]any{"tags": tags})
}

// label parses a stream that must be a label.
func label(s string) (string, error) {
	stream, err := ParseStream(s)
	if err != nil || stream.Kind != KindLabel {
		return "", invalid("This needs a label: user/-/label/ and its name.")
	}
	return stream.Name, nil
}

func (c *call) renameTag() error {
	if err := c.checkToken(); err != nil {
		return err
	}
	from, err := label(c.form.get("s"))
	if err != nil {
		return err
	}
	to, err := label(c.form.get("dest"))
	if err != nil {
		return err
	}
	return c.done(c.Backend.RenameLabel(c.ctx, c.user, from, to))
}

func (c *call) disableTag() error {
	if err := c.checkToken(); err != nil {
		return err
	}
	var names []string
	for _, s := range c.form["s"] {
		name, err := label(s)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	if len(names) == 0 || len(names) > maxFeeds {
		return invalid("Send the labels to remove as s, at most 1,000.")
	}
	for _, name := range names {
		if err := c.Backend.RenameLabel(c.ctx, c.user, name, ""); err != nil {
			return err
		}
	}
	return c.plain("OK")
}

func (c *call) unreadCount() error {
	if err := c.jsonOnly(); err != nil {
		return err
	}
	list, err := c.Backend.Unread(c.ctx, c.user)
	if err != nil {
		return err
	}
	highest := int64(0)
	for i := range list {
		highest = max(highest, list[i].Count)
	}
	return c.json(map[string]any{"max": highest, "unreadcounts": list})
}

// marks returns the changes of the parameters a and r of edit-tag.
//
// spec:cloudburst#greader-marks
func (c *call) marks() (read, starred *bool, err error) {
	set := func(to **bool, value bool) error {
		if *to != nil && **to != value {
			return invalid("The request both adds and removes one tag.")
		}
		*to = &value
		return nil
	}
	for _, name := range []string{"a", "r"} {
		for _, tag := range c.form[name] {
			if tag == "" {
				continue
			}
			s, err := ParseStream(tag)
			if err != nil || s.Kind == KindFeed {
				return nil, nil, invalid("Not a tag: " + clip(tag))
			}
			if s.Kind == KindLabel {
				return nil, nil, invalid("This server has no tags for items; labels are for feeds.")
			}
			switch {
			case s.Name == Read:
				err = set(&read, name == "a")
			case s.Name == KeptUnread && name == "a":
				err = set(&read, false)
			case s.Name == Starred:
				err = set(&starred, name == "a")
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return read, starred, nil
}

func (c *call) editTag() error {
	if err := c.checkToken(); err != nil {
		return err
	}
	ids, err := c.itemIDs()
	if err != nil {
		return err
	}
	read, starred, err := c.marks()
	if err != nil || read == nil && starred == nil || len(ids) == 0 {
		return c.done(err) // ignore tags of other servers, such as tags for sharing
	}
	return c.done(c.Backend.Mark(c.ctx, c.user, ids, read, starred))
}

// itemIDs returns the items of a request without duplicates.
func (c *call) itemIDs() ([]ItemID, error) {
	if len(c.form["i"]) > MaxIDs {
		return nil, invalid("The request has more than 10,000 items.")
	}
	seen := make(map[ItemID]bool, len(c.form["i"]))
	var ids []ItemID
	for _, s := range c.form["i"] {
		id, err := ParseItemID(s)
		if err != nil {
			return nil, invalid("Not an item: " + clip(s))
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (c *call) markAll() error {
	if err := c.checkToken(); err != nil {
		return err
	}
	s, err := ParseStream(c.form.get("s"))
	if err != nil || c.form.get("s") == "" {
		return invalid("Send the stream to mark as s.")
	}
	if s.Kind == KindState && s.Name != "" {
		return c.plain("OK") // apps also send states such as starred, which cannot be marked as read
	}
	to, err := stamp(c.form.get("ts"))
	if err != nil {
		return err
	}
	return c.done(c.Backend.MarkAllRead(c.ctx, c.user, s, to))
}
