package authorsql

import (
	"context"
	"time"

	"cloudburst/internal/store/sqldb"
)

// EraseUser prepares the deletion of a user's posts, feeds and files: it releases the contents of
// files that no other user has, and deletes the counts of readers. The rows that number the changes
// of the feed of everyone stay, without content, so that these numbers never decrease.
func EraseUser(ctx context.Context, c sqldb.Conn, user string, at time.Time) error {
	if err := StampUser(ctx, c, user, at); err != nil {
		return err
	}
	for _, text := range []string{
		`UPDATE writer SET posts = 0, profile = '{}' WHERE owner = $1`,
		`UPDATE post_count SET posts = 0, label = '' WHERE owner = $1`,
		`UPDATE media_content SET kept = false, begun_at = 0 WHERE hash <> ''
			AND EXISTS (SELECT 1 FROM media AS m WHERE m.hash = media_content.hash AND m.owner = $1)
			AND NOT EXISTS (SELECT 1 FROM media AS m WHERE m.hash = media_content.hash AND m.owner <> $1)`,
	} {
		if _, err := c.Exec(ctx, text, user); err != nil {
			return err
		}
	}
	// The key of a feed is USER/FEED, and '0' is the character after '/'.
	for _, table := range []string{"seen", "reader_day"} {
		if _, err := c.Exec(ctx, `DELETE FROM `+table+` WHERE feed >= $1 AND feed < $2`, user+"/", user+"0"); err != nil {
			return err
		}
	}
	return nil
}
