package shell

import (
	"net/http"
	"strconv"
	"time"
)

// TimeZone returns the user's time zone, from the cookie that the page's script sets.
func TimeZone(r *http.Request) *time.Location {
	c, err := r.Cookie("tz")
	if err != nil {
		return time.UTC
	}
	minutes, err := strconv.Atoi(c.Value)
	if err != nil || minutes < -16*60 || minutes > 16*60 || minutes == 0 {
		return time.UTC
	}
	return time.FixedZone("", minutes*60)
}
